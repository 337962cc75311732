// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/static_buffer_source.hpp>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI {

static_buffer_source::static_buffer_source(void* buffer, std::size_t bytes) noexcept
    : buffer_(static_cast<unsigned char*>(buffer)), capacity_bytes_(bytes) {}

void* static_buffer_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes > capacity_bytes_ || alignment > capacity_bytes_) return nullptr;
    const std::uintptr_t first = align_up(address_of(buffer_) + used_bytes_, alignment);
    const std::size_t offset = first - address_of(buffer_);
    if (offset > capacity_bytes_ || bytes > capacity_bytes_ - offset) return nullptr;
    used_bytes_ = offset + bytes;
    ++live_blocks_;
    return pointer_at(first);
}

void static_buffer_source::release(void* block, std::size_t bytes) noexcept {
    const std::size_t offset = address_of(block) - address_of(buffer_);
    if (offset + bytes == used_bytes_) used_bytes_ = offset;
    if (--live_blocks_ == 0) used_bytes_ = 0;
}

bool static_buffer_source::extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes <= old_bytes) return new_bytes == old_bytes;
    const std::size_t offset = address_of(block) - address_of(buffer_);
    if (offset + old_bytes != used_bytes_ || new_bytes > capacity_bytes_ - offset) return false;
    used_bytes_ = offset + new_bytes;
    return true;
}

}
