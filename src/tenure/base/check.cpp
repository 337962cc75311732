// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/check.hpp>

namespace tenure::inline TENURE_ABI {

void report_misuse(std::string_view what, const void* pointer, std::string_view advice) noexcept {
    report_text text;
    text.text(what);
    if (pointer != nullptr) text.text(": ").address(pointer);
    text.text(". ").text(advice);
    report(report_kind::misuse, text.view());
}

void report_broken(std::string_view what, const void* pointer) noexcept {
    report_text text;
    text.text("an invariant of the library does not hold: ").text(what).text(" at ").address(pointer);
    text.text(". This is a fault in tenure or memory that something else overwrote; the debug build or "
              "AddressSanitizer will say which.");
    report(report_kind::invariant, text.view());
}

}
