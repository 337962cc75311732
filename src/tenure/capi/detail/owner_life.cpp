// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/report.hpp>
#include <tenure/capi/detail/owner_life.hpp>

namespace tenure::inline TENURE_ABI {

void capi::report_no_owner(std::string_view call, std::string_view type, const void* owner, bool has_ended) noexcept {
    report_text text;
    text.text(call).text(" was called with ");
    if (owner == nullptr) {
        text.text("NULL instead of a ").text(type);
        text.text(". The function that creates one returns NULL when out of memory: check its result.");
    } else if (has_ended) {
        text.text("a ").text(type).text(" that was destroyed: ").address(owner);
        text.text(". Destroy it once, after its last use, and set the pointer to NULL then. Look for a second owner.");
    } else {
        text.text("a pointer that is no ").text(type).text(", or to one that was destroyed or overwritten: ");
        text.address(owner).text(". Pass what the function that creates one returned, until it is destroyed.");
    }
    report(report_kind::misuse, text.view());
}

}
