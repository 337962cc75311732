// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The files that watched processes have left, mapped and checked: whatever became of a process, what lies in them is
/// within bounds. A file may be somebody else's, and may be written while it is read: each number that leads elsewhere
/// in it is looked at where it is used.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hook/record_file.hpp"

namespace tenure::lab {

/// One process. The pointers are into the mapped file, which a process of ours may go on writing. A file that others
/// can write to, and could cut short under us, is read into memory first.
class recording {
public:
    /// Null when the file is no recording of this version, or cannot be read; `why` then says so.
    [[nodiscard]] static std::unique_ptr<recording> open(const std::filesystem::path& path, std::string& why);
    ~recording();
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;

    [[nodiscard]] const hook::process_head& process() const { return *head_; }
    [[nodiscard]] const std::vector<const hook::thread_area*>& threads() const { return threads_; }

    [[nodiscard]] double ns_per_tick() const { return ns_per_tick_; }
    [[nodiscard]] double ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
    /// The last moment of which anything is known.
    [[nodiscard]] std::uint64_t last_ticks() const { return last_ticks_; }
    /// How long the process was there, as far as is known.
    [[nodiscard]] double span_ns() const { return ns(last_ticks_ - head_->first_ticks); }

    [[nodiscard]] std::string_view program() const;

    /// What the thread has of each, and no more than there is room for. Node 0 is always there.
    [[nodiscard]] static std::span<const hook::node_record> nodes(const hook::thread_area& thread);
    [[nodiscard]] static std::span<const hook::site_record> sites(const hook::thread_area& thread);
    [[nodiscard]] static std::span<const hook::interval_record> intervals(const hook::thread_area& thread);
    [[nodiscard]] static std::span<const hook::wait_record> waits(const hook::thread_area& thread);

    /// The frames of a stack, innermost first; empty for one that is not known.
    [[nodiscard]] std::vector<std::uint64_t> frames(const hook::thread_area& thread, std::uint32_t stack) const;

    struct placed {
        std::string_view module; ///< empty: in none, `offset` is the address
        std::uint64_t offset = 0;
    };
    [[nodiscard]] placed place_of(std::uint64_t frame) const;
    /// An address of the process as a frame.
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

/// How the command saw a process end.
struct seen_end {
    std::uint32_t process = 0;
    int signal = 0; ///< that ended it; 0: it exited
    int code = 0;
    std::uint64_t ticks = 0;
};
/// Writes it into the last recording of the process, for whoever reads that; into nothing else: the file must be a
/// regular one of ours, and a recording of that process.
void note_seen_end(const std::filesystem::path& folder, const seen_end& end);

/// All recordings of a folder, the first process first. What cannot be read is named in `notices`.
[[nodiscard]] std::vector<std::unique_ptr<recording>> recordings_of(const std::filesystem::path& folder,
                                                                    std::vector<std::string>& notices);

}
