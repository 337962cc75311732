// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An allocator of a user's own, which remembers what it gave: whatever adaptors do wrong with sizes shows here.

#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <string>

#include <tenure/base/allocator.hpp>

namespace adapt {

class recording_allocator {
public:
    recording_allocator() = default;
    recording_allocator(const recording_allocator&) = delete;
    recording_allocator& operator=(const recording_allocator&) = delete;

    /// Serves `requests` more, then refuses.
    void allow(std::size_t requests) noexcept { allowed_ = requests; }

    void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        ++requests_;
        last_bytes_ = bytes;
        last_alignment_ = alignment;
        if (allowed_ == 0 || bytes > max_bytes) return nullptr;
        --allowed_;
        void* const block = ::operator new (bytes + (bytes == 0), std::align_val_t{alignment}, std::nothrow);
        if (block != nullptr) given_.emplace(block, numbers{bytes, alignment});
        return block;
    }

    void deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
        const auto found = given_.find(block);
        if (found == given_.end()) {
            fault_ = "a block came back that is not out";
            return;
        }
        if (found->second.bytes != bytes || found->second.alignment != alignment) {
            fault_ = std::to_string(found->second.bytes) + " bytes aligned to " +
                     std::to_string(found->second.alignment) + " came back as " + std::to_string(bytes) +
                     " aligned to " + std::to_string(alignment);
        }
        ::operator delete (block, std::align_val_t{found->second.alignment});
        given_.erase(found);
    }

    [[nodiscard]] bool owns(const void* pointer) const noexcept {
        for (const auto& [block, of] : given_) {
            if (reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(block) < of.bytes)
                return true;
        }
        return false;
    }

    [[nodiscard]] std::size_t requests() const noexcept { return requests_; }
    [[nodiscard]] std::size_t live() const noexcept { return given_.size(); }
    [[nodiscard]] std::size_t last_bytes() const noexcept { return last_bytes_; }
    [[nodiscard]] std::size_t last_alignment() const noexcept { return last_alignment_; }
    /// What was given back wrongly, in words; empty when nothing was.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

private:
    // Refused here, because a sanitizer's malloc ends the process when it is asked for too much.
    static constexpr std::size_t max_bytes = std::size_t{1} << 32;

    struct numbers {
        std::size_t bytes;
        std::size_t alignment;
    };
    std::map<void*, numbers> given_;
    std::size_t allowed_ = SIZE_MAX;
    std::size_t requests_ = 0;
    std::size_t last_bytes_ = 0;
    std::size_t last_alignment_ = 0;
    std::string fault_;
};
static_assert(tenure::allocator<recording_allocator>);

}
