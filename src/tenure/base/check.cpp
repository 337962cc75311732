// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

/// A block of another copy of the library looks like a mistake of any kind when it is freed to this one.
TENURE_NOINLINE void say_other_copy(report_text& text) noexcept {
    char path[256];
    const std::string_view other = host::other_copy(path, sizeof path);
    if (other.empty()) return;
    text.text(" A second copy of the library is in ").text(other);
    text.text(": if that one allocated the block, free it there, or link the same shared library into both.");
}

}

int check_level() noexcept { return checks::level; }

void report_misuse(std::string_view what, const void* pointer, std::string_view advice) noexcept {
    report_text text;
    text.text(what);
    if (pointer != nullptr) text.text(": ").address(pointer);
    text.text(". ").text(advice);
    if (pointer != nullptr && what.find("free") != std::string_view::npos) say_other_copy(text);
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
