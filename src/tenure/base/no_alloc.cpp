// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/no_alloc.hpp>

#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI::detail {

void report_broken_promise(std::string_view what, std::size_t bytes) noexcept {
    report_text text;
    text.text("memory was allocated inside a no_alloc_scope: ");
    if (bytes != 0) text.number(bytes).text(" bytes ");
    text.text(what).text(". Allocate before the scope begins, or open an allow_alloc_scope around allocations that are "
                         "permitted.");
    report(report_kind::misuse, text.view());
}

}
