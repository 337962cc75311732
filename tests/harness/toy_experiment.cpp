// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "harness/toy_experiment.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/harness/stopwatch.hpp"

namespace toys {

namespace {

using namespace tenure::lab;

void show_a_block(const task& asked) {
    static int block = 1;
    void* shown = &block;
    asked.out.blocks({&shown, 1}, sizeof block);
}

void behave(const task& asked) {
    show_a_block(asked);
    asked.out.value("number", asked.part == 0 ? "first" : "second", "ns/op",
                    static_cast<double>(asked.options["size"]));
    asked.out.value("seed", asked.part == 0 ? "first" : "second", "", static_cast<double>(asked.seed % 1000),
                    better::neither);
    const std::array<std::int64_t, 3> distances{4, -12, 4};
    if (asked.part == 0) asked.out.list("distances", "first", "bytes", distances);
}

/// Shows a block to an owner that says what it is told to say.
void show_to(const task& asked, bool (*owns)(const void*, const void*)) {
    static int block = 1;
    void* shown = &block;
    asked.out.blocks({&shown, 1}, sizeof block, {"toy::owns", nullptr, owns, nullptr});
    asked.out.value("number", "first", "ns/op", 1);
}

void own_up(const task& asked) {
    show_to(asked, [](const void*, const void*) { return true; });
}

void deny(const task& asked) {
    show_to(asked, [](const void*, const void*) { return false; });
}

std::string_view left_out_when_large(const parameters& options, std::size_t part) {
    return part == 1 && options["size"] > 50 ? "it would not come to an end" : "";
}

std::string_view left_out_always(const parameters&, std::size_t) { return "it never comes to an end"; }

void crash(const task&) { std::raise(SIGSEGV); }

void speak_and_crash(const task&) {
    std::fputs("something is torn\n", stderr);
    std::abort();
}

void hang(const task&) {
    for (;;) ::pause();
}

/// As somebody who stops the run in the middle of it.
void interrupt(const task&) {
    ::kill(::getppid(), SIGTERM);
    for (;;) ::pause();
}

void lie(const task& asked) {
    show_a_block(asked);
    asked.out.value("number", "first", "ns/op", 1);
    asked.out.fail("a block did not hold the data written to it");
}

void show_nothing(const task& asked) { asked.out.value("number", "first", "ns/op", 1); }

void leave_early(const task&) { ::_exit(0); }

/// Fails when what a worker must not inherit is there.
void look_around(const task& asked) {
    show_a_block(asked);
    if (std::getenv("LD_PRELOAD") != nullptr) asked.out.fail("LD_PRELOAD is set");
    if (std::getenv("TENURE_SOMETHING") != nullptr) asked.out.fail("TENURE_SOMETHING is set");
    asked.out.value("number", "first", "ns/op", 1);
}

constexpr std::array<std::string_view, 2> setting{"TENURE_SOMETHING=mine", "TENURE_OTHER="};

/// Fails when its own settings did not arrive.
void look_for_setting(const task& asked) {
    show_a_block(asked);
    const char* const value = std::getenv("TENURE_SOMETHING");
    if (value == nullptr || std::string_view{value} != "mine") asked.out.fail("TENURE_SOMETHING is not its own");
    if (std::getenv("TENURE_OTHER") == nullptr) asked.out.fail("TENURE_OTHER is not set");
    asked.out.value("number", "first", "ns/op", 1);
}

void use_malloc(const task& asked) {
    std::array<void*, 100> blocks{};
    for (void*& block : blocks) {
        block = std::malloc(100);
        escape(block);
    }
    asked.out.blocks(blocks, 100);
    for (void* block : blocks) std::free(block);
    asked.out.value("number", "first", "ns/op", 1);
}

/// Shows memory that no malloc gave.
void use_no_malloc(const task& asked) {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    static std::array<char, bytes> pages{};
    void* shown = pages.data();
    asked.out.blocks({&shown, 1}, bytes);
    asked.out.value("number", "first", "ns/op", 1);
}

void repeat_a_figure(const task& asked) {
    show_a_block(asked);
    asked.out.value("number", "first", "ns/op", 1);
    asked.out.value("number", "second", "ns/op", 2);
    asked.out.value("number", "first", "us/op", 3);
}

void repeat_a_list(const task& asked) {
    show_a_block(asked);
    const std::array<std::int64_t, 1> distances{4};
    asked.out.value("number", "first", "ns/op", 1);
    asked.out.list("distances", "first", "bytes", distances);
    asked.out.list("distances", "first", "bytes", distances);
}

/// In both parts under one name.
void name_no_part(const task& asked) {
    show_a_block(asked);
    asked.out.value("number", "", "ns/op", 1);
}

void list_no_part(const task& asked) {
    show_a_block(asked);
    const std::array<std::int64_t, 1> distances{4};
    asked.out.value("number", asked.part == 0 ? "first" : "second", "ns/op", 1);
    asked.out.list("distances", "", "bytes", distances);
}

constexpr contestant toy(std::string_view name, void (*run)(const task&), std::uint64_t parts = 1) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::ours,
            .kind = "inlined",
            .type = "toy",
            .parts = parts,
            .run = run};
}

constexpr contestant toy_left_out(std::string_view name, std::string_view (*why)(const parameters&, std::size_t)) {
    contestant made = toy(name, behave, 3);
    made.left_out = why;
    return made;
}

constexpr contestant toy_with(std::string_view name, std::span<const std::string_view> environment) {
    contestant made = toy(name, look_for_setting);
    made.environment = environment;
    return made;
}

constexpr std::array<contestant, 23> all{{
    toy("behaves", behave, 3),
    toy("owns up", own_up),
    toy("denies", deny),
    toy_left_out("is slow", left_out_when_large),
    toy_left_out("never ends", left_out_always),
    {.name = "a limit",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = "toy",
     .parts = 1,
     .run = behave},
    toy("crashes", crash),
    toy("speaks and crashes", speak_and_crash),
    toy("hangs", hang),
    toy("interrupts", interrupt),
    toy("lies", lie),
    toy("shows nothing", show_nothing),
    toy("leaves early", leave_early),
    toy("looks around", look_around),
    toy_with("has a setting", setting),
    toy("repeats a figure", repeat_a_figure),
    toy("repeats a list", repeat_a_list),
    toy("names no part", name_no_part, 3),
    toy("lists no part", list_no_part, 3),
    {.how = route::process_malloc, .role = contestant_role::peer, .parts = 1, .run = use_malloc},
    {.name = "only one",
     .how = route::process_malloc,
     .role = contestant_role::peer,
     .peer = "jemalloc",
     .parts = 1,
     .run = use_malloc},
    {.name = "uses no malloc",
     .how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = 1,
     .run = use_no_malloc},
    {.name = "was not built",
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = "Absent",
     .kind = "library",
     .parts = 1},
}};

std::span<const contestant> source() { return all; }

constexpr std::array<option_spec, 1> options{{{"size", 7, 70, 1, 1000, "some number"}}};
constexpr std::array<part, 2> parts{{{"part one", 1}, {"part two", 2}}};
constexpr std::array<contestant_source, 1> sources{source};
constexpr std::array<std::string_view, 1> unfair{"nothing here is fair"};

}

std::span<const experiment> experiments() {
    static const std::array<experiment, 1> toys{{{
        .name = "toys",
        .question = "Does a row end as it should?",
        .unfair = unfair,
        .baseline = "behaves",
        .options = options,
        .parts = parts,
        .sources = sources,
        .properties = nullptr,
        .quotients = {},
        .ranking_rule = {},
        .unranked = {},
        .example = {},
    }}};
    return toys;
}

}
