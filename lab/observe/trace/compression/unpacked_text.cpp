// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/compression/unpacked_text.hpp"

#include <zlib.h>

#include <algorithm>

namespace tenure::lab {

namespace {

class plain_text final : public unpacked_text {
public:
    explicit plain_text(std::string_view file) : left_(file) {}

    bool append_next(std::string& to) override {
        const std::string_view part = left_.substr(0, part_bytes);
        to += part;
        left_.remove_prefix(part.size());
        return !part.empty();
    }

private:
    std::string_view left_;
};

class gzip_text final : public unpacked_text {
public:
    explicit gzip_text(std::string_view file) : left_(file) {
        constexpr int with_gzip_header = 16 + MAX_WBITS;
        is_open_ = ::inflateInit2(&stream_, with_gzip_header) == Z_OK;
        is_damaged_ = !is_open_;
    }
    ~gzip_text() override {
        if (is_open_) ::inflateEnd(&stream_);
    }
    gzip_text(const gzip_text&) = delete;
    gzip_text& operator=(const gzip_text&) = delete;

    bool append_next(std::string& to) override {
        const std::size_t begin = to.size();
        while (to.size() == begin && !is_over_ && !is_damaged_) {
            to.resize(begin + part_bytes);
            const std::size_t made = inflate_to(to.data() + begin);
            to.resize(begin + made);
        }
        return to.size() != begin;
    }

private:
    /// Fills at most part_bytes. Returns   how many.
    [[nodiscard]] std::size_t inflate_to(char* to) {
        const auto given = static_cast<uInt>(std::min<std::size_t>(left_.size(), std::size_t{1} << 30));
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
        stream_.avail_in = given;
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = static_cast<uInt>(part_bytes);
        const int answer = ::inflate(&stream_, Z_NO_FLUSH);
        const std::size_t used = given - stream_.avail_in, made = part_bytes - stream_.avail_out;
        left_.remove_prefix(used);
        if (answer == Z_STREAM_END) {
            // gzip files may be written one behind another.
            is_over_ = packing_of(left_) != text_packing::gzip;
            is_damaged_ = !is_over_ && ::inflateReset(&stream_) != Z_OK;
        } else if (answer != Z_OK || (used == 0 && made == 0)) {
            is_damaged_ = true;
        }
        return made;
    }

    std::string_view left_;
    z_stream stream_{};
    bool is_open_ = false, is_over_ = false;
};

}

text_packing packing_of(std::string_view file) {
    if (file.starts_with("\x1F\x8B")) return text_packing::gzip;
    if (file.starts_with("\x28\xB5\x2F\xFD")) return text_packing::zstd;
    return file.starts_with("PK\x03\x04") ? text_packing::zip : text_packing::plain;
}

std::unique_ptr<unpacked_text> unpack(std::string_view file, text_packing packing) {
    switch (packing) {
    case text_packing::plain: return std::make_unique<plain_text>(file);
    case text_packing::gzip: return std::make_unique<gzip_text>(file);
    case text_packing::zstd: return unpack_zstd(file);
    case text_packing::zip: break;
    }
    return nullptr;
}

}
