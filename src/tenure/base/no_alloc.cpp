// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/no_alloc.hpp>

#include <tenure/base/no_wait.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI::detail {

void report_broken_promise(std::string_view what, std::size_t bytes) noexcept {
    report_text text;
    // The scope is permitted to the report itself, so is_active() is false here.
    text.text("memory was allocated inside a ");
    text.text(this_thread_scopes().no_waits != 0 ? "no_wait_scope: " : "no_alloc_scope: ");
    if (bytes != 0) text.number(bytes).text(" bytes ");
    text.text(what).text(". Allocate before the scope begins, or open an allow_alloc_scope around allocations that are "
                         "permitted.");
    report(report_kind::misuse, text.view());
}

void report_broken_wait_promise(std::string_view what, const void* block) noexcept {
    report_text text;
    if (block == nullptr) {
        text.text("a null pointer was freed inside a no_wait_scope, as ").text(what);
        text.text(". Some allocators take a lock for it. Test the pointer before the call, or open an "
                  "allow_alloc_scope around frees that are permitted.");
    } else {
        text.text("memory was freed inside a no_wait_scope: ").text(what);
        text.text(". Free after the scope has ended, or open an allow_alloc_scope around frees that are permitted.");
    }
    report(report_kind::misuse, text.view());
}

}
