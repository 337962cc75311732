// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/check.hpp>

namespace tenure::inline TENURE_ABI {

int check_level() noexcept { return checks::level; }

void report_misuse(std::string_view what, const void* pointer, std::string_view advice) noexcept {
    report_text text;
    text.text(what);
    if (pointer != nullptr) text.text(": ").address(pointer);
    text.text(". ").text(advice);
    report(report_kind::misuse, text.view());
}

void report_alignment(std::string_view part, std::size_t alignment) noexcept {
    report_text text;
    text.text(part).text(" was asked for a block with an alignment of ").number(alignment);
    text.text(". An alignment is a power of two: 1, 2, 4 and so on. A build without checks returns nullptr, as if it "
              "were out of memory.");
    report(report_kind::misuse, text.view());
}

void report_argument(std::string_view call, std::string_view argument, std::uint64_t value,
                     std::string_view allowed) noexcept {
    report_text text;
    text.text(call).text(" was called with ").text(argument).text(" = ").number(value).text(". ").text(allowed);
    text.text(" A build without checks fails here as if it were out of memory.");
    report(report_kind::misuse, text.view());
}

void report_broken(std::string_view what, const void* pointer) noexcept {
    report_text text;
    text.text("an internal invariant failed: ").text(what).text(" at ").address(pointer);
    text.text(". Either Tenure has a bug, or something else overwrote its memory. Run the debug build or "
              "AddressSanitizer to find out which.");
    report(report_kind::invariant, text.view());
}

}
