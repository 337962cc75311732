// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <zstd.h>

#include "observe/trace/compression/compression.hpp"

namespace tenure::lab {

bool has_zstd() { return true; }

bool zstd_compress(std::string_view plain, std::string& to) {
    constexpr int level = 6; // of 1 to 19: slower ones save little of what events leave
    to.resize(::ZSTD_compressBound(plain.size()));
    const std::size_t length = ::ZSTD_compress(to.data(), to.size(), plain.data(), plain.size(), level);
    if (::ZSTD_isError(length) != 0) return false;
    to.resize(length);
    return true;
}

bool zstd_decompress(std::string_view stored, std::size_t bytes, std::string& to) {
    to.resize(bytes);
    return ::ZSTD_decompress(to.data(), to.size(), stored.data(), stored.size()) == bytes;
}

}
