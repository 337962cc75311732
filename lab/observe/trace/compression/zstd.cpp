// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <zstd.h>

#include "observe/trace/compression/compression.hpp"
#include "observe/trace/compression/unpacked_text.hpp"

namespace tenure::lab {

namespace {

class zstd_text final : public unpacked_text {
public:
    explicit zstd_text(std::string_view file) : stream_(::ZSTD_createDStream()), left_{file.data(), file.size(), 0} {
        is_damaged_ = stream_ == nullptr;
    }
    ~zstd_text() override { ::ZSTD_freeDStream(stream_); }
    zstd_text(const zstd_text&) = delete;
    zstd_text& operator=(const zstd_text&) = delete;

    bool append_next(std::string& to) override {
        const std::size_t begin = to.size();
        while (to.size() == begin && !is_damaged_ && (left_.pos < left_.size || is_inside_)) {
            to.resize(begin + part_bytes);
            ZSTD_outBuffer part{to.data() + begin, part_bytes, 0};
            const std::size_t before = left_.pos;
            const std::size_t answer = ::ZSTD_decompressStream(stream_, &part, &left_);
            to.resize(begin + part.pos);
            is_inside_ = answer != 0; // of a frame; frames may be written one behind another
            is_damaged_ = ::ZSTD_isError(answer) != 0 || (is_inside_ && left_.pos == before && part.pos == 0);
        }
        return to.size() != begin;
    }

private:
    ZSTD_DStream* stream_;
    ZSTD_inBuffer left_;
    bool is_inside_ = false;
};

}

std::unique_ptr<unpacked_text> unpack_zstd(std::string_view file) { return std::make_unique<zstd_text>(file); }

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
