// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory that a worker holds, above what it held before the allocator was used.

#include <cstddef>

namespace tenure::lab {

/// The process's private memory as the system counts it page by page. Program files that are mapped are not in it, so
/// that code which runs for the first time does not look like an allocation.
struct memory_reading {
    std::size_t resident = 0; ///< anonymous pages in memory, without those given up by MADV_FREE and not yet collected
    std::size_t huge = 0;     ///< of these, in huge pages
};

/// Cost      a walk over the page tables: milliseconds for a gigabyte. Allocates nothing.
[[nodiscard]] memory_reading read_memory();

/// Memory above a base that is taken when it is made.
class memory_meter {
public:
    memory_meter();

    [[nodiscard]] double resident_mib() const; ///< now
    /// The most since the meter was made. The kernel's own high-water mark may be off by 64 pages per CPU, so it
    /// counts only where it is above both what is resident now and that error.
    [[nodiscard]] double peak_mib() const;
    [[nodiscard]] double huge_mib() const; ///< in huge pages now, whoever's

private:
    std::size_t base_;
    std::size_t base_files_;
    bool peak_works_;
};

}
