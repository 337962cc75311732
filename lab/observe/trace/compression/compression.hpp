// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Compresses the chunks of a trace, by zstd if this build has it, and otherwise by zlib.

#include <cstddef>
#include <string>
#include <string_view>

#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

/// zstd, if this build has it; else deflate.
[[nodiscard]] trace_format::codec best_codec();

/// Replaces `to` by the compressed text. Returns   how it is stored: as it is, where compression does not make it
/// smaller.
[[nodiscard]] trace_format::codec compress(std::string_view plain, trace_format::codec by, std::string& to);

/// Replaces `to` by the plain text, which has `bytes`. Returns   false if it is damaged, or the codec is not known.
[[nodiscard]] bool decompress(std::string_view stored, trace_format::codec by, std::size_t bytes, std::string& to);

// Either of the two files zstd.cpp and without_zstd.cpp.
[[nodiscard]] bool has_zstd();
/// Returns   false if it failed.
[[nodiscard]] bool zstd_compress(std::string_view plain, std::string& to);
[[nodiscard]] bool zstd_decompress(std::string_view stored, std::size_t bytes, std::string& to);

}
