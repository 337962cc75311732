// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Two bumps over one range that is never given back. The trivial one, which ratios are taken to, aligns, compares and
/// adds, as every bump does that takes any size and alignment. The other rounds sizes up to the alignment, so that
/// nothing has to be aligned in between: it could not keep two alignments apart, and is as little as can be done.

#include <array>
#include <string_view>

#include <tenure/base/align.hpp>

#include "experiments/lifetimes_workload.hpp"

namespace tenure::lab {

namespace {

enum class rounding : std::uint8_t { addresses, sizes };

template<rounding Rounded>
class bump {
public:
    explicit bump(const task& asked) {
        std::size_t const each = align_up(asked.options.size("bytes"), asked.options.size("align"));
        bytes_ = align_up(each * asked.options.size("count"), platform::page_bytes());
        first_ = platform::map(bytes_, 4096);
        end_batch();
        state.end = state.next + bytes_;
    }
    ~bump() { platform::unreserve(first_, bytes_); }
    bump(const bump&) = delete;
    bump& operator=(const bump&) = delete;

    void* allocate(std::size_t bytes, std::size_t alignment) {
        bool const addresses = Rounded == rounding::addresses;
        std::uintptr_t const block = addresses ? align_up(state.next, alignment) : state.next;
        std::uintptr_t const end = block + (addresses ? bytes : align_up(bytes, alignment));
        if (end > state.end) return nullptr;
        state.next = end;
        return pointer_at(block);
    }
    void deallocate(void*, std::size_t) {}
    void end_batch() { state.next = address_of(first_); }
    static constexpr std::string_view query = "its range";
    [[nodiscard]] bool owns(const void* block) const { return address_of(block) - address_of(first_) < bytes_; }

private:
    // Static, as the state of an allocator that anybody may call is: an object of its own would be kept in registers.
    struct cursor {
        std::uintptr_t next, end;
    };
    static inline constinit cursor state{0, 0};
    void* first_;
    std::size_t bytes_;
};

constexpr contestant row(std::string_view name, std::string_view type, std::string_view note,
                         void (*run)(const task&)) {
    return {.name = name,
            .how = route::inlined,
            .kind = "reference (ours)",
            .type = type,
            .note = note,
            .parts = lifetimes_part::bit(lifetimes_part::one_thread),
            .run = run};
}

constexpr std::array<contestant, 2> all{{
    row("trivial bump", type_name<bump<rounding::addresses>>(),
        "align, compare, add, with its state in static memory; its range is reserved beforehand and first touched in "
        "the cold batch; a free does nothing",
        one_thread<bump<rounding::addresses>>),
    row("bump of rounded sizes", type_name<bump<rounding::sizes>>(),
        "as the trivial bump without aligning: for one alignment only, and as little as can be done",
        one_thread<bump<rounding::sizes>>),
}};

}

std::span<const contestant> references_in_lifetimes() { return all; }

}
