// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/usage_json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json/json_fields.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t max_log_bytes = std::uint64_t{64} << 20U;

void read_limit(fields& from, const char* key, std::optional<std::uint64_t>& into) {
    if (from.find(key) == nullptr) return;
    std::uint64_t value = 0;
    from.read_count(key, value);
    into = value;
}

tag_frames read_tag(fields from, std::size_t frame_count) {
    tag_frames made;
    from.read("name", made.name);
    read_limit(from, "limit_bytes", made.limit_bytes);
    read_limit(from, "threshold_bytes", made.threshold_bytes);
    const auto read = [&](const char* key, std::vector<std::int64_t>& into) {
        from.read_integers(key, into);
        const bool fits = into.size() == frame_count &&
                          std::none_of(into.begin(), into.end(), [](std::int64_t value) { return value < 0; });
        if (from.ok() && !fits) from.note(from.place(key), fmt::format("{} values from 0", frame_count));
    };
    read("persistent_bytes", made.persistent_bytes);
    read("temp_job_bytes", made.temp_job_bytes);
    read("temp_bytes", made.temp_bytes);
    read("refusals", made.refusals);
    return made;
}

}

std::int64_t peak_of(const std::vector<std::int64_t>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::int64_t last_of(const std::vector<std::int64_t>& values) { return values.empty() ? 0 : values.back(); }

std::int64_t tag_frames::peak_bytes() const { return peak_of(persistent_bytes); }

bool tag_frames::is_exceeded(std::size_t index) const {
    const auto used = static_cast<std::uint64_t>(persistent_bytes[index]);
    return refusals[index] > 0 || used > limit_bytes.value_or(UINT64_MAX) ||
           used > threshold_bytes.value_or(UINT64_MAX);
}

std::size_t tag_frames::exceeded_count() const {
    std::size_t count = 0;
    for (std::size_t index = 0; index < persistent_bytes.size(); ++index) count += is_exceeded(index) ? 1U : 0U;
    return count;
}

frame_usages parse_usage(std::string_view text, const std::string& name) {
    frame_usages made;
    const nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
    if (!whole.is_object() || !whole.contains("format") || whole["format"] != "tenure frame usage") {
        made.error = name + ": is not a log of frame_usage_log::write()";
        return made;
    }
    std::string error;
    fields from(whole, "", error);
    from.read_integers("frames", made.frames);
    from.read_objects("tags", made.tags, [&](const fields& each) { return read_tag(each, made.frames.size()); });
    if (!error.empty()) made.error = name + ": " + error;
    return made;
}

frame_usages load_usage(const std::filesystem::path& path) {
    const file_text file = read_file(path, max_log_bytes);
    if (file.ok()) return parse_usage(file.text, path.string());
    frame_usages made;
    made.error = path.string() + ": " + file.error;
    return made;
}

}
