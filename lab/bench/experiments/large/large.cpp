// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what do blocks of 4 KiB to 64 MiB cost that are written whole, and is their memory returned?
///
/// Unfair would be: to leave them unwritten, because their main cost is the kernel's work at the first touch of a page;
/// to compare first touches with retained memory without showing how much each retains, so the resident memory is shown
/// beside the times; to look only at once at what stays resident, because some allocators return it after a second.
/// It does not show: several threads, zeroed memory (calloc), huge pages requested by the caller.

#include "bench/experiments/large/large.hpp"

#include <array>
#include <string_view>

#include "bench/experiments/large/large_workload.hpp"

namespace tenure::lab {

std::string size_in_words(std::size_t kibibytes) {
    return kibibytes % 1024 == 0 ? fmt::format("{} MiB", kibibytes / 1024) : fmt::format("{} KiB", kibibytes);
}

namespace {

constexpr std::array<option_spec, 11> options{{
    {"largest-kib", 65'536, 65'536, 4, 65'536, "largest block of \"one at a time\""},
    {"volume-mib", 96, 2048, 1, 1 << 20, "MiB written in \"many at once\", and per size in \"one at a time\""},
    {"live-mib", 64, 1024, 1, 1 << 20, "maximum live MiB in \"many at once\""},
    {"many-largest-kib", 4096, 65'536, 8, 1 << 20, "blocks of \"many at once\" are below this, a power of two",
     option_shape::power_of_two},
    {"grown-mib", 16, 64, 1, 512, "size to which a block grows by half each time; two in turn grow to a quarter of it"},
    {"growths", 3, 11, 1, 10'000, "times that they grow; the median counts"},
    {"megabytes", 80, 80, 1, 100'000,
     "MB (10^6 bytes) of the block that is created, written and freed again and again"},
    {"repeats", 3, 11, 2, 10'000, "times that it is; the first is reported apart, the median of the rest counts"},
    {"pattern-mib", 64, 64, 1, 100'000, "first large block of the pattern; each is 1 MiB larger than the one before"},
    {"pattern-blocks", 5, 100, 1, 100'000, "large blocks of the pattern, and small ones; the article has 100"},
    {"wait-ms", 1200, 1200, 1, 100'000, "milliseconds before resident memory is read again"},
}};

constexpr std::array<part, 6> parts{{
    {"one at a time"},
    {"many at once"},
    {"growth by realloc"},
    {"80 MB again and again"},
    {"pattern of 003"},
    {"pattern of 003, then a wait", 1, 1},
}};

constexpr std::array<std::string_view, 9> unfair{
    "Every block is written to its last byte by memset, with a value other than zero, and read back whole; the "
    "reading is not timed. Unwritten, a large block costs a few microseconds with any allocator; programs that use "
    "the block never see that.",
    "Most of the time is the kernel's: the first touch of a page costs several times as much as writing it. An "
    "allocator that retains freed memory saves that and pays with memory: read \"after free\" together with the "
    "times.",
    "One at a time: a block is allocated, written and freed, then the next of the same size. The first is not "
    "counted. The sizes follow each other in one process, smallest first.",
    "Many at once: every doubling of the size is equally likely; a random block is freed when there is no room.",
    "Growth: only the call and the writing of the new part are timed. One block grows by half each time, as vectors "
    "do. Two blocks grow in turn by 64 KiB, so neither can simply extend into the memory after it.",
    "80 MB again and again: the first time includes the first touch of its pages in the process; the other figures "
    "are of the repetitions. \"memset of warm memory\" writes as much to one range that was touched before, and "
    "allocates nothing.",
    "The pattern of source 003: a block of 64 MiB, written and freed; 90 000 bytes, written and kept; repeated, "
    "with each large block 1 MiB larger than the one before. The article left the blocks unwritten. The default "
    "size has 5 of them, and the first touch of their memory is a good part of every contestant's time. --full has "
    "the article's 100, and the first touch is next to nothing.",
    "After a wait: the large blocks of the pattern are freed and the small ones alive. After some time without "
    "calls, a block of 64 bytes and one of 8 MiB are allocated and freed, unwritten, because an allocator that "
    "returns memory after a delay can do so only during a call. This is measured in the first round only.",
    "Memory is the process's private pages above what it had before the first block; \"after free\" is with nothing "
    "alive, \"after trim\" is after a request to return free memory, for allocators that have such a call.",
};

constexpr std::array<contestant_source, 3> sources{tenure_in_large, mallocs_in_large, references_in_large};

constexpr std::array<std::string_view, 4> unranked{"alloc", "free", "of it alloc and free", "realloc"};

// Times with the writing, the calls within them, and all memory figures, in every variant.
constexpr std::array<primary_figure, 14> primary{{{"alloc, write, free*"},
                                                  {"alloc", "64 KiB"},
                                                  {"free", "64 KiB"},
                                                  {"alloc", "* MiB"},
                                                  {"free", "* MiB"},
                                                  {"alloc", "many at once"},
                                                  {"free", "many at once"},
                                                  {"realloc, write"},
                                                  {"the first time"},
                                                  {"peak"},
                                                  {"at once"},
                                                  {"after free"},
                                                  {"after a wait and two calls"},
                                                  {"after trim"}}};

constexpr experiment described{
    .name = "large",
    .question =
        "What do blocks of 4 KiB to 64 MiB cost that are written whole, one at a time, many at once and growing, "
        "and is their memory returned?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule =
        "Geometric mean of the ratios to glibc malloc over the times with the writing: returning untouched pages "
        "quickly gains nothing, because their first touch is still to come. References are not choices and are left "
        "out.",
    .unranked = unranked,
    .primary = primary,
    .example = "tenure bench large --parts \"80 MB\" --repeats 11 --against tcmalloc",
};

}

const experiment large_experiment = described;

}
