// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/tail_guard.hpp>

#include <cstring>

namespace tenure::inline TENURE_ABI {

void detail::set_poisoned_tail_guard(std::uintptr_t begin, std::uintptr_t end) noexcept {
    platform::unpoison(pointer_at(begin), end - begin);
    std::memset(pointer_at(begin), tail_guard_fill, end - begin);
    platform::poison(pointer_at(begin), end - begin);
}

void detail::describe_overrun(report_text& to, std::string_view part, std::uintptr_t block, std::size_t bytes,
                              std::uintptr_t guard_end) noexcept {
    const void* const guard = pointer_at(block + bytes);
    const std::size_t count = guard_end - (block + bytes);
    const std::size_t first = platform::first_other(guard, count, tail_guard_fill);
    const std::size_t past = platform::past_last_other(guard, count, tail_guard_fill);
    to.text("a ").text(part).text(" block of ").number(bytes).text(" bytes was overrun: ").address(pointer_at(block));
    const bool is_one = past == first + 1;
    to.text(". Behind its end, ").text(is_one ? "byte " : "bytes ").number(bytes + first);
    if (!is_one) to.text(" to ").number(bytes + past - 1);
    to.text(past == count ? " and perhaps more" : "").text(is_one && past != count ? " was" : " were");
    to.text(" overwritten. Look for a write past its end; ");
    to.text("AddressSanitizer stops the program at the write.");
}
void detail::report_tail_guard(std::string_view part, std::uintptr_t block, std::size_t bytes, std::uintptr_t guard_end,
                               behind_guard behind) noexcept {
    const std::uintptr_t guard = block + bytes;
    const std::size_t count = guard_end - guard;
    const bool reaches_end = platform::past_last_other(pointer_at(guard), count, tail_guard_fill) == count;
    const bool is_from_behind = behind == behind_guard::a_block && reaches_end &&
                                platform::first_other(pointer_at(guard), count, tail_guard_fill) != 0;
    report_text text;
    if (is_from_behind) {
        text.text("memory in front of a ").text(part).text(" block was overwritten: ").address(pointer_at(guard_end));
        text.text(". Look for a write in front of this block; AddressSanitizer stops the program at the write.");
    } else {
        describe_overrun(text, part, block, bytes, guard_end);
    }
    set_tail_guard(guard, guard_end);
    tenure::report(report_kind::misuse, text.view());
}

}
