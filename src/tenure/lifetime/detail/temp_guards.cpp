// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/temp_guards.hpp>

#include <tenure/base/check.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::uint64_t block_key = 0x7E27'0B10'C4A1'7E39;
constexpr std::uint64_t gap_key = 0x6A90'0B10'C4A1'6A91;

constexpr std::uint64_t mark_of(std::uint64_t key, std::uintptr_t at, std::uint64_t bytes) noexcept {
    return key ^ at ^ bytes * 0x9E37'79B9'7F4A'7C15;
}

// Whether there is poison is asked once per call: a scope looks at each of its blocks.

void write_head(std::uintptr_t at, std::uint64_t key, std::uint64_t bytes, bool has_poison) noexcept {
    auto* const head = static_cast<temp_head*>(pointer_at(at));
    if (has_poison) platform::unpoison(head, sizeof *head);
    *head = {mark_of(key, at, bytes), bytes};
    if (has_poison) platform::poison(head, sizeof *head);
}

/// The length in a head of this kind; zero if there is none at this address, or if it was overwritten.
std::uint64_t read_head(std::uintptr_t at, std::uint64_t key, bool has_poison) noexcept {
    const auto* const head = static_cast<const temp_head*>(pointer_at(at));
    const std::uint64_t mark = has_poison ? platform::read_hidden(&head->mark) : head->mark;
    const std::uint64_t bytes = has_poison ? platform::read_hidden(&head->bytes) : head->bytes;
    return mark == mark_of(key, at, bytes) ? bytes : 0;
}

temp_finding look_at(std::uintptr_t block, std::size_t& bytes, bool has_poison) noexcept {
    if (!is_aligned(pointer_at(block), default_alignment)) return temp_finding::no_block;
    bytes = read_head(block - sizeof(temp_head), block_key, has_poison);
    if (bytes == 0) return temp_finding::no_block;
    const std::uintptr_t end = temp_block_end(block, bytes);
    const bool is_whole =
        has_poison ? is_tail_guard_whole(block + bytes, end) : is_plain_tail_guard_whole(block + bytes, end);
    return is_whole ? temp_finding::whole : temp_finding::overrun;
}

TENURE_COLD void report_front(std::uintptr_t block, std::string_view part) noexcept {
    report_text text;
    text.text("memory in front of a ").text(part).text(" block was overwritten: ").address(pointer_at(block));
    text.text(". Look for a write in front of this block; AddressSanitizer stops the program at the write.");
    report(report_kind::misuse, text.view());
}

}

void guard_temp_block(std::uintptr_t block, std::size_t bytes) noexcept {
    const bool has_poison = platform::has_poison();
    write_head(block - sizeof(temp_head), block_key, bytes, has_poison);
    if (!has_poison) [[likely]]
        return write_tail_guard(block + bytes, temp_block_end(block, bytes));
    platform::unpoison(pointer_at(block), bytes);
    set_tail_guard(block + bytes, temp_block_end(block, bytes));
}

void guard_temp_gap(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (begin != end) write_head(begin, gap_key, end - begin, platform::has_poison());
}

temp_finding look_at_temp_block(std::uintptr_t block, std::size_t& bytes) noexcept {
    return look_at(block, bytes, platform::has_poison());
}

void report_temp_overrun(std::uintptr_t block, std::size_t bytes, std::string_view part) noexcept {
    report_text text;
    describe_overrun(text, part, block, bytes, temp_block_end(block, bytes));
    report(report_kind::misuse, text.view());
}

void check_temp_blocks(std::uintptr_t from, std::uintptr_t cursor, std::string_view part) noexcept {
    const bool has_poison = platform::has_poison();
    while (from < cursor) {
        const std::uintptr_t block = from + sizeof(temp_head);
        std::size_t bytes = 0;
        const temp_finding found = look_at(block, bytes, has_poison);
        if (found == temp_finding::overrun) return report_temp_overrun(block, bytes, part);
        if (found == temp_finding::whole) {
            from = temp_block_end(block, bytes);
            continue;
        }
        const std::uint64_t gap = read_head(from, gap_key, has_poison);
        if (gap == 0) return report_front(block, part);
        from += gap;
    }
}

}
