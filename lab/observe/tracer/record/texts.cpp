// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Texts in the file of a recording: what the system says of the process.

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include <tenure/heap/detail/profile/build_lines.hpp>
#include <tenure/platform/output_file.hpp>

#include "observe/tracer/record/process_state.hpp"

namespace tenure::lab::tracer {

namespace format = trace_format;

namespace {

/// Text of one kind, in as many chunks as it takes.
class text_log {
public:
    text_log(format::chunk_kind kind, std::uint32_t sequence) noexcept : kind_(kind), sequence_(sequence) {}
    ~text_log() { end(); }
    text_log(const text_log&) = delete;
    text_log& operator=(const text_log&) = delete;

    void write(std::string_view text) noexcept {
        while (!text.empty()) {
            if (room() == 0 && !begin()) return;
            const std::size_t count = std::min(text.size(), room());
            std::memcpy(reinterpret_cast<char*>(chunk_ + 1) + chunk_->used, text.data(), count);
            chunk_->used += static_cast<std::uint32_t>(count);
            text.remove_prefix(count);
        }
    }

private:
    /// Chunks differ in size: some are the unused ends of others.
    [[nodiscard]] std::size_t room() const noexcept {
        return chunk_ == nullptr ? 0 : chunk_->bytes - sizeof *chunk_ - chunk_->used;
    }

    [[nodiscard]] bool begin() noexcept {
        end();
        const file_part added = add_chunk();
        if (added.memory == nullptr) return false;
        chunk_ = static_cast<format::chunk_header*>(added.memory);
        chunk_->kind = kind_;
        chunk_->bytes = added.bytes;
        chunk_->sequence = sequence_;
        chunk_->magic = format::chunk_magic;
        return true;
    }
    void end() noexcept {
        if (chunk_ != nullptr) release_chunk(*chunk_);
        chunk_ = nullptr;
    }

    format::chunk_kind kind_;
    std::uint32_t sequence_;
    format::chunk_header* chunk_ = nullptr;
};

alignas(8) char part_of_file[4096];

/// Calls `take(part)` with one part of the file after another.
template<class Take>
void read_file(const char* path, Take take) noexcept {
    static_cast<void>(platform::read_in_parts(
        path, part_of_file, sizeof part_of_file,
        [](void* context, std::string_view part) noexcept { (*static_cast<Take*>(context))(part); }, &take));
}

void write_mappings(std::uint32_t sequence) noexcept {
    alignas(detail::build_lines) static char place[sizeof(detail::build_lines)];
    detail::build_lines& lines = *::new (place) detail::build_lines;
    text_log mappings(format::chunk_kind::mappings, sequence);
    text_log builds(format::chunk_kind::builds, sequence);
    read_file(platform::mappings_file, [&](std::string_view part) noexcept {
        mappings.write(part);
        lines.read(part, [&](std::string_view line) { builds.write(line); });
    });
}

}

void write_texts() noexcept {
    const std::uint32_t sequence = ++state_of_process.load(std::memory_order_relaxed)->texts;
    write_mappings(sequence);
    if (sequence > 1) return; // later the program may have changed what it shows of its command line
    text_log arguments(format::chunk_kind::arguments, sequence);
    read_file(platform::arguments_file, [&](std::string_view part) noexcept { arguments.write(part); });
}

}
