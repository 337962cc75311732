// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/pprof/pprof_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "observe/profile/pprof/pprof_fields.hpp"
#include "observe/profile/pprof/wire.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

namespace field = pprof_field;

constexpr std::size_t max_frames_of_stack = 4096;

/// Which of a sample's values is what; at most one of them each.
struct value_places {
    std::optional<std::size_t> live_blocks, live_bytes, allocated_blocks, allocated_bytes;
};

struct one_function {
    std::uint64_t name = 0, file = 0; ///< indices of texts
};

struct one_line {
    std::uint64_t function = 0;
    int line = 0;
};

struct one_location {
    std::uint64_t address = 0;
    std::vector<one_line> lines;
};

class decoder {
public:
    explicit decoder(std::string_view message) : message_(message) {
        // A location that is named often makes a profile larger than its file; a foreign one is not to take all memory.
        constexpr std::size_t least_room = std::size_t{64} << 20, most_room = std::size_t{2} << 30, room_per_byte = 256;
        room_ = std::clamp(message.size() * room_per_byte, least_room, most_room);
    }

    [[nodiscard]] pprof_profile decode() {
        if (read_tables() && find_values()) read_samples();
        pprof_profile read;
        read.error = error_;
        if (!error_.empty()) return read;
        std::stable_sort(profile_.stacks.begin(), profile_.stacks.end(),
                         [](const profile_stack& a, const profile_stack& b) {
                             return a.live.bytes != b.live.bytes ? a.live.bytes > b.live.bytes
                                                                 : a.allocated.bytes > b.allocated.bytes;
                         });
        read.profile = std::move(profile_);
        return read;
    }

private:
    [[nodiscard]] bool refuse(std::string why) {
        if (error_.empty()) error_ = std::move(why);
        return false;
    }
    [[nodiscard]] bool refuse_damaged(std::string_view what) {
        return refuse(fmt::format("The file is damaged: {}.", what));
    }
    /// Requires  the index was checked.
    [[nodiscard]] std::string_view text(std::uint64_t index) const { return texts_[index]; }
    [[nodiscard]] bool is_text(std::uint64_t index) const { return index < texts_.size(); }

    /// All that samples refer to may come behind them.
    [[nodiscard]] bool read_tables() {
        bool is_right = true;
        const bool is_sound = for_each_field(message_, [&](const wire_field& each) {
            switch (each.number) {
            case field::sample_type: types_.push_back(each.bytes); break;
            case field::sample: samples_.push_back(each.bytes); break;
            case field::location: is_right = is_right && read_location(each.bytes); break;
            case field::function: is_right = is_right && read_function(each.bytes); break;
            case field::mapping:
                if (first_mapping_.empty()) first_mapping_ = each.bytes;
                break;
            case field::string_table: texts_.push_back(each.bytes); break;
            case field::time_nanos: profile_.header.started_ms = each.value / ns_per_ms; break;
            case field::duration_nanos: lasted_ms_ = each.value / ns_per_ms; break;
            case field::period_type: period_type_ = each.bytes; break;
            case field::period: period_ = each.value; break;
            default: break;
            }
        });
        if (!is_sound) return refuse("This is not a profile in pprof's format, or it is damaged.");
        if (types_.empty() || texts_.empty() || !texts_.front().empty())
            return refuse("This is not a profile in pprof's format: it names no kind of values.");
        if (!is_right) return false;
        for (const auto& [number, each] : functions_) {
            if (!is_text(each.name) || !is_text(each.file)) return refuse_damaged("a function has no name");
        }
        profile_.header.saved_ms =
            profile_.header.started_ms +
            std::min(lasted_ms_, std::numeric_limits<std::uint64_t>::max() - profile_.header.started_ms);
        return read_program();
    }

    [[nodiscard]] bool read_program() {
        std::uint64_t name = 0;
        if (!for_each_field(first_mapping_,
                            [&](const wire_field& each) {
                                if (each.number == field::filename) name = each.value;
                            }) ||
            !is_text(name))
            return refuse_damaged("a mapping has no name");
        profile_.program = printable(std::filesystem::path(std::string{text(name)}).filename().string());
        return true;
    }

    [[nodiscard]] bool read_function(std::string_view message) {
        one_function read;
        std::uint64_t number = 0;
        const bool is_sound = for_each_field(message, [&](const wire_field& each) {
            if (each.number == field::function_number) number = each.value;
            if (each.number == field::name) read.name = each.value;
            if (each.number == field::function_file) read.file = each.value;
        });
        if (!is_sound || number == 0 || !functions_.try_emplace(number, read).second)
            return refuse_damaged("a function is not valid");
        return true;
    }

    [[nodiscard]] bool read_location(std::string_view message) {
        one_location read;
        std::uint64_t number = 0;
        bool are_sound = true;
        const bool is_sound = for_each_field(message, [&](const wire_field& each) {
            if (each.number == field::location_number) number = each.value;
            if (each.number == field::address) read.address = each.value;
            if (each.number != field::line) return;
            one_line line;
            are_sound = for_each_field(each.bytes,
                                       [&](const wire_field& part) {
                                           if (part.number == field::function_id) line.function = part.value;
                                           if (part.number == field::line_number && part.value <= INT32_MAX)
                                               line.line = static_cast<int>(part.value);
                                       }) &&
                        are_sound;
            read.lines.push_back(line);
        });
        if (!is_sound || !are_sound || number == 0 || !locations_.try_emplace(number, std::move(read)).second)
            return refuse_damaged("a location is not valid");
        return true;
    }

    /// The name and the unit of a kind of values.
    [[nodiscard]] bool read_type(std::string_view message, std::string_view& name, std::string_view& unit) {
        std::uint64_t name_index = 0, unit_index = 0;
        const bool is_sound = for_each_field(message, [&](const wire_field& each) {
            if (each.number == field::type) name_index = each.value;
            if (each.number == field::unit) unit_index = each.value;
        });
        if (!is_sound || !is_text(name_index) || !is_text(unit_index))
            return refuse_damaged("a kind of values has no name");
        name = text(name_index);
        unit = text(unit_index);
        return true;
    }

    [[nodiscard]] bool find_values() {
        std::string found;
        std::string_view name, unit;
        for (std::size_t index = 0; index < types_.size(); ++index) {
            if (!read_type(types_[index], name, unit)) return false;
            if (found.size() < 200) found += fmt::format("{}{}", found.empty() ? "" : ", ", printable(name));
            if (unit == "count" && (name == "inuse_objects" || name == "objects")) places_.live_blocks = index;
            if (unit == "bytes" && (name == "inuse_space" || name == "space")) places_.live_bytes = index;
            if (unit == "count" && name == "alloc_objects") places_.allocated_blocks = index;
            if (unit == "bytes" && name == "alloc_space") places_.allocated_bytes = index;
        }
        if (!places_.live_bytes.has_value() && !places_.allocated_bytes.has_value())
            return refuse(fmt::format("This is no heap profile: it counts {}, not inuse_space or alloc_space.", found));
        if (period_type_.empty()) return true;
        if (!read_type(period_type_, name, unit)) return false;
        if (name == "space" && unit == "bytes" && period_ <= INT64_MAX) profile_.header.mean_bytes = period_;
        return true;
    }

    void read_samples() {
        for (const std::string_view each : samples_) {
            if (!read_sample(each)) return;
        }
    }

    [[nodiscard]] bool read_sample(std::string_view message) {
        std::vector<std::uint64_t> locations, values;
        profile_stack stack;
        bool are_right = true;
        const bool is_sound = for_each_field(message, [&](const wire_field& each) {
            if (each.number == field::location_id) are_right = append_numbers(each, locations) && are_right;
            if (each.number == field::value) are_right = append_numbers(each, values) && are_right;
            if (each.number == field::label) are_right = read_label(each.bytes, stack) && are_right;
        });
        if (!is_sound || !are_right || values.size() != types_.size() || locations.size() > max_frames_of_stack)
            return refuse_damaged("a sample is not valid");
        for (const std::uint64_t each : locations) {
            if (!add_frame(each, stack)) return false;
        }
        stack.live = estimate_of(places_.live_blocks, places_.live_bytes, values);
        stack.allocated = estimate_of(places_.allocated_blocks, places_.allocated_bytes, values);
        if (!error_.empty()) return false;
        add(profile_.live, stack.live);
        add(profile_.allocated, stack.allocated);
        if (!take_room(stack.tag.size())) return false;
        profile_.stacks.push_back(std::move(stack));
        return true;
    }

    /// Returns   whether the label is valid. Of all labels, the owner tag is kept.
    [[nodiscard]] bool read_label(std::string_view message, profile_stack& to) {
        std::uint64_t key = 0, value = 0;
        const bool is_sound = for_each_field(message, [&](const wire_field& each) {
            if (each.number == field::key) key = each.value;
            if (each.number == field::str) value = each.value;
        });
        if (!is_sound || !is_text(key) || !is_text(value)) return false;
        if (text(key) == "tag") to.tag = printable(text(value));
        return true;
    }

    [[nodiscard]] bool take_room(std::size_t bytes) {
        constexpr std::size_t of_each = 128;
        if (bytes + of_each > room_) return refuse("The profile is too large: its stacks repeat themselves too often.");
        room_ -= bytes + of_each;
        return true;
    }

    [[nodiscard]] bool add_frame(std::uint64_t number, profile_stack& to) {
        const auto location = locations_.find(number);
        if (location == locations_.end()) return refuse_damaged("a sample has no location");
        profile_frame frame{location->second.address, {}};
        for (const one_line& each : location->second.lines) {
            const auto function = functions_.find(each.function);
            if (function == functions_.end()) return refuse_damaged("a location has no function");
            named_frame named;
            const std::string_view name = text(function->second.name), file = text(function->second.file);
            if (!take_room(name.size() + file.size())) return false;
            named.function = printable(name);
            named.file = printable(file);
            named.line = each.line;
            named.offset = frame.address;
            frame.functions.push_back(std::move(named));
        }
        if (frame.functions.empty()) { // without symbols
            if (!take_room(0)) return false;
            named_frame unknown;
            unknown.offset = frame.address;
            frame.functions.push_back(std::move(unknown));
        }
        to.frames.push_back(std::move(frame));
        return true;
    }

    /// A stack's blocks are taken as of one size, its mean.
    [[nodiscard]] profile_format::estimate estimate_of(std::optional<std::size_t> blocks,
                                                       std::optional<std::size_t> bytes,
                                                       const std::vector<std::uint64_t>& values) {
        if (!bytes.has_value()) return {};
        const std::uint64_t all = values[*bytes], count = blocks.has_value() ? values[*blocks] : 0;
        if (all > INT64_MAX || count > INT64_MAX) { // a negative number
            static_cast<void>(refuse("The profile has values below zero: it is a difference itself."));
            return {};
        }
        profile_format::estimate found{};
        found.bytes = static_cast<double>(all);
        found.blocks = static_cast<double>(count);
        if (all != 0) found.samples = std::max<std::uint64_t>(count, 1);
        const auto mean = static_cast<double>(profile_.header.mean_bytes);
        if (all == 0 || count == 0 || !(mean > 0)) return found;
        const double size = found.bytes / found.blocks;
        const double chance = -std::expm1(-size / mean);
        if (!(chance > 0)) return found;
        constexpr double most = 1e18;
        found.samples = static_cast<std::uint64_t>(std::clamp(std::round(found.blocks * chance), 1.0, most));
        found.variance = found.bytes * size * (1 - chance) / chance;
        return found;
    }

    static constexpr std::uint64_t ns_per_ms = 1'000'000;

    std::string_view message_, first_mapping_, period_type_;
    std::vector<std::string_view> types_, samples_, texts_;
    std::unordered_map<std::uint64_t, one_function> functions_;
    std::unordered_map<std::uint64_t, one_location> locations_;
    value_places places_;
    std::uint64_t period_ = 0, lasted_ms_ = 0;
    std::size_t room_ = 0;
    named_profile profile_;
    std::string error_;
};

/// Returns   a sentence when the bytes cannot be decompressed.
[[nodiscard]] std::string decompress(std::string_view bytes, std::size_t max_message_bytes, std::string& to) {
    constexpr int window_bits_of_gzip = 15 + 16;
    z_stream stream{};
    if (inflateInit2(&stream, window_bits_of_gzip) != Z_OK) return "The file could not be decompressed: out of memory.";
    std::vector<char> part(std::size_t{256} * 1024);
    int state = Z_OK;
    std::size_t given = 0;
    while (state == Z_OK && to.size() <= max_message_bytes) {
        if (stream.avail_in == 0) {
            const std::size_t more = std::min(bytes.size() - given, std::size_t{1} << 30);
            // zlib does not change what it reads.
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));
            stream.avail_in = static_cast<uInt>(more);
            given += more;
        }
        stream.next_out = reinterpret_cast<Bytef*>(part.data());
        stream.avail_out = static_cast<uInt>(part.size());
        state = inflate(&stream, Z_NO_FLUSH); // Z_BUF_ERROR when the file ends early
        to.append(part.data(), part.size() - stream.avail_out);
    }
    const bool has_more = stream.avail_in != 0 || given < bytes.size();
    inflateEnd(&stream);
    if (to.size() > max_message_bytes)
        return fmt::format("The profile is too large: more than {} MiB without compression.", max_message_bytes >> 20U);
    if (state == Z_BUF_ERROR) return "The file ends early.";
    if (state != Z_STREAM_END) return "The file is damaged: it cannot be decompressed.";
    return has_more ? "The file is damaged: something follows its end." : std::string{};
}

}

bool is_gzipped(std::string_view bytes) { return bytes.starts_with("\x1F\x8B"); }

pprof_profile read_pprof_message(std::string_view message) { return decoder(message).decode(); }

pprof_profile read_pprof(std::string_view bytes, std::size_t max_message_bytes) {
    std::string message;
    if (std::string error = decompress(bytes, max_message_bytes, message); !error.empty())
        return {{}, std::move(error)};
    return read_pprof_message(message);
}

}
