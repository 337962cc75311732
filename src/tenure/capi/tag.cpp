// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: owner tags. tenure_engine.h: their usage per frame.

#include <string_view>

#include <tenure/base/tag.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/lifetime/frame_usage_log.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/tenure_engine.h>

using namespace tenure;

struct tn_frame_usage_log {
    tn_frame_usage_log(const frame_usage_options& options, const tn_block_source* functions) noexcept
        : source(functions), value(options, source.or_pages()) {}
    capi::callback_source source;
    frame_usage_log value;
};

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

tn_frame_usage_log* tn_frame_usage_log_create(std::size_t frames, std::uint32_t tags, const tn_block_source* source) {
    const bool is_count = capi::is_allowed(tags <= detail::max_tags, "tn_frame_usage_log_create", "tags", tags,
                                           "A process has at most 4096 tags.");
    if (!is_count || !capi::callback_source::is_whole(source)) return nullptr;
    frame_usage_options options;
    if (frames != 0) options.frame_count = frames;
    if (tags != 0) options.max_tags = tags;
    auto* const made = make<tn_frame_usage_log>(options, source);
    if (made == nullptr || made->value.is_ready()) return made;
    destroy(made);
    return nullptr;
}
void tn_frame_usage_log_destroy(tn_frame_usage_log* log) { destroy(log); }
void tn_frame_usage_log_record(tn_frame_usage_log* log) { log->value.record(); }
std::size_t tn_frame_usage_log_size(const tn_frame_usage_log* log) { return log->value.size(); }

tn_status tn_frame_usage_log_at(const tn_frame_usage_log* log, std::size_t index, std::uint32_t tag,
                                tn_frame_usage* usage, std::uint64_t* frame) {
    if (index >= log->value.size()) return TN_INVALID_ARGUMENT;
    const frame_usage seen = log->value.at(index, known(tag));
    if (!capi::answer(usage, {0, 0, seen.persistent_bytes, seen.temp_job_bytes, seen.temp_bytes, seen.refusals}))
        return TN_INVALID_ARGUMENT;
    if (frame != nullptr) *frame = log->value.frame_at(index);
    return TN_OK;
}

void tn_frame_usage_log_write(const tn_frame_usage_log* log, void (*write)(void* context, tn_text piece),
                              void* context) {
    struct target {
        void (*write)(void* context, tn_text piece);
        void* context;
    } to{write, context};
    log->value.write(
        [](void* into, std::string_view piece) {
            const auto& [function, with] = *static_cast<const target*>(into);
            function(with, capi::text_of(piece));
        },
        &to);
}
