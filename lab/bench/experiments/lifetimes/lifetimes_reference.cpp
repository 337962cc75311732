// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Two bumps over one range that is never returned. The trivial one, the baseline of the ratios, aligns, compares and
/// adds, as every bump for any size and alignment does. The other rounds sizes up to the alignment, so that it need not
/// align: it supports only one alignment and does the least work possible.

#include <array>
#include <string_view>

#include <tenure/base/align.hpp>

#include "bench/experiments/lifetimes/lifetimes_workload.hpp"

namespace tenure::lab {

namespace {

enum class rounding : std::uint8_t { addresses, sizes };

template<rounding Rounded>
class bump {
public:
    explicit bump(const task& asked) {
        const std::size_t each = align_up(asked.options.size("bytes"), asked.options.size("align"));
        bytes_ = align_up(each * asked.options.size("count"), platform::page_bytes());
        first_ = platform::map(bytes_, 4096);
        end_batch();
        state.end = state.next + bytes_;
    }
    ~bump() { platform::unreserve(first_, bytes_); }
    bump(const bump&) = delete;
    bump& operator=(const bump&) = delete;

    void* allocate(std::size_t bytes, std::size_t alignment) {
        const bool addresses = Rounded == rounding::addresses;
        const std::uintptr_t block = addresses ? align_up(state.next, alignment) : state.next;
        const std::uintptr_t end = block + (addresses ? bytes : align_up(bytes, alignment));
        if (end > state.end) return nullptr;
        state.next = end;
        return pointer_at(block);
    }
    void deallocate(void*, std::size_t) {}
    void end_batch() { state.next = address_of(first_); }
    static constexpr std::string_view query = "its range";
    [[nodiscard]] bool owns(const void* block) const { return address_of(block) - address_of(first_) < bytes_; }

private:
    // Static, like the state of an allocator for any caller: the compiler would keep a local object in registers.
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
            .role = contestant_role::reference,
            .type = type,
            .note = note,
            .parts = lifetimes_part::bit(lifetimes_part::one_thread),
            .run = run};
}

constexpr std::array<contestant, 2> all{{
    row("trivial bump", type_name<bump<rounding::addresses>>(),
        "align, compare, add, with its state in static memory; its range is reserved beforehand and first touched "
        "in the cold batch; a free does nothing",
        one_thread<bump<rounding::addresses>>),
    row("bump of rounded sizes", type_name<bump<rounding::sizes>>(),
        "like the trivial bump without aligning: for one alignment only, and the least work possible",
        one_thread<bump<rounding::sizes>>),
}};

}

std::span<const contestant> references_in_lifetimes() { return all; }

}
