// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Samples which blocks the processes of a recording touch, and when: `tenure record --access`.
///
/// A thread of the command chooses up to four blocks of each process from the list in its raw file (live_blocks.hpp),
/// watches them for some milliseconds, and writes down their accesses. The time between two windows grows with the
/// hits, which cost the program time.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "observe/access/pacing.hpp"

namespace tenure::lab {

class sampled_process;

class access_sampler {
public:
    /// `file`, `recording`: as of raw_files_of().
    access_sampler(std::string file, std::uint64_t recording);
    ~access_sampler();
    access_sampler(const access_sampler&) = delete;
    access_sampler& operator=(const access_sampler&) = delete;

    /// Looks whether this machine can watch blocks, and what that costs. Returns   why it cannot, and what to do, in a
    /// sentence; empty: it can.
    [[nodiscard]] std::string try_out();

    /// Begins to look for raw files. Call it after the program was forked: a thread would not be in the child. Returns
    /// why it could not, in a sentence; empty: it has.
    [[nodiscard]] std::string start();
    void stop();

    /// After stop(). Payloads of chunks (access_chunks.hpp) for the trace of this raw file.
    [[nodiscard]] std::vector<std::string> payloads_of(const std::string& raw_file) const;
    /// After stop(). Why there are none of this raw file, or not of all threads, in a sentence; empty: there are.
    [[nodiscard]] std::string problem_of(const std::string& raw_file) const;

private:
    void run();
    void find_new();
    [[nodiscard]] bool find_processes();
    [[nodiscard]] bool wait(std::uint64_t time_ns);
    [[nodiscard]] bool pause(std::uint64_t hits);
    void read_clocks();
    [[nodiscard]] std::optional<std::uint64_t> sample(std::uint64_t length_ns);

    std::string file_;
    std::uint64_t recording_;
    std::uint64_t hit_ns_ = 0;
    std::vector<std::unique_ptr<sampled_process>> processes_;
    std::set<std::string> seen_; ///< raw files that were looked at
    search_interval searches_;
    std::uint64_t next_search_ns_ = 0;
    run_time ran_; ///< the processes, since the last window began
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_stopped_ = false;
    std::thread thread_;
};

}
