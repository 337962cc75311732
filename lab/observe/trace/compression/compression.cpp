// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/compression/compression.hpp"

#include <zlib.h>

namespace tenure::lab {

using trace_format::codec;

namespace {

[[nodiscard]] bool deflate_all(std::string_view plain, std::string& to) {
    uLongf length = ::compressBound(static_cast<uLong>(plain.size()));
    to.resize(length);
    const int answer = ::compress2(reinterpret_cast<Bytef*>(to.data()), &length,
                                   reinterpret_cast<const Bytef*>(plain.data()), static_cast<uLong>(plain.size()), 6);
    to.resize(length);
    return answer == Z_OK;
}

[[nodiscard]] bool inflate_all(std::string_view stored, std::size_t bytes, std::string& to) {
    to.resize(bytes);
    uLongf length = static_cast<uLongf>(bytes);
    const int answer = ::uncompress(reinterpret_cast<Bytef*>(to.data()), &length,
                                    reinterpret_cast<const Bytef*>(stored.data()), static_cast<uLong>(stored.size()));
    return answer == Z_OK && length == bytes;
}

}

codec best_codec() { return has_zstd() ? codec::zstd : codec::deflate; }

codec compress(std::string_view plain, codec by, std::string& to) {
    const bool is_done = by == codec::zstd      ? zstd_compress(plain, to)
                         : by == codec::deflate ? deflate_all(plain, to)
                                                : false;
    if (is_done && to.size() < plain.size()) return by;
    to = plain;
    return codec::plain;
}

bool decompress(std::string_view stored, codec by, std::size_t bytes, std::string& to) {
    if (by == codec::zstd) return zstd_decompress(stored, bytes, to);
    return by == codec::deflate && inflate_all(stored, bytes, to);
}

}
