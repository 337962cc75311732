// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: owner tags.

#include <string_view>

#include <tenure/base/tag.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/lifetime/lifetime.hpp>

using namespace tenure;

namespace {

/// The tag with this number. A number too large for a tag becomes one that no tag has.
[[nodiscard]] tag known(std::uint32_t number) noexcept {
    return tag::from_id(static_cast<std::uint16_t>(number <= UINT16_MAX ? number : UINT16_MAX));
}

/// The number, or zero if no tag has it.
[[nodiscard]] std::uint16_t or_none(std::uint32_t number) noexcept {
    const bool is_known = capi::is_allowed(number < tag::count(), "tn_tag_begin or tn_tag_end", "tag", number,
                                           "Pass what tn_tag_named or tn_tag_begin returned; 0 is no tag.");
    return static_cast<std::uint16_t>(is_known ? number : 0);
}

}

std::uint32_t tn_tag_named(const char* name, std::size_t length) {
    return length == 0 ? 0 : tag::named({name, length}).id();
}

void tn_tag_name(std::uint32_t tag, tn_text* name) { *name = capi::text_of(known(tag).name()); }

std::uint32_t tn_tag_begin(std::uint32_t tag) {
    const std::uint32_t before = current_tag().id();
    detail::change_tag(or_none(tag));
    return before;
}

void tn_tag_end(std::uint32_t before) { detail::change_tag(or_none(before)); }

std::uint32_t tn_tag_count() { return static_cast<std::uint32_t>(tag::count() - 1); }

void tn_tag_get_usage(std::uint32_t tag, tn_tag_usage* usage) {
    const tag_usage seen = usage_of(known(tag));
    capi::answer(usage, {0, 0, seen.persistent_count, seen.persistent_bytes, seen.temp_job_count, seen.temp_job_bytes,
                         seen.temp_bytes});
}
