// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Joins OS pages with the same figures to runs, for the file of a profile.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Passes the runs on in batches. It is large: give it static memory.
///
/// Threads   one at a time.
class page_runs {
public:
    using receiver = void (*)(void* context, std::span<const profile_format::page_run> runs) noexcept;

    page_runs(receiver receive, void* context) noexcept : receive_(receive), context_(context) {}
    ~page_runs() { flush(); }
    page_runs(const page_runs&) = delete;
    page_runs& operator=(const page_runs&) = delete;

    void add(const profile_format::page_run& run) noexcept {
        if (count_ != 0 && profile_format::continues(run, runs_[count_ - 1])) {
            runs_[count_ - 1].pages += run.pages;
            return;
        }
        if (count_ == std::size(runs_)) flush();
        runs_[count_++] = run;
    }

private:
    void flush() noexcept {
        if (count_ != 0) receive_(context_, {runs_, count_});
        count_ = 0;
    }

    receiver receive_;
    void* context_;
    std::size_t count_ = 0;
    profile_format::page_run runs_[256];
};

}
