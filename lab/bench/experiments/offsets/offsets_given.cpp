// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Offset allocators from the command line, in offsets. The library is preloaded, as a malloc would be.

#include <string_view>

#include "bench/experiments/offsets/offset_peer.hpp"
#include "bench/experiments/offsets/offsets_workload.hpp"
#include "bench/experiments/shared/required_symbol.hpp"

namespace tenure::lab {

namespace {

class given_offsets {
public:
    struct range {
        std::uint64_t offset = UINT64_MAX, handle = 0;
    };
    given_offsets(std::uint64_t capacity, std::uint64_t alignment)
        : made_(required_symbol<decltype(tenure_offsets_create)>("tenure_offsets_create")(
              capacity, alignment, capacity / offsets_bytes_for_each)) {}
    ~given_offsets() {
        if (made_ != nullptr) required_symbol<decltype(tenure_offsets_destroy)>("tenure_offsets_destroy")(made_);
    }
    given_offsets(const given_offsets&) = delete;
    given_offsets& operator=(const given_offsets&) = delete;

    [[nodiscard]] bool is_made() const { return made_ != nullptr; }
    range allocate(std::uint64_t size, std::uint64_t) {
        range made;
        made.offset = allocate_(made_, size, &made.handle);
        return made;
    }
    void deallocate(range which) {
        if (which.offset != UINT64_MAX) free_(made_, which.offset, which.handle);
    }
    static std::uint64_t offset_of(range which) { return which.offset; }

private:
    void* made_;
    decltype(&tenure_offsets_allocate) allocate_ =
        required_symbol<decltype(tenure_offsets_allocate)>("tenure_offsets_allocate");
    decltype(&tenure_offsets_free) free_ = required_symbol<decltype(tenure_offsets_free)>("tenure_offsets_free");
};

constexpr std::array<contestant, 1> all{{
    {.how = route::offset_library,
     .role = contestant_role::peer,
     .kind = "library",
     .note = "from --against: four functions around it, called through pointers, with its own rounding and alignment",
     .parts = offsets_all_parts,
     .run = run_offsets<given_offsets>},
}};

}

std::span<const contestant> given_in_offsets() { return all; }

}
