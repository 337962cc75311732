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
    /// Returns   nullptr if no process writes to the file. `header`: of the file.
    [[nodiscard]] static std::unique_ptr<sampled_process> open(const std::string& path,
                                                               const trace_format::file_header& header);
    ~sampled_process();
    sampled_process(const sampled_process&) = delete;
    sampled_process& operator=(const sampled_process&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] bool has_list() const { return has_list_; } ///< without one nothing is watched

    /// Watches some blocks. Returns   false if there is nothing to watch.
    [[nodiscard]] bool begin_window();
    /// Writes down the accesses. `hit_ns`: what each costs. Returns   hits.
    std::uint64_t end_window(std::uint64_t hit_ns);
    /// Time that the process's threads have run; zero: it is over.
    [[nodiscard]] std::uint64_t processor_ns() const;
    /// Nothing more is watched. Gives back what watching takes.
    void close();

    [[nodiscard]] const std::vector<std::string>& payloads() const { return payloads_; }
    [[nodiscard]] std::string problem() const;

private:
    enum class file_use : std::uint8_t { mapped, not_mapped, no_process };

    sampled_process(std::string path, const trace_format::file_header& header, std::uint64_t inode);
    void map_list();
    [[nodiscard]] file_use use_of_file() const;
    void look_after(std::uint64_t now_ns);
    void add_window(const watchpoints::outcome& found, std::uint64_t end_ns, std::uint64_t hit_ns);

    std::string path_;
    trace_format::file_header header_;
    std::uint64_t inode_;
    live_blocks* list_ = nullptr;
    std::optional<watchpoints> points_;
    block_choice choice_;
    bool is_over_ = false, has_list_ = false;
    std::uint64_t next_look_ns_ = 0;
    chosen_window now_; ///< without blocks: no window is open
    std::uint64_t begin_ns_ = 0;
    std::vector<std::string> payloads_;
    std::size_t sure_bytes_ = 0; ///< of the last payload; see look_after()
    std::size_t sure_payloads_ = 0;
    std::uint64_t windows_ = 0, unwatched_ = 0;
    int error_ = 0;
};

}
