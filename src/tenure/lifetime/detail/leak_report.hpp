// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reports of TempJob blocks that outlived their frames.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/lifetime/detail/job_blocks.hpp>
#include <tenure/lifetime/temp_job.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Leaks to report once no lock is held: a handler may allocate, free and take its time.
class found_leaks {
public:
    [[nodiscard]] bool is_full() const noexcept { return count_ == max_leaks; }
    /// Requires  the list is not full.
    void add(const temp_job_leak& leak) noexcept;
    /// Reports every leak and empties the list.
    void report_all() noexcept;

private:
    static constexpr std::size_t max_leaks = 64;
    struct entry {
        temp_job_leak leak;
        void* stack[stack_capacity]; // copied: the block may be freed before the report
    };
    entry entries_[max_leaks];
    std::size_t count_ = 0;
};

}
