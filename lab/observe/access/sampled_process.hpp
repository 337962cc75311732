// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A recorded process whose blocks get watchpoints.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observe/access/block_choice.hpp"
#include "observe/access/watchpoints.hpp"
#include "observe/trace/access/live_blocks.hpp"
#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

class sampled_process {
public:
    /// Returns   nullptr if no process writes to the file any more. `header`: of the file.
    [[nodiscard]] static std::unique_ptr<sampled_process> open(const std::string& path,
                                                               const trace_format::file_header& header);
    ~sampled_process();
    sampled_process(const sampled_process&) = delete;
    sampled_process& operator=(const sampled_process&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] bool has_list() const { return has_list_; }     ///< without one nothing is watched
    [[nodiscard]] bool is_refused() const { return error_ != 0; } ///< the system does not let it be watched

    /// Watches some blocks. Returns   false if there is nothing to watch.
    [[nodiscard]] bool begin_window();
    /// Writes down the accesses. `hit_ns`: what each costs. Returns   hits.
    std::uint64_t end_window(std::uint64_t hit_ns);
    /// Time that the process's threads have run; zero: it is over.
    [[nodiscard]] std::uint64_t processor_ns() const;
    /// Nothing more is watched. Windows in which the process was another program, or had ended, are dropped.
    void finish();

    [[nodiscard]] const std::vector<std::string>& payloads() const { return payloads_; }
    [[nodiscard]] std::string problem() const;

private:
    sampled_process(std::string path, const trace_format::file_header& header, std::uint64_t inode);
    [[nodiscard]] bool find_process();
    void map_list();
    void close();
    [[nodiscard]] bool is_same_program();
    void drop_unsure();
    void look_after(std::uint64_t now_ns);
    void add_window(const watchpoints::outcome& found, std::uint64_t end_ns, std::uint64_t hit_ns);

    std::string path_;
    trace_format::file_header header_;
    std::uint64_t inode_;
    std::uint32_t process_ = 0; ///< its number here; the header has that of its own namespace
    live_blocks* list_ = nullptr;
    std::optional<watchpoints> points_;
    std::optional<block_choice> choice_;
    bool is_over_ = false, has_list_ = false;
    std::uint64_t next_look_ns_ = 0;
    chosen_window now_; ///< without blocks: no window is open
    std::uint64_t begin_ns_ = 0, begin_processor_ns_ = 0;
    std::vector<std::string> payloads_;
    /// A window that ended after the last look at the process.
    struct unsure_window {
        std::size_t payloads, bytes; ///< without it: how many, and of the last
        std::uint64_t end_ns;
    };
    std::vector<unsure_window> unsure_;
    std::uint64_t windows_ = 0, unwatched_ = 0;
    int error_ = 0, thread_error_ = 0; ///< why nothing is watched; why not all threads are
};

}
