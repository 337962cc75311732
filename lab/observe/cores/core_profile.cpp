// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_profile.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "observe/cores/core_heap.hpp"
#include "observe/cores/core_layout.hpp"
#include "observe/cores/core_samples.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

/// A file as the process writes it, in memory: its reader then checks it as any other.
class profile_text {
public:
    explicit profile_text(const format::file_header& header) { add(&header, sizeof header); }

    template<class Entry>
    void section(format::section kind, const std::vector<Entry>& entries) {
        section(kind, sizeof(Entry), entries.size(), entries.data(), entries.size() * sizeof(Entry));
    }
    void section(format::section kind, const std::string& text) {
        section(kind, 1, text.size(), text.data(), text.size());
    }
    [[nodiscard]] std::string finished() {
        format::checksum sum;
        for (std::size_t at = 0; at < text_.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, text_.data() + at, sizeof word);
            sum.add(&word, 1);
        }
        section(format::section::end, std::vector<std::uint64_t>{sum.value()});
        return std::move(text_);
    }

private:
    void section(format::section kind, std::size_t entry_bytes, std::size_t count, const void* data,
                 std::size_t bytes) {
        const format::section_header header{kind, static_cast<std::uint32_t>(entry_bytes), count};
        add(&header, sizeof header);
        add(data, bytes);
        text_.resize((text_.size() + 7) / 8 * 8);
    }
    void add(const void* data, std::size_t bytes) { text_.append(static_cast<const char*>(data), bytes); }

    std::string text_;
};

/// The layout of the heap that the program used: of several copies of the library the one with a profile, or with the
/// most memory.
[[nodiscard]] core_layout chosen_layout(const core_file& core, const std::vector<std::uint64_t>& layouts) {
    std::vector<core_layout> read;
    std::string refused;
    for (const std::uint64_t each : layouts) {
        try {
            read.emplace_back(core, each);
        } catch (const core_error& error) {
            refused = error.what();
        }
    }
    if (read.empty()) throw core_error(refused);
    const auto rank_of = [&](const core_layout& layout) {
        return std::pair{core.number(layout.root("is_profiling"), 1) != 0, reserved_bytes_of(layout)};
    };
    return *std::max_element(read.begin(), read.end(),
                             [&](const core_layout& a, const core_layout& b) { return rank_of(a) < rank_of(b); });
}

[[nodiscard]] std::string rights_of(const core_part* part) {
    const std::uint32_t rights = part == nullptr ? std::uint32_t{PF_R} : part->rights;
    return fmt::format("{}{}{}p", (rights & PF_R) != 0 ? 'r' : '-', (rights & PF_W) != 0 ? 'w' : '-',
                       (rights & PF_X) != 0 ? 'x' : '-');
}

[[nodiscard]] std::string maps_line(std::uint64_t begin, std::uint64_t end, const std::string& rights,
                                    std::uint64_t offset, const std::string& path) {
    return fmt::format("{:x}-{:x} {} {:08x} 00:00 0 {}\n", begin, end, rights, offset, path);
}

/// As in /proc/PID/maps.
[[nodiscard]] std::string maps_of(const core_file& core) {
    std::string text;
    for (const core_mapping& each : core.mappings())
        text += maps_line(each.begin, each.end, rights_of(core.part_of(each.begin)), each.file_offset, each.path);
    return text;
}

/// As in /proc/PID/smaps, with what is known to have been touched.
[[nodiscard]] std::string memory_of(const core_file& core) {
    std::string text;
    for (const core_part& each : core.parts()) {
        std::uint64_t touched = 0;
        core.for_each_touched(each.begin, each.end, [&](std::uint64_t, std::uint64_t bytes) { touched += bytes; });
        const core_mapping* const mapping = core.mapping_of(each.begin);
        text += maps_line(each.begin, each.memory_end, rights_of(&each), 0, mapping == nullptr ? "" : mapping->path);
        text += fmt::format("Rss: {} kB\n", touched / 1024);
    }
    return text;
}

[[nodiscard]] std::string builds_of(const core_file& core) {
    std::string text;
    for (const auto& [begin, id] : core.builds()) text += fmt::format("{:016x} {}\n", begin, id);
    return text;
}

/// What is not known, in sentences.
[[nodiscard]] std::vector<std::string> notes_on(const core_file& core, const core_heap& heap,
                                                const core_samples& samples, std::size_t copies) {
    std::vector<std::string> notes{
        "A core file does not say which pages were in memory: those with a byte that is not zero count as resident, "
        "and the kernel's own count is not known."};
    std::uint64_t absent = 0;
    for (const core_part& each : core.parts()) absent += each.memory_end - each.end;
    if (absent != 0) {
        notes.push_back(
            fmt::format("{:.1f} MiB of addresses are without contents in the core (files, memory that was left "
                        "out) and count as not resident.",
                        static_cast<double>(absent) / (1 << 20)));
    }
    if (heap.unclear_pages != 0) {
        notes.push_back(fmt::format("{} of the heap have records that contradict themselves, because a thread was "
                                    "changing them or something wrote over them: they count as free.",
                                    count_text(heap.unclear_pages, "page")));
    }
    if (copies > 1) {
        notes.push_back(fmt::format("The process has {} copies of the library; this is the heap of the one that {}.",
                                    copies, samples.is_running ? "has a heap profile" : "has the most memory"));
    }
    if (heap.is_passthrough)
        notes.emplace_back("The heap passed its requests on to malloc (passthrough), whose memory is not known.");
    if (samples.is_running) {
        notes.emplace_back("A core file has no time: ages count up to the latest recorded block.");
    } else {
        notes.emplace_back("No heap profile was being recorded, so the call stacks are not known. To have them in the "
                           "next core file, start the program with TENURE_PROFILE=1 and TENURE_PROFILE_SAMPLE=16384.");
    }
    return notes;
}

[[nodiscard]] std::string text_of(const core_file& core, const core_heap& heap, const core_samples& samples,
                                  const core_layout& layout) {
    format::file_header header{};
    std::copy(std::begin(format::magic), std::end(format::magic), header.magic);
    header.version = format::version;
    header.header_bytes = sizeof header;
    header.mean_bytes = samples.mean_bytes;
    header.saved_ms = samples.latest_ms;
    header.process = core.process();
    header.lost_samples = samples.lost_samples;
    profile_text text(header);
    text.section(format::section::sites, samples.sites);
    text.section(format::section::frames, samples.frames);
    text.section(format::section::live, samples.live);
    text.section(format::section::classes, heap.classes);
    text.section(format::section::pages, heap.pages);
    text.section(format::section::cached, heap.cached);
    text.section(format::section::memory, memory_of(core));
    text.section(format::section::mappings, maps_of(core));
    text.section(format::section::builds, builds_of(core));
    std::string arguments = core.arguments();
    std::replace(arguments.begin(), arguments.end(), ' ', '\0');
    text.section(format::section::arguments, arguments);
    text.section(format::section::tags, read_tag_names(layout));
    return text.finished();
}

}

saved_profile read_core(std::unique_ptr<core_bytes> bytes, const std::string& program, core_file::file_opener open) {
    saved_profile read;
    try {
        core_file core(std::move(bytes), program, std::move(open));
        const std::vector<std::uint64_t> layouts = core_layout::find(core);
        if (layouts.empty()) {
            throw core_error("No heap of Tenure is in this core file: the program did not use the library, or one from "
                             "before it carried its layout; or the core leaves out the library's data, see "
                             "/proc/PID/coredump_filter.");
        }
        core.find_touched();
        const core_layout layout = chosen_layout(core, layouts);
        const core_heap heap = read_process_heap(layout);
        const core_samples samples = read_samples(layout);
        read = read_profile(text_of(core, heap, samples, layout));
        read.from_core = {true, samples.is_running, notes_on(core, heap, samples, layouts.size())};
    } catch (const core_error& refused) {
        read.error = refused.what();
    }
    return read;
}

saved_profile load_core(const std::string& path, const std::string& program) {
    opened_bytes file = open_bytes(path);
    saved_profile read;
    if (file.bytes == nullptr) {
        read.error = fmt::format("{} {}", path, file.error);
        return read;
    }
    read = read_core(std::move(file.bytes), program, &open_bytes);
    if (!read.ok()) read.error = fmt::format("{}: {}", path, read.error);
    return read;
}

}
