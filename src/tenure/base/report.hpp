// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reports: text that is built without allocation, and the handlers that receive it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// The kind of a report.
enum class report_kind : std::uint8_t {
    misuse,    ///< the caller's mistake: double free, foreign pointer, wrong thread; the default handler aborts
    invariant, ///< a bug in Tenure: a broken internal invariant; the default handler aborts
    leak,      ///< a block outlived its lifetime; the program continues
    notice,    ///< worth knowing once: a budget that overflows although no frame ever ends
};

/// Text in a fixed buffer on the stack. Text that does not fit is truncated and ends in "...".
class report_text {
public:
    report_text& text(std::string_view part) noexcept;
    report_text& number(std::uint64_t value) noexcept;
    report_text& address(const void* pointer) noexcept;
    [[nodiscard]] std::string_view view() const noexcept { return {buffer_, length_}; }

private:
    static constexpr std::size_t capacity = 2048;
    char buffer_[capacity];
    std::size_t length_ = 0;
};

/// Receives a finished report, on any thread. It must not allocate from the part that reports.
using report_handler = void (*)(report_kind, std::string_view) noexcept;

/// Installs a handler for all reports and returns the previous one. nullptr restores the default handler, which writes
/// to standard error and, for misuse and broken invariants, aborts. If a handler returns, the program continues where
/// it can: the reported call does nothing, except that an allocation inside a no_alloc_scope is still made.
/// Threads   any; takes effect at the next report.
TENURE_API report_handler set_report_handler(report_handler) noexcept;

/// Passes a report to the handler.
TENURE_API void report(report_kind, std::string_view) noexcept;

}
