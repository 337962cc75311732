// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what do blocks of 4 KiB to 64 MiB cost that are written whole, and does their memory come back?
///
/// Unfair would be: to leave them unwritten, because the kernel's first touch of a page is what they cost; to compare
/// first touches with memory that was kept, without saying who keeps how much, so what stays resident stands beside it;
/// to look at what stays at once only, because some give it back after a second.
/// It does not show: several threads, zeroed memory (calloc), huge pages of the caller's own.

#include "experiments/large.hpp"

#include <array>
#include <string_view>

#include "experiments/large_workload.hpp"

namespace tenure::lab {

std::string size_in_words(std::size_t kibibytes) {
    return kibibytes % 1024 == 0 ? fmt::format("{} MiB", kibibytes / 1024) : fmt::format("{} KiB", kibibytes);
}

namespace {

constexpr std::array<option_spec, 11> options{{
    {"largest-kib", 65'536, 65'536, 4, 65'536, "largest block of \"one at a time\""},
    {"volume-mib", 96, 2048, 1, 1 << 20, "what is written in \"many at once\", and per size in \"one at a time\""},
    {"live-mib", 64, 1024, 1, 1 << 20, "most that is alive in \"many at once\""},
    {"many-largest-kib", 4096, 65'536, 8, 1 << 20, "blocks of \"many at once\" are below this, a power of two",
     option_shape::power_of_two},
    {"grown-mib", 16, 64, 1, 512, "to which a block grows by half; two in turn grow to a quarter of it"},
    {"growths", 3, 11, 1, 10'000, "times that they grow; the median counts"},
    {"megabytes", 80, 80, 1, 100'000,
     "MB (10^6 bytes) of the block that is created, written and freed again and again"},
    {"repeats", 3, 11, 2, 10'000, "times that it is; the first is told apart, of the rest the median counts"},
    {"pattern-mib", 64, 64, 1, 100'000, "first large block of the pattern; each is 1 MiB larger than the one before"},
    {"pattern-blocks", 5, 100, 1, 100'000, "large blocks of the pattern, and small ones; the article has 100"},
    {"wait-ms", 1200, 1200, 1, 100'000, "milliseconds until it is asked what is still resident"},
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
    "Every block is written to its last byte by memset, with another value than zero, and read back whole; the "
    "reading is not timed. Left unwritten, a large block costs a few microseconds anywhere, which no program that "
    "uses it sees.",
    "Most of the time is the kernel's: the first touch of a page costs several times what writing it costs. Whoever "
    "keeps what was freed saves that and pays in memory: look at \"after free\" beside the times.",
    "One at a time: a block is allocated, written and freed, then the next of the same size. The first is not "
    "counted. The sizes follow each other in one process, smallest first.",
    "Many at once: every doubling of the size is as likely as the next; a random block is freed where there is no "
    "room.",
    "Growth: only the call and the writing of what is new are timed. One block grows by half at a time, as vectors "
    "do; two in turn grow by 64 KiB, and neither can simply take what lies behind it.",
    "80 MB again and again: the first time is the first touch of its pages in the process; the rest is what comes "
    "after. \"memset of warm memory\" writes as much to one range that was touched before, and allocates nothing.",
    "The pattern of source 003: a block of 64 MiB, written and freed; 90 000 bytes, written and kept; and again, each "
    "large block 1 MiB larger than the one before. The article left the blocks unwritten. At the default size there "
    "are 5, and the first touch of their memory is a good part of what anybody takes; with --full there are the "
    "article's 100, and it is next to nothing.",
    "After a wait: the large blocks of the pattern are freed, the small ones alive, some time passes in which nobody "
    "calls, then a block of 64 bytes and one of 8 MiB are allocated and freed, unwritten: an allocator that gives "
    "back by the clock can do it at a call only. That is measured in the first round only.",
    "Memory is the process's private pages above what it held before the first block; \"after free\" is when nothing "
    "is alive, \"after trim\" when it was then asked to give back what it can, where it has such a call.",
};

constexpr std::array<contestant_source, 3> sources{tenure_in_large, mallocs_in_large, references_in_large};

constexpr std::array<std::string_view, 4> unranked{"alloc", "free", "of it alloc and free", "realloc"};

// Times with the writing, the calls that they hide, and all memory beside them, in every variant.
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
        "and does their memory come back?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule =
        "Geometric mean of the ratios to glibc malloc over the times with the writing: who is quick to hand "
        "out pages that the first touch is still to come of has won nothing. References are no "
        "choices, and are left out.",
    .unranked = unranked,
    .primary = primary,
    .example = "tenure bench large --parts \"80 MB\" --repeats 11 --against tcmalloc",
};

}

const experiment large_experiment = described;

}
