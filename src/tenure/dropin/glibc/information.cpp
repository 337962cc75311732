// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// glibc's malloc statistics and controls, in the form that programs expect.

#include <malloc.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

#include <tenure/dropin/detail/figures.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/no_cancel.hpp>
#include <tenure/platform/symbol.hpp>

namespace tenure::inline TENURE_ABI::dropin {

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

// glibc's parameters are hints about its own arenas, thresholds and pads, which do not exist here: they are accepted
// and ignored, with glibc's result. glibc answers 1 for numbers that it does not know, and rejects one value only: a
// fast bin that would be too large. M_PERTURB promises something that can be observed, and is rejected.
int mallopt(int parameter, int value) noexcept {
    constexpr int max_fast_bytes = 80 * sizeof(std::size_t) / 4;
    if (parameter == M_PERTURB) return 0;
    if (parameter == M_MXFAST) return value >= 0 && value <= max_fast_bytes ? 1 : 0;
    return 1;
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

// The lines of glibc's version, in its order, on the stream `stderr`; no cancellation point there, either. glibc's have
// 32 bits for some of the numbers.
void malloc_stats() noexcept {
    const platform::no_cancel_scope scope;
    const auto now = mallinfo2();
    const auto write = [](const char* what, std::size_t value) { std::fprintf(stderr, "%s= %10zu\n", what, value); };
    std::fprintf(stderr, "Arena 0:\n");
    write("system bytes     ", now.arena);
    write("in use bytes     ", now.uordblks);
    std::fprintf(stderr, "Total (incl. mmap):\n");
    write("system bytes     ", now.arena + now.hblkhd);
    write("in use bytes     ", now.uordblks + now.hblkhd);
    const detail::heap_core& core = detail::core_of(heap::process());
    write("max mmap regions ", core.huge().peak_count() + core.fenced().peak_count());
    write("max mmap bytes   ", core.huge().peak_bytes() + core.fenced().peak_bytes());
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
