// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Built with exceptions: linked into the program, not into the drop-in.

#include <tenure/dropin/detail/out_of_memory.hpp>

#include <new>

#include <tenure/base/bad_alloc.hpp>
#include <tenure/dropin/detail/quick.hpp>

namespace tenure::inline TENURE_ABI::dropin {

void* new_failed(std::size_t bytes, std::size_t alignment) {
    for (;;) {
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw_bad_alloc();
        handler(); // frees memory, throws, or uninstalls itself
        if (void* const block = allocate_slow(bytes, alignment); block != nullptr) return block;
    }
}

void* new_failed_nothrow(std::size_t bytes, std::size_t alignment) noexcept {
    try {
        return new_failed(bytes, alignment);
    } catch (...) { // a handler may throw anything
        return nullptr;
    }
}

}
