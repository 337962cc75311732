// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The events of a trace as text for other programs.

#include <functional>
#include <string_view>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Writes a part of the text. Returns   false if it could not be written: nothing more comes.
using text_sink = std::function<bool(std::string_view)>;

/// time_ns,thread,call,block,bytes,family,alignment,stack. Fields that an event does not have are empty. `block` of a
/// mark is its name.
void export_csv(const trace& of, const text_sink& to);

/// An object for each stack first, then one for each event, with the fields of the CSV.
void export_json_lines(const trace& of, const text_sink& to);

}
