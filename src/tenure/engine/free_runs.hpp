// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Returns the OS pages that lie wholly in free memory to the system, one call for each run of neighbours.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Joins free ranges, which are added in the order of their addresses, into runs and decommits each run's OS pages.
/// `Source` has `bool decommit(void*, std::size_t)`: a block source, or a heap's memory.
///
/// Cost      O(1) per range; one system call per run that holds an OS page.
template<class Source>
class free_runs {
public:
    explicit free_runs(Source& source) noexcept : source_(source) {}

    void add(std::uintptr_t begin, std::uintptr_t end) noexcept {
        if (begin != end_) decommit();
        if (begin != end_) begin_ = begin;
        end_ = end;
    }
    /// Decommits the last run. Returns   the bytes decommitted by all runs.
    std::size_t finish() noexcept {
        decommit();
        return bytes_;
    }

private:
    void decommit() noexcept {
        const std::uintptr_t first = align_up(begin_, platform::page_bytes());
        const std::uintptr_t last = align_down(end_, platform::page_bytes());
        if (first < last && source_.decommit(pointer_at(first), last - first)) bytes_ += last - first;
        begin_ = end_ = 0;
    }

    Source& source_;
    std::uintptr_t begin_ = 0;
    std::uintptr_t end_ = 0;
    std::size_t bytes_ = 0;
};

}
