// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/detail/buffer_checks.hpp>

#include <cstdlib>

#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI::detail {

void end_for_stale_buffer(const void* memory) noexcept {
    report_text text;
    if (memory == nullptr) {
        text.text("a buffer without memory was used: it was never allocated, or its allocation failed. "
                  "Check is_live() first.");
    } else {
        text.text("a buffer was used after it was freed; its memory was at ").address(memory);
        text.text(". Take a lease to keep the memory during use, or check with try_at() or is_live() first.");
    }
    report(report_kind::misuse, text.view());
    std::abort();
}

void end_for_index(const void* memory, std::size_t index, std::size_t count) noexcept {
    report_text text;
    text.text("index ").number(index).text(" is out of range: the buffer has ").number(count).text(" elements, at ");
    text.address(memory).text(". Check the index, or use try_at().");
    report(report_kind::misuse, text.view());
    std::abort();
}

void end_for_slice(const void* memory, std::size_t first, std::size_t count, std::size_t size) noexcept {
    report_text text;
    text.text("a slice of ").number(count).text(" elements at index ").number(first).text(" is not in a buffer of ");
    text.number(size).text(" elements, at ").address(memory).text(".");
    report(report_kind::misuse, text.view());
    std::abort();
}

void report_held_at_end(const void* memory, std::size_t holders) noexcept {
    report_text text;
    text.text("the owner of the buffer at ").address(memory).text(" ends while it is held ").number(holders);
    text.text(holders == 1 ? " time" : " times").text(". Its memory is not freed. End the leases before the owner.");
    report(report_kind::misuse, text.view());
}

}
