// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Shows a run's progress on standard error: one updating line on a terminal, otherwise one line per experiment.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Writes only while no worker runs, so that no terminal draws during a timed part.
class progress {
public:
    progress(std::string_view experiment, std::size_t jobs);
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// `waits`: what the part waits for; empty for one that does not.
    void starting(std::uint32_t round, std::uint32_t rounds, std::string_view contestant, std::string_view part,
                  std::string_view waits = {});
    void finished_job() { ++done_; }
    void skipped_jobs(std::size_t count) { jobs_ = jobs_ > count ? jobs_ - count : 0; }

private:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] std::string time_left(clock::time_point now) const;
    void show(const std::string& line);

    std::string experiment_;
    std::size_t jobs_, done_ = 0;
    bool terminal_;
    clock::time_point begin_ = clock::now(), shown_{};
};

}
