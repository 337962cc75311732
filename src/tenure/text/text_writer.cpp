// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/text_writer.hpp>

#include <tenure/base/check.hpp>
#include <tenure/text/format_printf.hpp>

namespace tenure::inline TENURE_ABI {

text_writer& text_writer::append_printf(const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    append_vprintf(format, arguments);
    va_end(arguments);
    return *this;
}

text_writer& text_writer::append_vprintf(const char* format, std::va_list arguments) noexcept {
    const std::ptrdiff_t needed = detail::print(cursor_, room_bytes(), format, arguments);
    if (needed >= 0) return advance(static_cast<std::size_t>(needed));
    if constexpr (checks::caller)
        report_misuse("a text_writer got a printf format that is refused", format,
                      "See format_printf.hpp: %n, an unknown conversion, a wide character outside Unicode, or a size "
                      "above INT_MAX.");
    return *this;
}

}
