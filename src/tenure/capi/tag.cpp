// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: owner tags.

#include <string_view>

#include <tenure/base/tag.hpp>
#include <tenure/capi/callback_source.hpp>
#include <tenure/lifetime/lifetime.hpp>

using namespace tenure;

std::uint32_t tn_tag_named(const char* name, std::size_t length) {
    return length == 0 ? 0 : tag::named({name, length}).id();
}

void tn_tag_name(std::uint32_t tag, tn_text* name) {
    auto const id = static_cast<std::uint16_t>(tag <= UINT16_MAX ? tag : UINT16_MAX);
    *name = capi::text_of(tag::from_id(id).name());
}

std::uint32_t tn_tag_push(std::uint32_t tag) {
    std::uint32_t const before = current_tag().id();
    detail::change_tag(static_cast<std::uint16_t>(tag < tag::count() ? tag : 0));
    return before;
}

void tn_tag_pop(std::uint32_t before) { detail::change_tag(static_cast<std::uint16_t>(before)); }

std::uint32_t tn_tag_count() { return static_cast<std::uint32_t>(tag::count() - 1); }

void tn_tag_get_usage(std::uint32_t tag, tn_tag_usage* usage) {
    tag_usage const seen = usage_of(tag::from_id(static_cast<std::uint16_t>(tag)));
    capi::answer(usage, {0, 0, seen.persistent_count, seen.persistent_bytes, seen.temp_job_count, seen.temp_job_bytes,
                         seen.temp_bytes});
}
