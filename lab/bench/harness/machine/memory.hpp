// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The memory of a worker above what it had before the allocator was used.

#include <cstddef>

namespace tenure::lab {

/// The process's private memory as the system counts it page by page. Mapped program files are excluded, so that code
/// running for the first time does not look like an allocation.
struct memory_reading {
    std::size_t resident = 0; ///< resident anonymous pages, without those released by MADV_FREE and not yet reclaimed
    std::size_t huge = 0;     ///< the part of these in huge pages
};

/// Cost      a walk over the page tables: milliseconds for a gigabyte. Allocates nothing.
[[nodiscard]] memory_reading read_memory();

/// Memory that a new process could use: available on the machine, and within the limit of its control group. Allocates
/// nothing.
[[nodiscard]] std::size_t available_memory_bytes();

/// Memory above a base that the constructor reads.
class memory_meter {
public:
    memory_meter();

    [[nodiscard]] double resident_mib() const; ///< now
    /// The maximum since construction. The kernel's own high-water mark may be off by 64 pages per CPU, so it is used
    /// only when it exceeds both what is resident now and that error.
    [[nodiscard]] double peak_mib() const;
    [[nodiscard]] double huge_mib() const; ///< in huge pages now, of any allocator

private:
    std::size_t base_;
    std::size_t base_files_;
    bool peak_works_;
};

}
