// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The files that watched processes have written, mapped and checked so that every access is within bounds, however the
/// process ended. A file may belong to another user and may be written while it is read, so each index from it is
/// checked where it is used.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observe/hook/record/recording_format.hpp"

namespace tenure::lab {

/// The recording of one process. Pointers lead into the mapped file, which a process of this user may still be writing.
/// A file that others can write to, and so truncate, is read into memory first.
class recording {
public:
    /// Opens a recording. Returns   nullptr when the file is not a recording of this version or cannot be read; `why`
    /// says which.
    [[nodiscard]] static std::unique_ptr<recording> open(const std::filesystem::path& path, std::string& why);
    ~recording();
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;

    [[nodiscard]] const hook::process_head& process() const { return *head_; }
    [[nodiscard]] const std::vector<const hook::thread_area*>& threads() const { return threads_; }

    [[nodiscard]] double ns_per_tick() const { return ns_per_tick_; }
    [[nodiscard]] double ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
    /// The last known moment.
    [[nodiscard]] std::uint64_t last_ticks() const { return last_ticks_; }
    /// How long the process ran, as far as known.
    [[nodiscard]] double span_ns() const { return ns(last_ticks_ - head_->first_ticks); }

    [[nodiscard]] std::string_view program() const;

    /// The thread's records of each kind, never more than the area has room for. Node 0 always exists.
    [[nodiscard]] static std::span<const hook::node_record> nodes(const hook::thread_area& thread);
    [[nodiscard]] static std::span<const hook::site_record> sites(const hook::thread_area& thread);
    [[nodiscard]] static std::span<const hook::interval_record> intervals(const hook::thread_area& thread);
    [[nodiscard]] static std::span<const hook::wait_record> waits(const hook::thread_area& thread);

    /// The frames of a stack, innermost first; empty when the stack is not known.
    [[nodiscard]] std::vector<std::uint64_t> frames(const hook::thread_area& thread, std::uint32_t stack) const;

    struct placed {
        std::string_view module; ///< empty: in no module, `offset` is the address
        std::uint64_t offset = 0;
    };
    [[nodiscard]] placed place_of(std::uint64_t frame) const;
    /// Converts an address of the process to a frame.
    [[nodiscard]] std::uint64_t frame_of(std::uint64_t address) const;

private:
    recording() = default;

    void* mapped_ = nullptr;
    std::size_t bytes_ = 0;
    const hook::process_head* head_ = nullptr;
    std::vector<const hook::thread_area*> threads_;
    double ns_per_tick_ = 1;
    std::uint64_t last_ticks_ = 0;
};

/// The end of a process, as the command saw it.
struct seen_end {
    std::uint32_t process = 0;
    int signal = 0; ///< the signal that ended it; 0: it exited
    int code = 0;
    std::uint64_t ticks = 0;
};
/// Writes the end into the last recording of the process, for later readers. Writes to nothing else: the file must be a
/// regular file of this user and a recording of that process.
void note_seen_end(const std::filesystem::path& folder, const seen_end& end);

/// Opens all recordings of a folder, sorted by their start. `notices` names the files that cannot be read.
[[nodiscard]] std::vector<std::unique_ptr<recording>> recordings_of(const std::filesystem::path& folder,
                                                                    std::vector<std::string>& notices);

}
