// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <memory_resource>

#include <tenure/heap/heap.hpp>

int main() {
    // The library's own memory resource: its call of operator new is in the library.
    void* const block = std::pmr::new_delete_resource()->allocate(1000);
    const bool ours = tenure::heap::process().owns(block);
    std::pmr::new_delete_resource()->deallocate(block, 1000);
    if (!ours) std::fprintf(stderr, "only_library: the C++ library has another operator new\n");
    return ours ? 0 : 1;
}
