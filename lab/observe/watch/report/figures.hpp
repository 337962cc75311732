// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Text for figures of the watch: shares, counts, sizes and times, and phrases that the text report and the page share.

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

/// "12.5 %", "< 0.1 %", "0 %".
[[nodiscard]] std::string percent_text(double part, double whole);

/// "123,456".
[[nodiscard]] std::string whole_text(double value);
[[nodiscard]] std::string whole_text(std::uint64_t value);

/// "1 wait", "2,000 waits": a number and its noun, in the plural unless the number is one.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);
[[nodiscard]] std::string counted(double count, std::string_view noun, std::string_view plural = {});

/// "1 thread", "64 or more threads".
[[nodiscard]] std::string threads_of(const watched_site& site);
/// "inside: from 2 ms to 3 ms per thread"; empty when it is not known for each thread.
[[nodiscard]] std::string stays_of(const watched_region& region);

/// Details shown beside a time: "12 waits, the longest 3 ms", "5 allocations of 1 KiB, 5 frees".
[[nodiscard]] std::string about_waiting(const watched_region& region);
[[nodiscard]] std::string about_allocation(const watched_region& region);
/// The kernel's figures, as text.
[[nodiscard]] std::string about_kernel(const kernel_account& kernel);

/// "Marks: level loaded at 3 ms."; empty when the program set none.
[[nodiscard]] std::string moments_text(const findings& found);

/// The text that replaces the regions when there are none.
struct no_regions {
    std::string what, advice;
};
[[nodiscard]] no_regions about_no_regions(const findings& found);

/// "signal 11 (Segmentation fault)".
[[nodiscard]] std::string signal_text(int signal);

/// "1.25 ms": three digits and a unit.
[[nodiscard]] std::string time_text(double ns);

/// "512 B", "1.5 MiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}
