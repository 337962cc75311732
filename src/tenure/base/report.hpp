// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the library has to say: text built without allocation, and the handlers that hear it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Why a report is made.
enum class report_kind : std::uint8_t {
    misuse,    ///< the caller's mistake: double free, foreign pointer, wrong thread; the default handler aborts
    invariant, ///< our mistake: a structure is torn; the default handler aborts
    leak,      ///< a block outlived its lifetime; the program goes on
    notice,    ///< worth knowing once: a budget that overflows while no frame ever ends
};

/// Text in a fixed buffer on the stack; what does not fit is cut off and ends in "...".
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

/// Receives a finished report. It may be called on any thread and must not allocate from the part that reports.
using report_handler = void (*)(report_kind, std::string_view) noexcept;

/// Installs a handler for all reports and returns the former one; null restores the default, which writes to standard
/// error and, for misuse and broken invariants, aborts. A handler that returns lets the program go on where it can:
/// the offending call then does nothing, save an allocation against a promise (no_alloc.hpp), which goes on.
/// Threads   any; takes effect at the next report.
TENURE_API report_handler set_report_handler(report_handler) noexcept;

/// Hands a report to the handler.
TENURE_API void report(report_kind, std::string_view) noexcept;

}
