// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap_usage.hpp>

#include <algorithm>

#include <tenure/base/report.hpp>
#include <tenure/heap/detail/heap_core.hpp>

namespace tenure::inline TENURE_ABI {

heap_usage detail::heap_core::usage() const noexcept {
    heap_usage answer;
    answer.total = stats();
    answer.in_use_bytes = memory_.in_use_bytes();
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const class_usage pages = small_.usage_of(index);
        heap_size_usage& size = answer.sizes[index];
        size.block_bytes = class_bytes(index);
        size.cached_count = pages.cached;
        size.live_count = pages.allocated - size.cached_count;
        size.page_count = pages.pages;
        answer.cached_bytes += size.cached_count * size.block_bytes;
    }
    answer.large_count = large_.live_count();
    answer.large_bytes = large_.live_bytes();
    answer.huge_count = huge_.live_count() + fenced_.live_count();
    answer.huge_bytes = huge_.live_bytes() + fenced_.live_bytes();
    answer.retained_bytes = huge_.retained_bytes();
    answer.purged_bytes = memory_.purged_bytes();
    answer.thrash_bytes = memory_.thrash_bytes();
    answer.committed_bytes = pages_.committed_bytes() + large_.committed_bytes() + huge_.committed_bytes();
    answer.resident_bytes = pages_.resident_bytes() + large_.resident_bytes() + huge_.resident_bytes();
    answer.thread_count = small_.thread_count();
    return answer;
}

void write_usage(const heap_usage& usage, usage_form form, void (*write)(void* context, std::string_view piece),
                 void* context) {
    const bool is_json = form == usage_form::json;
    const detail::usage_figure figures[] = {
        {"live_count", "blocks in use", usage.total.live_count, false},
        {"live_bytes", "bytes in use", usage.total.live_bytes, true},
        {"peak_bytes", "peak in use, by pages", usage.total.peak_bytes, true},
        {"in_use_bytes", "pages and larger blocks in use", usage.in_use_bytes, true},
        {"committed_bytes", "committed", usage.committed_bytes, true},
        {"resident_bytes", "resident", usage.resident_bytes, true},
        {"reserved_bytes", "addresses reserved", usage.total.reserved_bytes, true},
        {"source_blocks", "blocks from the source", usage.total.source_blocks, false},
        {"cached_bytes", "free in thread caches", usage.cached_bytes, true},
        {"retained_bytes", "retained huge blocks", usage.retained_bytes, true},
        {"purged_bytes", "returned after the purge delay, so far", usage.purged_bytes, true},
        {"thrash_bytes", "of that, used again soon", usage.thrash_bytes, true},
        {"large_count", "large blocks", usage.large_count, false},
        {"large_bytes", "bytes in large blocks", usage.large_bytes, true},
        {"huge_count", "huge blocks", usage.huge_count, false},
        {"huge_bytes", "bytes in huge blocks", usage.huge_bytes, true},
        {"thread_count", "threads with a cache", usage.thread_count, false},
    };
    detail::write_figures({form, write, context}, "heap", usage.name, figures);
    if (is_json) write(context, ", \"sizes\": [");
    bool is_first = true;
    for (const heap_size_usage& size : usage.sizes) {
        if (size.page_count == 0) continue;
        report_text line;
        if (is_json) {
            line.text(is_first ? "{" : ", {").text("\"block_bytes\": ").number(size.block_bytes);
            line.text(", \"live_count\": ").number(size.live_count);
            line.text(", \"cached_count\": ").number(size.cached_count);
            line.text(", \"page_count\": ").number(size.page_count).text("}");
        } else {
            line.text("  blocks of ").number(size.block_bytes).text(": ").number(size.live_count).text(" in use, ");
            line.number(size.cached_count).text(" in caches, ").number(size.page_count).text(" pages\n");
        }
        write(context, line.view());
        is_first = false;
    }
    if (is_json) write(context, "]}\n");
}

}
