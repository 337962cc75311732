// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/blocks/record/saved_pages.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/profile/mapping_lines.hpp>
#include <tenure/heap/detail/profile/page_runs.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/resident.hpp>

namespace tenure::lab::blocks {

namespace {

namespace format = profile_format;
using detail::mapping_line;

/// Whether a malloc may have its blocks there: writable memory of no file, and of no stack.
[[nodiscard]] bool may_have_blocks(const mapping_line& mapping) noexcept {
    if (mapping.rights[0] != 'r' || mapping.rights[1] != 'w') return false;
    return mapping.name.empty() || mapping.name.starts_with("[heap") || mapping.name.starts_with("[anon");
}

/// It is large: a signal handler has no room for it on its stack.
struct page_writer {
    const block_map& map;
    detail::page_runs runs;
    detail::mapping_lines lines;
    char part[4096];

    void write(std::uintptr_t address) noexcept {
        const page_figures found = map.at(address);
        if (!found.had_blocks) return;
        format::page_run run{address, 1, format::page_use::free, 0, 0, 0};
        if (found.blocks != 0) {
            const bool is_whole = found.blocks == 1 && found.live_bytes == format::page_bytes;
            run.use = is_whole ? format::page_use::large_block : format::page_use::small_blocks; // of any size
            run.live_bytes = static_cast<std::uint16_t>(found.live_bytes);
            run.blocks = static_cast<std::uint16_t>(found.blocks);
        }
        runs.add(run);
    }
    void write(const mapping_line& mapping) noexcept {
        if (!may_have_blocks(mapping)) return;
        for (std::uintptr_t at = mapping.begin; at < mapping.end;) {
            const std::uintptr_t next = std::min(mapping.end, align_down(at, block_map::leaf_bytes) + block_map::leaf_bytes);
            if (map.has_leaf(at)) {
                platform::for_each_resident(pointer_at(at), next - at, [&](void* begin, std::size_t bytes) {
                    for (std::size_t offset = 0; offset < bytes; offset += format::page_bytes)
                        write(address_of(begin) + offset);
                });
            }
            at = next;
        }
    }
};

}

void write_pages(const block_map& map, std::string_view malloc_file, detail::section_writer& to) noexcept {
    to.text(format::section::malloc_file, malloc_file);
    const auto receive = [](void* context, std::span<const format::page_run> runs) noexcept {
        auto& writer = *static_cast<detail::section_writer*>(context);
        writer.begin(format::section::pages_of_blocks, sizeof(format::page_run), runs.size());
        writer.words(runs.data(), runs.size_bytes());
    };
    alignas(page_writer) static char place[sizeof(page_writer)];
    auto* const pages = ::new (place) page_writer{map, {receive, &to}, {}, {}};
    (void)platform::read_in_parts(
        platform::mappings_file, pages->part, sizeof pages->part,
        [](void* context, std::string_view part) noexcept {
            auto& writer = *static_cast<page_writer*>(context);
            writer.lines.read(part, [&](const mapping_line& line) { writer.write(line); });
        },
        pages);
    pages->~page_writer();
}

}
