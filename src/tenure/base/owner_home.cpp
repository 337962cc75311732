// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/owner_home.hpp>

#include <tenure/base/check.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI::detail {

void owner_home::report_outlived(const void* object) const noexcept {
    report_text text;
    text.text("the ").text(part).text(" of a tenure::unique ended before the pointer did, and its memory with it");
    report_misuse(text.view(), object,
                  "Declare the owner before its pointers, so that it is destroyed after them. In a struct that is "
                  "assigned to, reset the pointers first, or hold the owner by a std::unique_ptr.");
}

void report_without_owner(const void* object) noexcept {
    report_misuse("a tenure::unique that names no allocator was given an object, and cannot free it", object,
                  "Assign it a pointer of make_unique_in(), which names the allocator; reset(object) does not.");
}

void owner_home::report_left(const void* former) const noexcept {
    report_text text;
    text.text("the ").text(part);
    if (owner == nullptr)
        text.text(" of a container or memory resource ended before it did, or was assigned to");
    else
        text.text(" was moved to ").address(owner).text("; the allocator of a container still names the one it left");
    report_misuse(
        text.view(), former,
        "A container keeps the address of its allocator. Hold the allocator by a std::unique_ptr where its "
        "owner moves, or reserve() the vector of owners, and declare the allocator before its containers. After an "
        "assignment to the allocator make its containers anew, also empty ones.");
}

}
