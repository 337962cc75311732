// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/failing_source.hpp>

namespace tenure::inline TENURE_ABI {

bool failing_source::let_through() noexcept {
    std::size_t left = allowed_;
    while (left != 0) {
        if (allowed_.compare_exchange_weak(left, left - 1)) return true;
    }
    ++refused_;
    return false;
}

void* failing_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    return let_through() ? behind_.acquire(bytes, alignment) : nullptr;
}

bool failing_source::extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    const bool is_request = new_bytes > old_bytes; // otherwise it asks what the source can do
    return (!is_request || let_through()) && behind_.extend(block, old_bytes, new_bytes);
}

bool failing_source::shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    return behind_.shrink(block, old_bytes, new_bytes);
}

void* failing_source::remap(void* block, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    return let_through() ? behind_.remap(block, old_bytes, new_bytes, alignment) : nullptr;
}

}
