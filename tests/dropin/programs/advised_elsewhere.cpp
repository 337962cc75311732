// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Makes many slow calls of malloc, and ends without exit handlers.

#include <cstdlib>

int main() {
    for (int call = 0; call < 5000; ++call) {
        void* volatile block = std::malloc(3'000'000);
        std::free(block);
    }
    std::_Exit(0);
}
