// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinity_usage.hpp>

namespace tenure::inline TENURE_ABI {

void write_usage(const affinity_usage& usage, usage_form form, void (*write)(void* context, std::string_view piece),
                 void* context) {
    const detail::usage_figure figures[] = {
        {"live_count", "objects", usage.live_count, false},
        {"reserved_bytes", "in use in blocks", usage.reserved_bytes, true},
        {"available_bytes", "available in blocks", usage.available_bytes, true},
        {"bookkeeping_bytes", "bookkeeping of blocks", usage.bookkeeping_bytes, true},
        {"total_bytes", "blocks in all", usage.total_bytes, true},
        {"block_count", "blocks", usage.block_count, false},
        {"largest_free_bytes", "longest free run", usage.largest_free_bytes, true},
        {"free_bytes", "free between objects", usage.free_bytes, true},
        {"scattered_bytes", "free outside the longest run of each page", usage.scattered_bytes, true},
        {"large_count", "large objects, on the group's heap", usage.large_count, false},
        {"large_bytes", "bytes in large objects", usage.large_bytes, true},
    };
    detail::write_figures({form, write, context}, "affinity group", usage.name, figures);
    if (form == usage_form::json) write(context, "}\n");
}

}
