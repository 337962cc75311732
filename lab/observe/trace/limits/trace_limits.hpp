// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How much memory a trace may take that is read.

#include <cstdint>

namespace tenure::lab {

/// Bytes that this process can use at most.
[[nodiscard]] std::uint64_t memory_of_machine();

/// Small files can have very many events, call stacks and names. What is past a limit is left out, and trace::damage
/// says so.
struct trace_limits {
    static constexpr std::uint64_t bytes_of_event = 64;

    std::uint64_t events = memory_of_machine() / 4 * 3 / bytes_of_event;
    std::uint64_t payload_bytes = memory_of_machine() / 8; ///< of decompressed chunks, of all threads at a time
    std::uint64_t stack_bytes = memory_of_machine() / 8;   ///< of call stacks
    std::uint64_t mark_bytes = std::uint64_t{16} << 20;    ///< of names of marks, of which a program has a few
};

}
