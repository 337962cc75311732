// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/fixture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tenure::lab::fixture {

namespace {

constexpr std::size_t rounds = 7;

/// The same numbers on every machine and in every run; std::normal_distribution would not promise that.
class noise {
public:
    explicit noise(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return state_ >> 33U;
    }
    /// Between 0 and 1.
    double unit() { return static_cast<double>(bits()) / 2147483648.0; }

    /// `rounds` samples around a value, now and then one that was disturbed.
    std::vector<double> around(double value) {
        std::vector<double> samples;
        for (std::size_t round = 0; round < rounds; ++round) {
            const double disturbed = bits() % 17 == 0 ? 1.4 : 1.0;
            samples.push_back(value * (0.96 + 0.1 * unit() * unit()) * disturbed);
        }
        return samples;
    }

private:
    std::uint64_t state_;
};

struct row {
    const char* name;
    contestant_role role;
    const char *version, *kind;
    std::array<double, 4> lifetimes; ///< warm alloc, warm free, cold alloc, cold free; below zero: not measured
    std::array<double, 6> pools;     ///< pair, alloc, free, random free, refill, drop per object
    double peak_mib, after_mib;
};

constexpr double no = -1;

constexpr std::array<row, 15> table{{
    {"glibc malloc",
     peer,
     "2.36-9+deb12u9",
     "system",
     {7.46, 10.4, 32.9, 21},
     {14.9, 16.7, 19.5, 329, 229, no},
     388,
     3.1},
    {"jemalloc", peer, "5.3.0-1", "preload", {5.99, 10.17, 11.5, 14}, {9.1, 42, 14.6, 34, 35, no}, 330, 41},
    {"mimalloc", peer, "2.0.9+ds-2", "preload", {2.98, 3.0, 5.6, 5}, {8.5, 14, 9.3, 75, 13.9, 0.16}, 312, 4.0},
    {"tcmalloc", peer, "2.10-1+b1", "preload", {4.25, 4.58, 7.5, 9}, {8.8, 18.4, 17.7, 225, 18.5, no}, 315, 316},
    {"TBB scalable_malloc", peer, "2021.8.0-2", "preload", {4.9, 5.3, 9.9, 11}, {9.9, 22, 18, 120, 40, no}, 322, 96},
    {"tenure Temp", ours, "0.1.0", "inlined", {1.05, 0.05, 3.6, 0.1}, {no, no, no, no, no, no}, no, no},
    {"tenure TempJob", ours, "0.1.0", "inlined", {1.8, 2.4, 5.1, 3}, {no, no, no, no, no, no}, no, no},
    {"tenure pool", ours, "0.1.0", "inlined", {no, no, no, no}, {2.1, 9.6, 4.8, 7.2, 11.5, 0.18}, 310, 1.9},
    {"tenure small_object", ours, "0.1.0", "inlined", {no, no, no, no}, {3.4, 11.9, 8.8, 9.4, 13.9, no}, 313, 2.4},
    {"boost::pool", peer, "1.74.0", "library", {2.98, 0.69, 14.1, 1.2}, {2.9, 11.4, 10.1, 47, 184, 6.4}, 516, 2.0},
    {"boost::fast_pool_allocator, default mutex",
     peer,
     "1.74.0",
     "library",
     {no, no, no, no},
     {16.8, 14, 11.8, 48, 187, no},
     516,
     516},
    {"Loki SmallObject", peer, "0.1.7", "library", {no, no, no, no}, {39, 407, 27, no, no, no}, 311, 120},
    {"std::pmr monotonic", peer, "GCC 12.2", "library", {3.85, 1.67, 6, 2}, {no, no, no, no, no, no}, no, no},
    {"std::pmr unsynchronized pool",
     peer,
     "GCC 12.2",
     "library",
     {18.8, 21.6, 26.6, 24},
     {38, 182, 34, 74, 180, 4.3},
     318,
     2.2},
    {"trivial bump",
     reference,
     "",
     "reference (ours)",
     {1.02, 0.04, 3.7, 0.04},
     {2.2, 8.7, 1.3, no, 9.0, 3.7},
     309,
     1.8},
}};

void add(contestant_result& into, noise& drawn, const char* name, const std::string& variant, const char* unit,
         double value, better sense = better::smaller) {
    if (value < 0) return;
    into.metrics.push_back({name, variant, unit, sense, drawn.around(value)});
    if (sense == better::neither) into.metrics.back().samples.assign(rounds, value);
}

/// Runs of `usual` with jumps every `period`, and now and then one far away.
std::vector<std::int64_t> regular(std::int64_t usual, std::size_t period, std::int64_t jump) {
    std::vector<std::int64_t> made;
    for (std::size_t index = 1; index < 1000; ++index) {
        made.push_back(period != 0 && index % period == 0 ? jump : usual);
    }
    return made;
}

std::vector<std::int64_t> scattered(noise& drawn) {
    std::vector<std::int64_t> made;
    for (std::size_t index = 1; index < 1000; ++index) {
        const double reach = drawn.bits() % 5 == 0 ? 8e6 : 2e6;
        made.push_back(static_cast<std::int64_t>((drawn.unit() - 0.5) * 2 * reach) / 16 * 16);
    }
    return made;
}

std::vector<std::int64_t> distances_for(const std::string& name, bool warm, noise& drawn) {
    if (name == "tenure Temp") return warm ? regular(0, 0, 0) : article_temp_distances();
    if (name == "glibc malloc") return regular(28, 0, 0);
    if (name == "jemalloc" && warm) return regular(-12, 64, 28668);
    if (name == "jemalloc") return regular(4, 512, 126980);
    if (name == "mimalloc") return regular(4, 503, 61444);
    if (name == "trivial bump" || name == "std::pmr monotonic") return regular(0, 0, 0);
    if (name == "tcmalloc") return warm ? regular(-12, 0, 0) : regular(4, 0, 0);
    if (name.starts_with("std::pmr unsync")) return scattered(drawn);
    return regular(name == "tenure TempJob" ? 12 : 4, 341, 68);
}

contestant_result named(const row& from) {
    contestant_result made;
    made.name = from.name;
    made.version = from.version;
    made.kind = from.kind;
    made.role = from.role;
    made.proof = std::string("its code is in this program; 7 014 000 of 7 014 000 blocks were its own");
    return made;
}

contestant_result in_lifetimes(const row& from, noise& drawn) {
    contestant_result made = named(from);
    const auto& [alloc, release, cold_alloc, cold_release] = from.lifetimes;
    add(made, drawn, "alloc", "warm", "ns/op", alloc);
    add(made, drawn, "free", "warm", "ns/op", release);
    add(made, drawn, "alloc", "cold", "ns/op", cold_alloc);
    add(made, drawn, "free", "cold", "ns/op", cold_release);
    if (made.name == "tenure Temp") {
        add(made, drawn, "overflow index", "cold", "", 819, better::neither);
        add(made, drawn, "overflow distance", "cold", "bytes", 140685055869340.0, better::neither);
        add(made, drawn, "alloc before the overflow", "cold", "ns/op", 1.1, better::neither);
        add(made, drawn, "alloc at the overflow", "cold", "ns/op", 240, better::neither);
        add(made, drawn, "alloc after the overflow", "cold", "ns/op", 2.1, better::neither);
    }
    made.lists.push_back({"distances", "cold", "bytes", distances_for(made.name, false, drawn)});
    made.lists.push_back({"distances", "warm", "bytes", distances_for(made.name, true, drawn)});
    return made;
}

contestant_result in_pools(const row& from, noise& drawn) {
    contestant_result made = named(from);
    struct size {
        const char* name;
        double factor;
    };
    for (const size each : {size{"8 B", 0.7}, size{"64 B", 1.0}, size{"280 B", 2.4}}) {
        const std::string bytes = each.name;
        const auto scaled = [&](double value) { return value < 0 ? value : value * each.factor; };
        add(made, drawn, "new and delete", bytes + ", one at a time", "ns/pair", from.pools[0]);
        add(made, drawn, "alloc", bytes + ", 5 M in order", "ns/op", scaled(from.pools[1]));
        add(made, drawn, "free", bytes + ", 5 M in order", "ns/op", scaled(from.pools[2]));
        add(made, drawn, "free", bytes + ", 5 M at random", "ns/op", scaled(from.pools[3]));
        add(made, drawn, "refill", bytes + ", 5 M at random", "ns/op", scaled(from.pools[4]));
        add(made, drawn, "drop", bytes + ", all at once", "ns/object", scaled(from.pools[5]));
    }
    add(made, drawn, "peak", "64 B", "MiB", from.peak_mib);
    add(made, drawn, "after free", "64 B", "MiB", from.after_mib);
    return made;
}

experiment_result lifetimes() {
    noise drawn(1);
    experiment_result made;
    made.name = "lifetimes";
    made.question =
        "What do one allocation and one free of a small block cost, cold and warm, and how far from the block "
        "before does it lie?";
    made.unfair = {"A preloaded malloc is called through the dynamic linker, as programs call it; pools and arenas are "
                   "inlined from headers. That is how each is used, and about a nanosecond of the difference.",
                   "It does not show mixed sizes, long lives, or what the distances do to a program."};
    made.baseline = "glibc malloc";
    made.parameters = {{"--count", "1000"}, {"--bytes", "4"}, {"--align", "4"}, {"--budget", "16384"}};
    made.rounds = rounds;
    for (const row& from : table) {
        if (from.lifetimes[0] >= 0) made.contestants.push_back(in_lifetimes(from, drawn));
    }
    made.contestants.push_back(absent("snmalloc", outcome::missing, "Debian has no package of it"));
    return made;
}

experiment_result pools() {
    noise drawn(2);
    experiment_result made;
    made.name = "pools";
    made.question =
        "Which pool creates and destroys objects of one size fastest, in which order, and gives memory back?";
    made.unfair = {"boost::object_pool is quadratic in random frees, so its count is bounded.",
                   "Cold figures are the kernel's first touch and say little about the pool."};
    made.baseline = "glibc malloc";
    made.parameters = {{"--count", "5000000"}, {"--seed", "42"}};
    made.rounds = rounds;
    for (const row& from : table) {
        if (from.pools[0] >= 0) made.contestants.push_back(in_pools(from, drawn));
    }
    made.contestants.push_back(absent("HPHA", outcome::missing, "no package has it; its source is in O3DE's tree"));
    made.contestants.push_back(absent("./libmine.so", outcome::failed, "two threads, round 3: killed by signal 11"));
    made.properties = {
        {"Properties",
         {"", "platforms", "threads", "any-order free", "drop all", "memory returned", "largest object", "overhead"},
         {{"tenure pool", "Linux", "one (shared_pool: any)", "yes, O(1)", "yes", "trim", "segment", "1 bit"},
          {"boost::object_pool", "any", "one", "yes, O(n)", "yes", "on destruction", "any", "none"},
          {"Loki SmallObject", "any", "any, by a lock", "yes", "no", "late", "256 bytes", "none"},
          {"HPHA", "Windows", "any, by a lock", "yes", "no", "yes", "any", "none; 8 bytes past 256"}}}};
    made.ranking_rule = "The geometric mean of the ratios to glibc malloc, over all times that both have.";
    return made;
}

}

std::vector<std::int64_t> article_temp_distances() {
    std::vector<std::int64_t> made(818, 16);
    made.push_back(140685055869340);
    while (made.size() < 999) made.push_back(made.size() % 5 == 0 ? 44 : 28);
    return made;
}

result plausible_result() {
    result made = small_result();
    made.command = "tenure bench --full --out report";
    made.machine.cpu = "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.50GHz";
    made.experiments = {lifetimes(), pools()};
    return made;
}

}
