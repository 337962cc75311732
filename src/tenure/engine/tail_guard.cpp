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

}
