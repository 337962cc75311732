// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A plug-in that allocates, for `tenure record`.

#include <cstdlib>

extern "C" __attribute__((visibility("default"), noinline)) void* allocate_in_plugin(std::size_t bytes) {
    void* volatile block = std::malloc(bytes);
    return block;
}
