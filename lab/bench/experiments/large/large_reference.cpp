// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The limit for large blocks that are written whole: a memset of memory that was touched before.

#include <array>
#include <cstring>
#include <string_view>

#include "bench/experiments/large/large_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

namespace {

/// Large blocks are at the start of the range, one at a time; small ones are allocated from its end and stay.
class warm_range {
public:
    explicit warm_range(std::size_t max_bytes)
        : bytes_(align_up(max_bytes, platform::page_bytes())),
          first_(static_cast<char*>(platform::map(bytes_, platform::page_bytes()))), last_(first_ + bytes_) {
        if (first_ == nullptr) refused();
        std::memset(first_, 1, bytes_);
    }
    ~warm_range() { platform::unreserve(first_, bytes_); }
    warm_range(const warm_range&) = delete;
    warm_range& operator=(const warm_range&) = delete;

    void* allocate(std::size_t bytes) {
        if (bytes <= static_cast<std::size_t>(last_ - first_) && bytes >= mebibyte) return first_;
        const std::size_t stride = align_up(bytes, default_alignment);
        if (stride > static_cast<std::size_t>(last_ - first_)) return nullptr;
        return last_ -= stride;
    }
    void deallocate(void*, std::size_t) {}
    void* reallocate(void*, std::size_t) { return nullptr; } // it does not take part where blocks grow
    bool trim() { return false; }
    static constexpr std::string_view query = "its range";
    [[nodiscard]] bool owns(const void* block) const { return block >= first_ && block < first_ + bytes_; }

private:
    std::size_t bytes_;
    char* first_;
    char* last_; ///< start of the small blocks
};

constexpr std::array<contestant, 1> all{{
    {.name = "memset of warm memory",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<warm_range>(),
     .note = "a limit: one range, touched beforehand, contains every block; only the writing remains",
     .parts = large_part::bit(large_part::again_and_again) | large_part::bit(large_part::pattern),
     .run = run_large<warm_range>},
}};

}

std::span<const contestant> references_in_large() { return all; }

}
