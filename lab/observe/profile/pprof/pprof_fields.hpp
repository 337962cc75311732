// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The numbers of the fields of pprof's format: https://github.com/google/pprof/blob/main/proto/profile.proto.

namespace tenure::lab::pprof_field {

enum profile { sample_type = 1, sample, mapping, location, function, string_table };
enum profile_rest { time_nanos = 9, duration_nanos, period_type, period, comment, default_sample_type };
enum value_type { type = 1, unit };
enum sample_fields { location_id = 1, value, label };
enum label_fields { key = 1, str, num, num_unit };
enum mapping_fields { mapping_id = 1, memory_start, memory_limit, file_offset, filename, build_id, has_functions };
enum location_fields { location_number = 1, its_mapping, address, line };
enum line_fields { function_id = 1, line_number };
enum function_fields { function_number = 1, name, system_name, function_file };

}
