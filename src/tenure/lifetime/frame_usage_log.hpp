// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// frame_usage_log: the usage of each owner tag at the end of each frame, for a graph.
///
/// Use it for     "which subsystem grew, in which frame, and when was its budget exceeded?" Call record() before
///                next_frame(), and write() when the program ends or on a key. `tenure usage FILE` draws the file.
/// Memory from    a block source, once: 32 bytes per frame and tag. The log keeps the latest frames.
/// Cost           record: O(tags x caches + live blocks of TempJob), with locks, and no allocation: 80 us for 60 tags
///                of one thread. A thread has a cache per tag. Allocations and next_frame(): nothing.
/// Threads        one at a time; other threads may allocate during record(), which reads each figure at some moment.
/// When full      the oldest frame is replaced. Tags past `max_tags` are left out.
/// Example        examples/frame_usage.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::inline TENURE_ABI {

struct frame_usage_options {
    std::size_t frame_count = 600; ///< the latest frames that are kept, at least 1: zero counts as 1
    std::size_t max_tags = 64;     ///< tags with lower ids are recorded; from 1 to 4096, or the nearest of them
};

/// A tag at the end of one frame.
struct frame_usage {
    std::size_t persistent_bytes = 0; ///< live bytes of the process heap
    std::size_t temp_job_bytes = 0;   ///< live bytes of TempJob
    std::uint64_t temp_bytes = 0;     ///< allocated from Temp since the last record, as far as tag_usage counts it
    std::uint64_t refusals = 0;       ///< requests past the tag's budget since the last record
};

class TENURE_API frame_usage_log {
public:
    /// Acquires the memory. Requires  the source outlives the log.
    [[nodiscard]] explicit frame_usage_log(const frame_usage_options& options = {},
                                           block_source& source = page_source::process()) noexcept;
    ~frame_usage_log();
    frame_usage_log(const frame_usage_log&) = delete;
    frame_usage_log& operator=(const frame_usage_log&) = delete;

    /// False if the source had no memory: then record() does nothing.
    [[nodiscard]] bool is_ready() const noexcept { return frames_ != nullptr; }

    /// Records all tags. Call it once a frame, before next_frame().
    void record() noexcept;

    /// The number of frames in the log.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The value of frame_clock::now() at a record, oldest first; zero past the last.
    /// Requires  `index` is below size(), which checked builds report.
    [[nodiscard]] std::uint64_t frame_at(std::size_t index) const noexcept;
    /// Zeros for a tag that is not recorded, and past the last frame.
    /// Requires  `index` is below size(), which checked builds report.
    [[nodiscard]] frame_usage at(std::size_t index, tag owner) const noexcept;

    /// Writes the log as JSON in pieces, without allocating. Tags that were zero in all frames are left out.
    void write(void (*function)(void* context, std::string_view piece), void* context) const;

private:
    struct column;

    [[nodiscard]] bool is_in_range(std::size_t index) const noexcept;
    [[nodiscard]] frame_usage* row(std::size_t index) const noexcept;

    block_source& source_;
    std::size_t frame_count_;
    std::size_t max_tags_;
    std::size_t bytes_ = 0;
    column* columns_ = nullptr;       // by tag
    std::uint64_t* frames_ = nullptr; // a ring
    frame_usage* usages_ = nullptr;   // a ring of rows, which have an entry per tag
    std::size_t size_ = 0;
    std::size_t next_ = 0;
};

}
