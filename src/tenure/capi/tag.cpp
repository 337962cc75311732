// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: owner tags. tenure_engine.h: their usage per frame.

#include <algorithm>
#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/lifetime/frame_usage_log.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/tenure_engine.h>

using namespace tenure;

struct tn_frame_usage_log {
    tn_frame_usage_log(const frame_usage_options& options, const tn_block_source* functions) noexcept
        : source(functions), value(options, source.or_pages()) {}
    capi::callback_source source;
    frame_usage_log value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_frame_usage_log";
};

namespace {

/// The tag with this number. A number too large for a tag becomes one that no tag has.
[[nodiscard]] tag known(std::uint32_t number) noexcept {
    return tag::from_id(static_cast<std::uint16_t>(number <= UINT16_MAX ? number : UINT16_MAX));
}

/// Whether a tag has the number. Checked builds report one that none has.
[[nodiscard]] bool is_tag(std::uint32_t number, std::string_view call, std::string_view argument,
                          std::string_view advice) noexcept {
    const bool is_known = number < tag::count();
    if (checks::caller && !is_known) {
        report_text text;
        text.text(call).text(" was called with ").text(argument).text(" = ").number(number);
        text.text(", which no tag has. ").text(advice);
        text.text(" The thread's allocations have no tag now.");
        report(report_kind::misuse, text.view());
    }
    return is_known;
}

constexpr std::string_view end_advice =
    "Pass what the tn_tag_begin of this scope returned: tn_tag before = tn_tag_begin(tag); ... tn_tag_end(before).";

/// In checked builds: the calling thread's scopes of C, outermost first. They are counted together with those of C++.
class open_tag_scopes {
public:
    void begin(std::uint16_t before) noexcept {
        if (count_ == max_count) {
            std::move(scopes_ + 1, scopes_ + max_count, scopes_);
            --count_;
            ++forgotten_;
        }
        scopes_[count_++] = {++detail::this_thread_tag().open_scopes, before};
    }

    /// Ends the innermost scope that began with this tag, and those inside it.
    /// Returns   whether the tag from before the scope is to be restored. Otherwise the scope has ended, or is none,
    ///           which was reported.
    [[nodiscard]] bool end(std::uint32_t before) noexcept {
        std::uint32_t& open = detail::this_thread_tag().open_scopes;
        end_inside(open);
        std::size_t index = count_;
        while (index != 0 && scopes_[index - 1].before != before) --index;
        if (index == 0 && forgotten_ == 0) return report_unknown(before);
        if (index == 0) {
            if (count_ != 0) return true; // perhaps out of order
            --forgotten_;
            --open;
            return true;
        }
        const std::uint32_t depth = scopes_[index - 1].depth;
        std::move(scopes_ + index, scopes_ + count_, scopes_ + index - 1);
        --count_;
        if (depth == ended) return false; // and was reported, with a scope around it
        const bool is_innermost = depth == open;
        open = depth - 1;
        if (is_innermost) return true;
        end_inside(open);
        report_misuse("tn_tag_end ended a scope before the scopes inside it", nullptr,
                      "End scopes in the reverse order of their beginning. The scopes inside this one have ended with "
                      "it.");
        return true;
    }

    /// Ends the innermost scope, whatever its tag.
    void end_innermost() noexcept {
        std::uint32_t& open = detail::this_thread_tag().open_scopes;
        if (count_ == 0 || scopes_[count_ - 1].depth != open) return;
        --count_;
        --open;
    }

private:
    TENURE_COLD static bool report_unknown(std::uint32_t before) noexcept {
        report_text text;
        text.text("tn_tag_end was called with before = ").number(before);
        text.text(", which no open scope of this thread began with. ").text(end_advice);
        text.text(" End each scope once, on its thread. The thread's tag is unchanged.");
        report(report_kind::misuse, text.view());
        return false;
    }

    /// Marks the scopes that ended with one around them.
    void end_inside(std::uint32_t open) noexcept {
        for (std::size_t index = 0; index < count_; ++index)
            if (scopes_[index].depth > open) scopes_[index].depth = ended;
    }

    static constexpr std::uint32_t ended = 0;
    struct scope {
        std::uint32_t depth; ///< from 1 on, or `ended`
        std::uint16_t before;
    };
    static constexpr std::size_t max_count = 16; ///< of scopes around these nothing is known
    scope scopes_[max_count]{};
    std::size_t count_ = 0;
    std::uint32_t forgotten_ = 0;
};
TENURE_OWN_THREAD_LOCAL(open_tag_scopes, open_scopes)

}

std::uint32_t tn_tag_named(const char* name, std::size_t length) {
    return length == 0 ? 0 : tag::named({name, length}).id();
}

void tn_tag_name(std::uint32_t tag, tn_text* name) { *name = capi::text_of(known(tag).name()); }

std::uint32_t tn_tag_begin(std::uint32_t tag) {
    const std::uint16_t before = current_tag().id();
    const bool is_known = is_tag(tag, "tn_tag_begin", "tag", "Pass what tn_tag_named returned; 0 is no tag.");
    if constexpr (checks::caller) open_scopes().begin(before);
    detail::change_tag(static_cast<std::uint16_t>(is_known ? tag : 0));
    return before;
}

void tn_tag_end(std::uint32_t before) {
    const bool is_known = is_tag(before, "tn_tag_end", "before", end_advice);
    if constexpr (checks::caller) {
        if (!is_known) open_scopes().end_innermost();
        if (is_known && !open_scopes().end(before)) return;
    }
    detail::change_tag(static_cast<std::uint16_t>(is_known ? before : 0));
}

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
void tn_frame_usage_log_destroy(tn_frame_usage_log* log) { capi::destroy_live(log, __func__); }
void tn_frame_usage_log_record(tn_frame_usage_log* log) {
    if (!capi::is_live(log, __func__)) return;
    log->value.record();
}
std::size_t tn_frame_usage_log_size(const tn_frame_usage_log* log) {
    if (!capi::is_live(log, __func__)) return 0;
    return log->value.size();
}

tn_status tn_frame_usage_log_at(const tn_frame_usage_log* log, std::size_t index, std::uint32_t tag,
                                tn_frame_usage* usage, std::uint64_t* frame) {
    if (!capi::is_live(log, __func__)) return TN_INVALID_ARGUMENT;
    if (index >= log->value.size()) return TN_INVALID_ARGUMENT;
    const frame_usage seen = log->value.at(index, known(tag));
    if (!capi::answer(usage, {0, 0, seen.persistent_bytes, seen.temp_job_bytes, seen.temp_bytes, seen.refusals}))
        return TN_INVALID_ARGUMENT;
    if (frame != nullptr) *frame = log->value.frame_at(index);
    return TN_OK;
}

void tn_frame_usage_log_write(const tn_frame_usage_log* log, void (*write)(void* context, tn_text piece),
                              void* context) {
    if (!capi::is_live(log, __func__)) return;
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
