// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/fixture.hpp"

#include <limits>

namespace tenure::lab::fixture {

namespace {

constexpr double failed_round = std::numeric_limits<double>::quiet_NaN();

machine_info machine() {
    machine_info made;
    made.cpu = "Example CPU @ 2.50GHz";
    made.kernel = "6.1.0";
    made.system = "Debian 12";
    made.c_library = "glibc 2.36";
    made.compiler = "GCC 12.2.0";
    made.flags = "-O2 -DNDEBUG";
    made.build_type = "Release";
    made.commit = "0123abc";
    made.huge_pages = "madvise";
    made.cores = 2;
    made.memory_bytes = std::uint64_t{24} << 30;
    return made;
}

contestant_result glibc() {
    contestant_result made;
    made.name = "glibc malloc";
    made.version = "2.36";
    made.kind = "system";
    made.proof = "libc.so.6, 7 000 calls";
    made.metrics = {{"alloc", "warm", "ns/op", better::smaller, {8.0, 10.0, 9.0}},
                    {"free", "warm", "ns/op", better::smaller, {10.0, 12.0, 11.0}},
                    {"alloc", "cold", "ns/op", better::smaller, {30.0, 33.0, 36.0}},
                    {"peak", "", "MiB", better::smaller, {4.0, 4.0, 4.0}}};
    made.lists = {{"distances", "cold", "bytes", {28, 28, 28, 44}}, {"distances", "warm", "bytes", {28, 28, 28, 44}}};
    return made;
}

contestant_result tenure_temp() {
    contestant_result made;
    made.name = "tenure temp";
    made.version = "0.1.0";
    made.kind = "inlined";
    made.role = contestant_role::ours;
    made.proof = "tenure::allocate, linked in";
    made.note = "budget of 16 KiB";
    made.metrics = {{"alloc", "warm", "ns/op", better::smaller, {2.0, 2.5, failed_round}},
                    {"free", "warm", "ns/op", better::smaller, {0.04, 0.04, 0.05}},
                    {"alloc", "cold", "ns/op", better::smaller, {4.0, 3.0, 3.5}},
                    {"overflow index", "cold", "", better::neither, {3.0, 3.0, 3.0}},
                    {"peak", "", "MiB", better::smaller, {1.0, 1.0, 1.5}}};
    made.lists = {{"distances", "cold", "bytes", {0, 0, 140685055869340, 28}},
                  {"distances", "warm", "bytes", {0, 0, 0, 0}}};
    return made;
}

contestant_result bump() {
    contestant_result made;
    made.name = "trivial bump";
    made.kind = "reference (ours)";
    made.role = contestant_role::reference;
    made.metrics = {{"alloc", "warm", "ns/op", better::smaller, {1.0, 1.0, 1.0}}};
    made.left_out = {{"two threads, <4> B", "it is one thread's"}, {"overflow", "it is one thread's"}};
    return made;
}

experiment_result small_lifetimes() {
    experiment_result made;
    made.name = "lifetimes";
    made.question = "What does an allocation of 4 bytes cost?";
    made.unfair = {"A call through the linker costs about 1 ns; pools are inlined."};
    made.baseline = "glibc malloc";
    made.parameters = {{"--count", "5"}, {"--bytes", "4"}};
    made.rounds = 3;
    made.contestants = {glibc(), tenure_temp(), bump(), absent("HPHA", outcome::missing, "no package has it"),
                        absent("libevil, <b>\"x\"</b>", outcome::failed, "a block did not hold what was written")};
    made.quotients = {{"temp/glibc", "tenure temp", "glibc malloc"}, {"bump/HPHA", "trivial bump", "HPHA"}};
    made.ranking_rule = "Geometric mean of the ratios to glibc malloc.";
    made.unranked = {"of no account"};
    made.primary = {{"alloc", "*"}, {"peak", ""}};
    return made;
}

experiment_result throughput() {
    experiment_result made;
    made.name = "through/put";
    made.question = "How many operations does a second take, by <any> thread & \"size\"?";
    made.baseline = "glibc malloc";
    made.rounds = 5;
    contestant_result one = glibc();
    one.metrics = {{"operations", "", "M/s", better::larger, {60.0, 50.0, 70.0, 65.0, 55.0}}};
    one.lists.clear();
    contestant_result other = tenure_temp();
    other.metrics = {{"operations", "", "M/s", better::larger, {120.0, 110.0, 130.0, 125.0, 115.0}}};
    other.lists.clear();
    made.contestants = {one, other};
    made.properties = {
        {"Properties", {"", "threads", "returned"}, {{"glibc malloc", "any", "<late>"}, {"tenure", "one", "yes"}}}};
    made.ranking = {"tenure temp", "glibc malloc"};
    return made;
}

}

contestant_result absent(std::string name, outcome state, std::string reason) {
    contestant_result made;
    made.name = std::move(name);
    made.state = state;
    made.reason = std::move(reason);
    return made;
}

result small_result() {
    result made;
    made.tool_version = "0.1.0";
    made.started_at = "2026-11-21T08:00:00Z";
    made.command = "tenure bench lifetimes --count 5";
    made.machine = machine();
    made.experiments = {small_lifetimes(), throughput()};
    return made;
}

}
