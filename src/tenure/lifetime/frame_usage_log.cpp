// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/frame_usage_log.hpp>

#include <algorithm>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/usage_text.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>
#include <tenure/lifetime/temp_job.hpp>

namespace tenure::inline TENURE_ABI {

/// What a tag keeps between records: totals to subtract, and its latest budget, which may be gone when the log is
/// written.
struct frame_usage_log::column {
    std::uint64_t temp_bytes = 0;
    std::uint64_t refusals = 0;
    std::size_t limit_bytes = SIZE_MAX;
    std::size_t threshold_bytes = SIZE_MAX;
};

frame_usage_log::frame_usage_log(const frame_usage_options& options, block_source& source) noexcept
    : source_(source), frame_count_(std::max<std::size_t>(options.frame_count, 1)),
      max_tags_(std::clamp<std::size_t>(options.max_tags, 1, detail::max_tags)) {
    const std::size_t of_tags = max_tags_ * sizeof(column);
    const std::size_t of_frame = sizeof(std::uint64_t) + max_tags_ * sizeof(frame_usage);
    if (frame_count_ > (max_object_bytes - of_tags) / of_frame) return;
    bytes_ = of_tags + frame_count_ * of_frame;
    void* const memory = detail::acquire_aligned(source_, bytes_, cache_line_bytes);
    if (memory == nullptr) return;
    columns_ = static_cast<column*>(memory);
    for (std::size_t id = 0; id < max_tags_; ++id) {
        column& made = *::new (columns_ + id) column;
        const tag owner = tag::from_id(static_cast<std::uint16_t>(id));
        made.temp_bytes = detail::tagged_temp_bytes(owner.id());
        made.refusals = refusals_of(owner);
    }
    frames_ = reinterpret_cast<std::uint64_t*>(columns_ + max_tags_);
    usages_ = reinterpret_cast<frame_usage*>(frames_ + frame_count_);
}

frame_usage_log::~frame_usage_log() {
    if (columns_ != nullptr) source_.release(columns_, bytes_);
}

void frame_usage_log::record() noexcept {
    if (frames_ == nullptr) return;
    frame_usage* const row = usages_ + next_ * max_tags_;
    for (std::size_t id = 0; id < max_tags_; ++id) ::new (row + id) frame_usage;
    struct jobs {
        frame_usage* row;
        std::size_t max_tags;
    } context{row, max_tags_};
    temp_job::for_each_live(
        [](void* into, const temp_job_leak& block) {
            const auto& to = *static_cast<jobs*>(into);
            if (block.owner.id() < to.max_tags) to.row[block.owner.id()].temp_job_bytes += block.bytes;
        },
        &context);
    const std::size_t count = std::min(max_tags_, tag::count());
    for (std::size_t id = 0; id < count; ++id) {
        column& of = columns_[id];
        const tag owner = tag::from_id(static_cast<std::uint16_t>(id));
        row[id].persistent_bytes = detail::process_core().usage_of_tag(owner.id()).live_bytes;
        const std::uint64_t temp = detail::tagged_temp_bytes(owner.id());
        row[id].temp_bytes = temp > of.temp_bytes ? temp - of.temp_bytes : 0; // frees with a size take bytes back
        of.temp_bytes = temp;
        const std::uint64_t refusals = refusals_of(owner);
        row[id].refusals = refusals - of.refusals;
        of.refusals = refusals;
        const budget limits = budget_of(owner);
        if (limits.limit_bytes != SIZE_MAX || limits.threshold_bytes != SIZE_MAX) {
            of.limit_bytes = limits.limit_bytes;
            of.threshold_bytes = limits.threshold_bytes;
        }
    }
    ::new (frames_ + next_) std::uint64_t(frame_clock::now());
    next_ = (next_ + 1) % frame_count_;
    size_ = std::min(size_ + 1, frame_count_);
}

frame_usage* frame_usage_log::row(std::size_t index) const noexcept {
    return usages_ + (next_ + frame_count_ - size_ + index) % frame_count_ * max_tags_;
}

bool frame_usage_log::is_in_range(std::size_t index) const noexcept {
    if (index < size_) [[likely]]
        return true;
    if constexpr (checks::caller)
        report_misuse("an index of a frame_usage_log is out of range", this, "Compare the index with size() before.");
    return false;
}

std::uint64_t frame_usage_log::frame_at(std::size_t index) const noexcept {
    if (!is_in_range(index)) return 0;
    return frames_[(next_ + frame_count_ - size_ + index) % frame_count_];
}

frame_usage frame_usage_log::at(std::size_t index, tag owner) const noexcept {
    if (!is_in_range(index)) return {};
    return owner.id() < max_tags_ ? row(index)[owner.id()] : frame_usage{};
}

void frame_usage_log::write(void (*function)(void* context, std::string_view piece), void* context) const {
    const detail::usage_writer out{usage_form::json, function, context};
    const auto list = [&](std::string_view key, auto value) {
        out(key);
        for (std::size_t index = 0; index < size_; ++index) {
            report_text piece;
            out(piece.text(index == 0 ? "[" : ", ").number(value(index)).view());
        }
        out(size_ == 0 ? "[]" : "]");
    };
    out("{\"format\": \"tenure frame usage\", \"version\": 1");
    list(",\n\"frames\": ", [&](std::size_t index) { return frame_at(index); });
    out(",\n\"tags\": [");
    bool is_first = true;
    for (std::size_t id = 0; id < std::min(max_tags_, tag::count()) && is_ready(); ++id) {
        const auto used = [&](std::size_t index) { return row(index)[id]; };
        bool is_zero = true;
        for (std::size_t index = 0; index < size_; ++index) {
            const frame_usage each = used(index);
            is_zero &= (each.persistent_bytes | each.temp_job_bytes | each.temp_bytes | each.refusals) == 0;
        }
        if (is_zero) continue;
        out(is_first ? "\n" : ",\n");
        is_first = false;
        const column& of = columns_[id];
        detail::usage_figure limits[2];
        std::size_t count = 0;
        if (of.limit_bytes != SIZE_MAX) limits[count++] = {"limit_bytes", "", of.limit_bytes, true};
        if (of.threshold_bytes != SIZE_MAX) limits[count++] = {"threshold_bytes", "", of.threshold_bytes, true};
        detail::write_figures(out, "tag", tag::from_id(static_cast<std::uint16_t>(id)).name(), {limits, count});
        list(",\n \"persistent_bytes\": ", [&](std::size_t index) { return used(index).persistent_bytes; });
        list(",\n \"temp_job_bytes\": ", [&](std::size_t index) { return used(index).temp_job_bytes; });
        list(",\n \"temp_bytes\": ", [&](std::size_t index) { return used(index).temp_bytes; });
        list(",\n \"refusals\": ", [&](std::size_t index) { return used(index).refusals; });
        out("}");
    }
    out("]}\n");
}

}
