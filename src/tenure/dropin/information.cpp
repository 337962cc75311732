// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// glibc's malloc statistics and controls, in the form that programs expect.

#include <malloc.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/dropin/detail/figures.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/no_cancel.hpp>
#include <tenure/platform/symbol.hpp>

namespace tenure::inline TENURE_ABI::dropin {

figures figures_now() noexcept {
    const heap& all = heap::process();
    const detail::huge_blocks& huge = detail::core_of(all).huge();
    return {all.stats(), huge.live_count(), huge.live_bytes(), huge.retained_bytes()};
}

std::size_t c_library_bytes() noexcept {
    auto* const call = reinterpret_cast<struct mallinfo2 (*)()>(platform::next_symbol("mallinfo2"));
    if (call == nullptr) return 0;
    const auto theirs = call();
    return theirs.uordblks + theirs.hblkhd;
}

}

namespace {

using namespace tenure;

/// The old struct holds up to 2 GiB; larger values are clamped.
[[nodiscard]] int as_int(std::size_t value) noexcept { return static_cast<int>(std::min<std::size_t>(value, INT_MAX)); }

void write_classes(FILE* file) noexcept {
    const detail::heap_core& core = detail::core_of(heap::process());
    std::fprintf(file, "<sizes>\n");
    for (std::size_t index = 0; index < detail::small_class_count; ++index) {
        const std::size_t from = index == 0 ? 1 : detail::class_bytes(index - 1) + 1;
        const std::size_t to = detail::class_bytes(index);
        const detail::class_usage usage = core.usage_of(index);
        const std::size_t used = usage.allocated - usage.cached;
        if (usage.pages == 0) continue;
        std::fprintf(file, "  <size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\" cached=\"%zu\"/>\n", from, to,
                     used * to, used, usage.cached);
    }
    std::fprintf(file, "</sizes>\n");
}

}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's headers have reserved names
#pragma GCC visibility push(default)
extern "C" {

struct mallinfo2 mallinfo2() noexcept {
    const dropin::figures now = dropin::figures_now();
    struct mallinfo2 told {};
    told.arena = now.all.reserved_bytes - std::min(now.all.reserved_bytes, now.huge_bytes);
    told.hblks = now.huge_count;
    told.hblkhd = now.huge_bytes;
    told.usmblks = now.all.peak_bytes;
    told.uordblks = now.all.live_bytes - std::min(now.all.live_bytes, now.huge_bytes);
    told.fordblks = told.arena - std::min(told.arena, told.uordblks); // reserved addresses: most of them untouched
    told.keepcost = now.retained_bytes;
    return told;
}

struct mallinfo mallinfo() noexcept {
    const auto whole = mallinfo2();
    struct mallinfo told {};
    told.arena = as_int(whole.arena);
    told.hblks = as_int(whole.hblks);
    told.hblkhd = as_int(whole.hblkhd);
    told.usmblks = as_int(whole.usmblks);
    told.uordblks = as_int(whole.uordblks);
    told.fordblks = as_int(whole.fordblks);
    told.keepcost = as_int(whole.keepcost);
    return told;
}

// glibc's parameters are hints about its own arenas, thresholds and pads, which do not exist here. They are accepted
// and ignored. Parameters that change observable behaviour are rejected.
int mallopt(int parameter, int) noexcept {
    switch (parameter) {
    case M_MXFAST:
    case M_TRIM_THRESHOLD:
    case M_TOP_PAD:
    case M_MMAP_THRESHOLD:
    case M_MMAP_MAX:
    case M_ARENA_TEST:
    case M_ARENA_MAX: return 1;
    default: return 0;
    }
}

int malloc_trim(std::size_t) noexcept {
    const int saved = errno;
    const std::size_t given_back = heap::process().trim();
    errno = saved;
    return given_back != 0 ? 1 : 0;
}

int malloc_info(int options, FILE* file) noexcept {
    if (options != 0) return EINVAL;
    const platform::no_cancel_scope scope; // glibc's version is a cancellation point and unwinds; this one does not
    const dropin::figures now = dropin::figures_now();
    std::fprintf(file, "<malloc version=\"1\" allocator=\"tenure %d.%d.%d\">\n<heap nr=\"0\">\n", TENURE_VERSION_MAJOR,
                 TENURE_VERSION_MINOR, TENURE_VERSION_PATCH);
    write_classes(file);
    const std::size_t small_and_large = now.all.live_bytes - std::min(now.all.live_bytes, now.huge_bytes);
    std::fprintf(file, "</heap>\n<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n",
                 now.all.live_count - std::min(now.all.live_count, now.huge_count), small_and_large);
    std::fprintf(file, "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n", now.huge_count, now.huge_bytes);
    std::fprintf(file, "<system type=\"current\" size=\"%zu\"/>\n<system type=\"max\" size=\"%zu\"/>\n</malloc>\n",
                 now.all.reserved_bytes, now.all.peak_bytes);
    return 0;
}

void malloc_stats() noexcept {
    const dropin::figures now = dropin::figures_now();
    report_text text;
    text.text("tenure: in use bytes = ").number(now.all.live_bytes).text(" in ").number(now.all.live_count);
    text.text(" blocks, of which huge bytes = ").number(now.huge_bytes).text(" in ").number(now.huge_count);
    text.text(" blocks\ntenure: peak bytes in use = ").number(now.all.peak_bytes).text(", reserved addresses = ");
    text.number(now.all.reserved_bytes).text("\n");
    host::write_report(text.view());
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
