// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/report/pprof.hpp"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "observe/profile/pprof/pprof_fields.hpp"
#include "observe/profile/report/profile_text.hpp"

namespace tenure::lab {

namespace {

namespace field = pprof_field;

/// Encodes a message: fields of numbers and of bytes. Fields that are zero or empty are left out, as the format says.
class message {
public:
    void number(int field, std::uint64_t value) {
        if (value == 0) return;
        varint(static_cast<std::uint64_t>(field) << 3U);
        varint(value);
    }
    void bytes(int field, std::string_view value) {
        varint(static_cast<std::uint64_t>(field) << 3U | 2U);
        varint(value.size());
        text_ += value;
    }
    void packed(int field, const std::vector<std::uint64_t>& values) {
        message all;
        for (const std::uint64_t each : values) all.varint(each);
        bytes(field, all.text_);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    void varint(std::uint64_t value) {
        constexpr unsigned more = 0x80;
        for (; value >= more; value >>= 7U) text_ += static_cast<char>(value | more);
        text_ += static_cast<char>(value);
    }
    std::string text_;
};

/// Numbers things from one on, in the order of their first use.
template<class Key>
class numbering {
public:
    /// Returns   the number, and whether it is new.
    std::pair<std::uint64_t, bool> of(const Key& key) {
        const auto [entry, is_new] = known_.try_emplace(key, known_.size() + 1);
        return {entry->second, is_new};
    }

private:
    std::map<Key, std::uint64_t> known_;
};

class encoder {
public:
    explicit encoder(const named_profile& profile) : profile_(profile) { static_cast<void>(string("")); }

    [[nodiscard]] std::string encode() {
        for (const auto& [type, unit] : {std::pair{"alloc_objects", "count"}, std::pair{"alloc_space", "bytes"},
                                         std::pair{"inuse_objects", "count"}, std::pair{"inuse_space", "bytes"}})
            whole_.bytes(field::sample_type, value_type(type, unit));
        for (const profile_mapping& each : profile_.mappings) add_mapping(each);
        for (const profile_stack& each : profile_.stacks) add_sample(each);
        constexpr std::uint64_t ns_per_ms = 1'000'000;
        const std::uint64_t lasted_ms = profile_.header.saved_ms - profile_.header.started_ms;
        whole_.number(field::time_nanos, profile_.header.started_ms * ns_per_ms);
        whole_.number(field::duration_nanos, lasted_ms * ns_per_ms);
        whole_.bytes(field::period_type, value_type("space", "bytes"));
        whole_.number(field::period, profile_.header.mean_bytes);
        whole_.number(field::comment, string(profile_.command));
        whole_.number(field::comment,
                      string(fmt::format("live: {}{}", estimate_text(profile_.live),
                                         profile_.is_calibrated ? ", corrected by the heap's counts" : "")));
        whole_.number(field::default_sample_type, string("inuse_space"));
        for (const std::string& each : strings_) whole_.bytes(field::string_table, each);
        return whole_.text();
    }

private:
    std::uint64_t string(const std::string& text) {
        const auto [number, is_new] = string_numbers_.of(text);
        if (is_new) strings_.push_back(text);
        return number - 1; // the first is the empty one
    }
    std::string value_type(const char* type, const char* unit) {
        message one;
        one.number(field::type, string(type));
        one.number(field::unit, string(unit));
        return one.text();
    }
    void add_mapping(const profile_mapping& mapping) {
        message one;
        one.number(field::mapping_id, mappings_.of(mapping.begin).first);
        one.number(field::memory_start, mapping.begin);
        one.number(field::memory_limit, mapping.end);
        one.number(field::file_offset, mapping.file_offset);
        one.number(field::filename, string(mapping.path));
        one.number(field::build_id, string(mapping.build_id));
        one.number(field::has_functions, 1);
        whole_.bytes(field::mapping, one.text());
    }
    [[nodiscard]] std::uint64_t mapping_of(std::uint64_t address) {
        for (const profile_mapping& each : profile_.mappings) {
            if (address >= each.begin && address < each.end) return mappings_.of(each.begin).first;
        }
        return 0;
    }
    std::uint64_t function(const named_frame& frame) {
        const std::string called = shown(frame);
        const auto [number, is_new] = functions_.of({called, frame.file});
        if (is_new) {
            message one;
            one.number(field::function_number, number);
            one.number(field::name, string(called));
            one.number(field::system_name, string(called));
            one.number(field::function_file, string(frame.file));
            whole_.bytes(field::function, one.text());
        }
        return number;
    }
    std::uint64_t location(const profile_frame& frame) {
        const auto [number, is_new] = locations_.of(frame.address);
        if (!is_new) return number;
        message one;
        one.number(field::location_number, number);
        one.number(field::its_mapping, mapping_of(frame.address - 1));
        one.number(field::address, frame.address);
        for (const named_frame& each : frame.functions) {
            message line;
            line.number(field::function_id, function(each));
            line.number(field::line_number, static_cast<std::uint64_t>(each.line > 0 ? each.line : 0));
            one.bytes(field::line, line.text());
        }
        whole_.bytes(field::location, one.text());
        return number;
    }
    static std::uint64_t rounded(double value) {
        return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
    }
    void add_sample(const profile_stack& stack) {
        std::vector<std::uint64_t> locations;
        for (const profile_frame& each : stack.frames) locations.push_back(location(each));
        message one;
        one.packed(field::location_id, locations);
        one.packed(field::value, {rounded(stack.allocated.blocks), rounded(stack.allocated.bytes),
                                  rounded(stack.live.blocks), rounded(stack.live.bytes)});
        if (!stack.tag.empty()) {
            message label;
            label.number(field::key, string("tag"));
            label.number(field::str, string(stack.tag));
            one.bytes(field::label, label.text());
        }
        whole_.bytes(field::sample, one.text());
    }

    const named_profile& profile_;
    message whole_;
    numbering<std::string> string_numbers_;
    std::vector<std::string> strings_;
    numbering<std::uint64_t> mappings_, locations_;
    numbering<std::pair<std::string, std::string>> functions_;
};

}

std::string pprof_message(const named_profile& profile) { return encoder(profile).encode(); }

std::string gzipped(const std::string& bytes) {
    constexpr int window_bits_of_gzip = 15 + 16, memory_level = 8;
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits_of_gzip, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    // zlib does not change what it reads.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    packed.resize(is_done ? stream.total_out : 0);
    deflateEnd(&stream);
    return packed;
}

std::string to_pprof(const named_profile& profile) { return gzipped(pprof_message(profile)); }

}
