// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/profile_writer.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <tenure/base/report.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/profile/build_lines.hpp>
#include <tenure/heap/detail/profile/section_writer.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

namespace format = profile_format;

char part_of_file[4096];

/// Calls `take(part)` with one part of the file after another.
template<class Take>
void read_file(const char* path, Take take) noexcept {
    (void)platform::read_in_parts(
        path, part_of_file, sizeof part_of_file,
        [](void* context, std::string_view part) noexcept { (*static_cast<Take*>(context))(part); }, &take);
}

void write_mappings(section_writer& to) noexcept {
    alignas(build_lines) static char place[sizeof(build_lines)]; // signal handlers have small stacks
    build_lines& builds = *::new (place) build_lines;
    read_file(platform::mappings_file, [&](std::string_view part) noexcept {
        to.text(format::section::mappings, part);
        builds.read(part, [&](std::string_view line) { to.text(format::section::builds, line); });
    });
}

void write_tags(section_writer& to) noexcept {
    const std::size_t count = tag::count();
    for (std::size_t id = 1; id < count; ++id) {
        report_text line;
        line.number(id).text(" ").text(tag::from_id(static_cast<std::uint16_t>(id)).name()).text("\n");
        to.text(format::section::tags, line.view());
    }
}

void write_records(section_writer& to, const profile_records& records) noexcept {
    to.begin(format::section::sites, sizeof(format::site), records.site_count());
    for (std::size_t index = 0; index < records.site_count(); ++index) {
        const format::site site = records.site_at(index);
        to.words(&site, sizeof site);
    }
    to.begin(format::section::frames, section_writer::word_bytes, records.frames().size());
    to.words(records.frames().data(), records.frames().size_bytes());
    to.begin(format::section::live, sizeof(format::live_sample), records.live_count());
    records.for_each_live([&](const format::live_sample& each) { to.words(&each, sizeof each); });
}

void write_classes(section_writer& to, format::section kind, std::span<const format::size_class> classes) noexcept {
    to.begin(kind, sizeof(format::size_class), classes.size());
    to.words(classes.data(), classes.size_bytes());
}

/// Storage for a writer, which is used by one thread at a time.
alignas(section_writer) char place_of_writer[sizeof(section_writer)];

}

bool write_profile(profile_records& records, const profile_moment& moment, std::string_view path) noexcept {
    auto* const to = ::new (place_of_writer) section_writer(path);
    {
        const platform::lock_guard lock(records.mutex());
        format::file_header header{};
        std::copy(std::begin(format::magic), std::end(format::magic), header.magic);
        header.version = format::version;
        header.header_bytes = sizeof header;
        header.mean_bytes = moment.mean_bytes;
        header.started_ms = moment.started_ms;
        header.saved_ms = platform::unix_ms();
        header.peak_ms = records.peak_ms();
        header.process = platform::process_id();
        header.written_at = moment.occasion;
        header.lost_samples = records.lost_count();
        to->words(&header, sizeof header);
        write_records(*to, records);
    }
    write_classes(*to, format::section::classes, moment.classes);
    if (!moment.classes_before.empty()) write_classes(*to, format::section::before, moment.classes_before);
    if (moment.write_pages != nullptr) {
        moment.write_pages(*to);
        read_file(platform::memory_file,
                  [&](std::string_view part) noexcept { to->text(format::section::memory, part); });
    }
    write_mappings(*to);
    read_file(platform::arguments_file,
              [&](std::string_view part) noexcept { to->text(format::section::arguments, part); });
    write_tags(*to);
    const bool is_written = to->finish();
    to->~section_writer();
    return is_written;
}

}
