// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/counting_source.hpp>

namespace tenure::inline TENURE_ABI {

void counting_source::grow_to(std::size_t bytes) noexcept {
    std::size_t peak = peak_bytes_;
    while (peak < bytes && !peak_bytes_.compare_exchange_weak(peak, bytes)) {}
}

void* counting_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    ++requests_;
    void* const block = behind_.acquire(bytes, alignment);
    if (block == nullptr) return nullptr;
    ++live_blocks_;
    grow_to(live_bytes_ += bytes);
    return block;
}

void counting_source::release(void* block, std::size_t bytes) noexcept {
    --live_blocks_;
    live_bytes_ -= bytes;
    behind_.release(block, bytes);
}

bool counting_source::extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes > old_bytes) ++requests_; // otherwise it asks what the source can do
    if (!behind_.extend(block, old_bytes, new_bytes)) return false;
    grow_to(live_bytes_ += new_bytes - old_bytes);
    return true;
}

bool counting_source::shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (!behind_.shrink(block, old_bytes, new_bytes)) return false;
    live_bytes_ -= old_bytes - new_bytes;
    return true;
}

void* counting_source::remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                             std::size_t alignment) noexcept {
    ++requests_;
    void* const moved = behind_.remap(block, old_bytes, new_bytes, alignment);
    if (moved != nullptr) grow_to(live_bytes_ += new_bytes - old_bytes);
    return moved;
}

bool counting_source::decommit(void* part, std::size_t bytes) noexcept {
    const bool done = behind_.decommit(part, bytes);
    if (done) decommitted_bytes_ += bytes;
    return done;
}

}
