// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Texts in the file of a recording: what the system says of the process.

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/profile/build_lines.hpp>
#include <tenure/heap/detail/profile/mapping_lines.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/output_file.hpp>

#include "observe/blocks/interpose/errno_scope.hpp"
#include "observe/tracer/record/process_state.hpp"

namespace tenure::lab::tracer {

namespace format = trace_format;

namespace {

/// Text of one kind, in as many chunks as it takes. Chunks are not in the order of the file, so each has a number.
class text_log {
public:
    text_log(format::chunk_kind kind, std::uint32_t sequence) noexcept : kind_(kind), sequence_(sequence) {}
    ~text_log() { end(0); }
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
    /// The text is whole. Returns   whether all of it was written.
    [[nodiscard]] bool finish() noexcept {
        const bool is_written = chunk_ != nullptr || is_empty_;
        end(format::is_last_part);
        return is_written;
    }

private:
    /// Chunks differ in size: some are the unused ends of others.
    [[nodiscard]] std::size_t room() const noexcept {
        return chunk_ == nullptr ? 0 : chunk_->bytes - sizeof *chunk_ - chunk_->used;
    }

    [[nodiscard]] bool begin() noexcept {
        const bool is_whole = chunk_ != nullptr || is_empty_; // up to here
        end(0);
        is_empty_ = false;
        const file_part added = is_whole ? add_chunk() : file_part{};
        if (added.memory == nullptr) return false;
        chunk_ = static_cast<format::chunk_header*>(added.memory);
        chunk_->kind = kind_;
        chunk_->bytes = added.bytes;
        chunk_->sequence = sequence_;
        chunk_->number = parts_++;
        chunk_->magic = format::chunk_magic;
        return true;
    }
    void end(std::uint16_t flags) noexcept {
        if (chunk_ == nullptr) return;
        chunk_->flags = flags;
        release_chunk(*chunk_);
        chunk_ = nullptr;
    }

    format::chunk_kind kind_;
    std::uint32_t sequence_;
    format::chunk_header* chunk_ = nullptr;
    std::uint64_t parts_ = 0;
    bool is_empty_ = true; ///< no chunk was asked for
};

alignas(8) char part_of_file[4096];

/// Calls `take(part)` with one part of the file after another. Returns   whether it could be read.
template<class Take>
[[nodiscard]] bool read_file(const char* path, Take take) noexcept {
    return platform::read_in_parts(
        path, part_of_file, sizeof part_of_file,
        [](void* context, std::string_view part) noexcept { (*static_cast<Take*>(context))(part); }, &take);
}

/// Returns   whether they were written.
[[nodiscard]] bool write_mappings(std::uint32_t sequence, code_ranges& code) noexcept {
    alignas(detail::build_lines) static char place[sizeof(detail::build_lines)];
    detail::build_lines& lines = *::new (place) detail::build_lines;
    alignas(detail::mapping_lines) static char other_place[sizeof(detail::mapping_lines)];
    detail::mapping_lines& every_line = *::new (other_place) detail::mapping_lines;
    text_log mappings(format::chunk_kind::mappings, sequence);
    text_log builds(format::chunk_kind::builds, sequence);
    code.clear();
    const bool is_read = read_file(platform::mappings_file, [&](std::string_view part) noexcept {
        mappings.write(part);
        lines.read(part, [&](std::string_view line) { builds.write(line); });
        every_line.read(part, [&](const detail::mapping_line& line) {
            if (line.rights[2] == 'x') code.add(line.begin, line.end);
        });
    });
    return is_read && mappings.finish() && builds.finish();
}

/// Requires  the lock is held.
void write_locked(written_texts& texts) noexcept {
    texts.last_ns = platform::monotonic_ns();
    texts.is_wanted.store(0, std::memory_order_relaxed);
    const std::uint32_t sequence = ++texts.count;
    bool is_written = write_mappings(sequence, texts.code);
    if (sequence == 1) { // later the program may have changed what it shows of its command line
        text_log arguments(format::chunk_kind::arguments, sequence);
        const auto write = [&](std::string_view part) noexcept { arguments.write(part); };
        is_written = read_file(platform::arguments_file, write) && arguments.finish() && is_written;
    }
    if (!is_written) texts.is_wanted.store(1, std::memory_order_relaxed);
}

[[nodiscard]] written_texts& texts_of_process() noexcept {
    return state_of_process.load(std::memory_order_relaxed)->texts;
}

}

void write_texts() noexcept {
    written_texts& texts = texts_of_process();
    const moment_scope lock(texts.lock);
    write_locked(texts);
}

void write_late_texts() noexcept {
    constexpr std::uint64_t first_times = 16, least_ns_between = 4'000'000'000;
    written_texts& texts = texts_of_process();
    if (texts.is_wanted.load(std::memory_order_relaxed) == 0) return;
    const moment_scope lock(texts.lock);
    if (texts.is_wanted.load(std::memory_order_relaxed) == 0 || texts.count == 0) return;
    if (texts.count >= first_times && platform::monotonic_ns() - texts.last_ns < least_ns_between) return;
    write_locked(texts);
}

void note_code(void* const* frames, std::size_t count) noexcept {
    const blocks::errno_scope errors; // the program's own call succeeds
    written_texts& texts = texts_of_process();
    {
        const moment_scope lock(texts.lock);
        if (texts.count == 0) return; // before the constructor of this library, which writes them
        const bool is_known = std::all_of(frames, frames + count,
                                          [&](const void* frame) { return texts.code.contain(address_of(frame)); });
        if (is_known) return;
        texts.is_wanted.store(1, std::memory_order_relaxed);
    }
    write_late_texts();
}

}
