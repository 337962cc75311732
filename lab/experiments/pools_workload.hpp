// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The suites of the pools experiment, written once over an adaptor; `pools_population.hpp` says what that is.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "experiments/exchange.hpp"
#include "experiments/pools.hpp"
#include "experiments/pools_population.hpp"
#include "harness/measure.hpp"
#include "harness/memory.hpp"

namespace tenure::lab {

constexpr std::size_t objects_shown = 64;

/// A suite that has one object at a time makes some for the proof.
template<class Adaptor>
void show_some(const task& asked, Adaptor& pool) {
    page_array<void*> const objects(objects_shown);
    population<Adaptor> some(pool, objects.all());
    if (some.construct_all() < 0) return asked.out.fail("an object was refused");
    asked.out.blocks(some.list(), sizeof(typename Adaptor::object));
    some.destroy_all();
}

/// Suite 1: a pair is constructed, looked at and destroyed; five to a round, as in the article.
template<class Adaptor>
void run_pairs(const task& asked) {
    using object = typename Adaptor::object;
    constexpr int pairs_per_round = 5;
    Adaptor pool = make_adaptor<Adaptor>(objects_shown);
    escape(&pool);
    bool intact = true;
    auto const pair = [&](int number) {
        object* const made = pool.construct(number);
        escape(made);
        intact &= made != nullptr && made->value == number;
        pool.destroy(made);
    };
    int const rounds = static_cast<int>(asked.options["pairs"]);
    stopwatch const watch;
    for (int i = 1; i <= rounds; ++i) {
        for (int each = 0; each < pairs_per_round; ++each) pair(i);
    }
    double const spent = watch.elapsed_ns() / (static_cast<double>(rounds) * pairs_per_round);
    if (!intact) return asked.out.fail("an object was refused, or did not hold its number");
    show_some(asked, pool);
    asked.out.value("pair", fmt::format("suite 1, {} B", sizeof(object)), "ns/pair", spent);
}

enum class free_order : std::uint8_t { forward, reverse, random };

/// One warm repetition: destroy them all in an order, construct them all again.
template<class Adaptor>
bool cycle(population<Adaptor>& all, free_order order, random_source& random, double& frees, double& allocations) {
    if (!all.numbers_hold()) return false;
    if (order == free_order::reverse) all.reverse();
    if (order == free_order::random) all.shuffle_with(random);
    frees = all.destroy_all();
    allocations = all.construct_all();
    return allocations >= 0;
}

template<class Adaptor>
bool measure_order(const task& asked, population<Adaptor>& all, free_order order, const std::string& size) {
    std::size_t const repeats = asked.options.size("repeats");
    page_array<double> const frees(repeats), allocations(repeats);
    random_source random(asked.seed);
    for (std::size_t i = 0; i < repeats; ++i) {
        if (!cycle(all, order, random, frees[i], allocations[i])) return false;
    }
    constexpr std::array<std::string_view, 3> names{"warm, in order", "warm, reverse", "warm, random"};
    std::string const variant = fmt::format("{}, {}", size, names[static_cast<std::size_t>(order)]);
    std::string_view const refill = order == free_order::random ? "refill" : "alloc";
    if (order != free_order::random) asked.out.value(refill, variant, "ns/op", median_of(allocations.all()));
    asked.out.value("free", variant, "ns/op", median_of(frees.all()));
    if (order == free_order::random) asked.out.value(refill, variant, "ns/op", median_of(allocations.all()));
    return true;
}

/// Above this many objects a scheme whose free searches is left out of the random order.
constexpr std::size_t most_random_for_searching = 200'000;

/// Suite 2: everything that is done with all objects at once, and their memory.
template<class Adaptor>
void run_whole(const task& asked) {
    std::size_t const count = asked.options.size("objects");
    page_array<void*> const objects(count);
    std::string const size = fmt::format("{} B", sizeof(typename Adaptor::object));
    memory_meter const meter;
    Adaptor pool = make_adaptor<Adaptor>(count);
    population<Adaptor> all(pool, objects.all());
    double const cold_alloc = all.construct_all();
    if (cold_alloc < 0) return asked.out.fail("an object was refused");
    double const alive = meter.resident_mib(), huge = meter.huge_mib();
    if (!all.numbers_hold()) return asked.out.fail("an object did not hold its number");
    double const cold_free = all.destroy_all();
    if (all.construct_all() < 0) return asked.out.fail("an object was refused");
    constexpr bool searches = requires { Adaptor::searches_when_freeing; };
    for (free_order const order : {free_order::forward, free_order::reverse, free_order::random}) {
        if (order == free_order::random && searches && count > most_random_for_searching) continue;
        if (!measure_order(asked, all, order, size)) {
            return asked.out.fail("an object was refused, or did not hold its number");
        }
    }
    if (!all.numbers_hold()) return asked.out.fail("an object did not hold its number");
    asked.out.blocks(all.list(), sizeof(typename Adaptor::object));
    all.destroy_all();
    asked.out.value("alloc", size + ", cold", "ns/op", cold_alloc);
    asked.out.value("free", size + ", cold", "ns/op", cold_free);
    asked.out.value("all alive", size, "MiB", alive);
    asked.out.value("peak", size, "MiB", std::max(alive, meter.peak_mib()));
    asked.out.value("after free", size, "MiB", meter.resident_mib());
    if constexpr (can_trim<Adaptor>) {
        pool.trim();
        asked.out.value("after trim", size, "MiB", meter.resident_mib());
    }
    if (huge > 0) asked.out.note(fmt::format("{:.0f} MiB in huge pages at {}", huge, size));
}

/// Everything at once. The first repetition is not counted: its memory is touched for the first time.
template<class Adaptor>
void run_drop(const task& asked) {
    std::size_t const count = asked.options.size("objects"), repeats = asked.options.size("repeats");
    page_array<void*> const objects(count);
    page_array<double> const drops(repeats), allocations(repeats);
    Adaptor pool = make_adaptor<Adaptor>(count);
    population<Adaptor> all(pool, objects.all());
    for (std::size_t i = 0; i <= repeats; ++i) {
        double const spent = all.construct_all();
        if (spent < 0 || !all.numbers_hold()) {
            return asked.out.fail("an object was refused, or did not hold its number");
        }
        if (i == 0) asked.out.blocks(all.list(), sizeof(typename Adaptor::object));
        stopwatch const watch;
        pool.drop();
        double const dropped = watch.elapsed_ns() / static_cast<double>(count);
        if (i == 0) continue;
        allocations[i - 1] = spent;
        drops[i - 1] = dropped;
    }
    std::string const variant = fmt::format("{} B, all at once", sizeof(typename Adaptor::object));
    asked.out.value("drop", variant, "ns/object", median_of(drops.all()));
    asked.out.value("alloc after it", variant, "ns/op", median_of(allocations.all()));
}

/// The article's number: with millions boost::object_pool would not come to an end.
constexpr std::size_t most_alive_for_destroy_one = 50'000;

/// What one destroy costs in the middle of the article's loop, which destroys in the order of construction: half of the
/// objects are gone, lowest last so that a list in the order of addresses had it easy, and the next few are timed.
template<class Adaptor>
void run_destroy_one(const task& asked) {
    constexpr std::size_t groups = 3;
    std::size_t const count = std::min(asked.options.size("objects"), most_alive_for_destroy_one), half = count / 2;
    std::size_t const destroys = std::min(asked.options.size("destroys"), half / groups);
    page_array<void*> const objects(count);
    std::array<double, groups> spent{};
    Adaptor pool = make_adaptor<Adaptor>(count);
    population<Adaptor> all(pool, objects.all()), gone(pool, objects.all().first(half));
    if (all.construct_all() < 0 || !all.numbers_hold()) {
        return asked.out.fail("an object was refused, or did not hold its number");
    }
    asked.out.blocks(all.list(), sizeof(typename Adaptor::object));
    gone.reverse();
    gone.destroy_all();
    for (std::size_t i = 0; i < groups; ++i) {
        spent[i] = population<Adaptor>(pool, objects.all().subspan(half + i * destroys, destroys)).destroy_all();
    }
    std::string const variant = fmt::format("{} B, one of many", sizeof(typename Adaptor::object));
    asked.out.value("destroy one", variant, "ns/op", median_of(spent));
}

/// An adaptor as the exchange of blocks between two threads wants it.
template<class Adaptor>
class exchanged {
public:
    explicit exchanged(Adaptor& pool) : pool_(pool) {}
    void* allocate() { return pool_.construct(0); }
    void deallocate(void* block) { pool_.destroy(static_cast<typename Adaptor::object*>(block)); }
    void end_batch(std::size_t) {}

private:
    Adaptor& pool_;
};

template<class Adaptor>
void run_two_threads(const task& asked) {
    Adaptor pool = make_adaptor<Adaptor>(4 * exchange_blocks);
    exchanged<Adaptor> shared(pool);
    std::string const variant = fmt::format("two threads, {} B", sizeof(typename Adaptor::object));
    measure_exchange(asked, variant, sizeof(typename Adaptor::object), shared, shared);
}

}
