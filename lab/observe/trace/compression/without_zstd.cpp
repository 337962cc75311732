// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/compression/compression.hpp"
#include "observe/trace/compression/unpacked_text.hpp"

namespace tenure::lab {

bool has_zstd() { return false; }
bool zstd_compress(std::string_view, std::string&) { return false; }
bool zstd_decompress(std::string_view, std::size_t, std::string&) { return false; }
std::unique_ptr<unpacked_text> unpack_zstd(std::string_view) { return nullptr; }

}
