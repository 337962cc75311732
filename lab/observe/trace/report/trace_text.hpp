// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The figures of a trace for people, and as JSON.

#include <cstdint>
#include <string>

#include "observe/trace/trace.hpp"
#include "observe/trace/trace_figures.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_text(const trace& of, const trace_figures& figures, std::uint64_t file_bytes);
[[nodiscard]] std::string to_json(const trace& of, const trace_figures& figures, std::uint64_t file_bytes);

/// "malloc", "zeroed", "aligned", "operator_new", "aligned_new".
[[nodiscard]] std::string_view name_of(trace_family family);
/// "allocate", "deallocate", "resize", "frame", "mark".
[[nodiscard]] std::string_view name_of(trace_call call);

}
