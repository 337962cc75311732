// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The suites of the pools experiment, written once for any adaptor. For the adaptor's interface, see
/// `pools_population.hpp`.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "bench/experiments/pools/pools.hpp"
#include "bench/experiments/pools/pools_population.hpp"
#include "bench/experiments/shared/exchange.hpp"
#include "bench/harness/machine/memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

constexpr std::size_t objects_shown = 64;

/// Shows live objects to the proof.
template<class Adaptor>
void show(const task& asked, const Adaptor& pool, std::span<void* const> alive) {
    asked.out.blocks(alive, sizeof(typename Adaptor::object), owner_of(pool));
}

/// Ends a part that leaves nothing alive.
template<class Adaptor>
void check_new(const task& asked, Adaptor& pool, std::span<void*> objects) {
    const std::string_view fault = check_objects(pool, objects, random_source(asked.seed));
    if (!fault.empty()) asked.out.fail(fault);
}

/// A suite that has only one object at a time makes some for the proof and the check.
template<class Adaptor>
void show_some(const task& asked, Adaptor& pool) {
    const page_array<void*> objects(objects_shown);
    population<Adaptor> some(pool, objects.all());
    if (some.construct_all() < 0) return asked.out.fail("an object could not be allocated");
    show(asked, pool, some.list());
    some.destroy_all();
    check_new(asked, pool, objects.all());
}

/// Suite 1: a pair is constructed, read and destroyed; five per round, as in the article.
template<class Adaptor>
void run_pairs(const task& asked) {
    using object = typename Adaptor::object;
    constexpr int pairs_per_round = 5;
    Adaptor pool = make_adaptor<Adaptor>(objects_shown);
    escape(&pool);
    bool intact = true;
    const auto pair = [&](int number) {
        object* const made = pool.construct(number);
        escape(made);
        intact &= made != nullptr && made->value == number;
        pool.destroy(made);
    };
    const int rounds = static_cast<int>(asked.options["pairs"]);
    const stopwatch watch;
    for (int i = 1; i <= rounds; ++i) {
        for (int each = 0; each < pairs_per_round; ++each) pair(i);
    }
    const double spent = watch.elapsed_ns() / (static_cast<double>(rounds) * pairs_per_round);
    if (!intact) return asked.out.fail("an object could not be allocated, or did not hold its number");
    asked.out.value("pair", fmt::format("suite 1, {} B", sizeof(object)), "ns/pair", spent);
    show_some(asked, pool);
}

enum class free_order : std::uint8_t { forward, reverse, random };

/// One warm repetition: destroys all in an order, then constructs all again.
template<class Adaptor>
bool cycle(population<Adaptor>& all, free_order order, random_source& random, double& frees, double& allocations) {
    if (!all.numbers_hold()) return false;
    if (order == free_order::reverse) all.reverse();
    if (order == free_order::random) all.shuffle_with(random);
    frees = all.destroy_all();
    allocations = all.construct_all();
    return allocations >= 0;
}

/// A slow scheme stops repeating after this time, once it has enough repetitions for a median. Their number is odd, so
/// the median is the middle one and not the worse of two.
constexpr double repeats_limit_ns = 1e9;
constexpr std::size_t min_repeats = 3;

constexpr bool may_stop(std::size_t repeated, double spent_ns) {
    return repeated >= min_repeats && repeated % 2 == 1 && spent_ns > repeats_limit_ns;
}

/// Adds one sentence to a row, however many of its figures it applies to.
inline void tell_fewer_repeats(const task& asked) {
    asked.out.note(
        fmt::format("some warm figures are medians of fewer than {} repetitions, which took more than {:g} s",
                    asked.options.size("repeats"), repeats_limit_ns / 1e9));
}

template<class Adaptor>
bool measure_order(const task& asked, population<Adaptor>& all, free_order order, const std::string& size) {
    const std::size_t repeats = asked.options.size("repeats");
    const page_array<double> all_frees(repeats), all_allocations(repeats);
    random_source random(asked.seed);
    std::size_t done = 0;
    const stopwatch whole;
    for (; done < repeats && !may_stop(done, whole.elapsed_ns()); ++done) {
        if (!cycle(all, order, random, all_frees[done], all_allocations[done])) return false;
    }
    if (done < repeats) tell_fewer_repeats(asked);
    const double frees = median_of(all_frees.all().first(done));
    const double allocations = median_of(all_allocations.all().first(done));
    constexpr std::array<std::string_view, 3> names{"warm, in order", "warm, reverse", "warm, random"};
    const std::string variant = fmt::format("{}, {}", size, names[static_cast<std::size_t>(order)]);
    const std::string_view refill = order == free_order::random ? "refill" : "alloc";
    if (order != free_order::random) asked.out.value(refill, variant, "ns/op", allocations);
    asked.out.value("free", variant, "ns/op", frees);
    if (order == free_order::random) asked.out.value(refill, variant, "ns/op", allocations);
    return true;
}

/// The memory of suite 2, after everything was destroyed.
template<class Adaptor>
void tell_memory(const task& asked, Adaptor& pool, const memory_meter& meter, double alive, double huge,
                 const std::string& size) {
    asked.out.value("all alive", size, "MiB", alive);
    asked.out.value("peak", size, "MiB", std::max(alive, meter.peak_mib()));
    asked.out.value("after free", size, "MiB", meter.resident_mib());
    if constexpr (can_trim<Adaptor>) {
        pool.trim();
        asked.out.value("after trim", size, "MiB", meter.resident_mib());
    }
    if (huge > 0) asked.out.note(fmt::format("{:.0f} MiB in huge pages at {}", huge, size));
}

/// The number of objects in suite 2: as many as finish, if the scheme's time is quadratic.
template<class Adaptor>
std::size_t whole_count(const task& asked) {
    const std::size_t count = asked.options.size("objects");
    if constexpr (requires { Adaptor::max_whole; }) {
        return std::min(count, Adaptor::max_whole);
    } else {
        return count;
    }
}

/// "64 B"; "64 B (50000 objects)" with fewer than the others have, so that its figures are compared with nobody's.
template<class Adaptor>
std::string whole_variant(const task& asked, std::size_t count) {
    const std::string size = fmt::format("{} B", sizeof(typename Adaptor::object));
    const std::size_t others = asked.options.size("objects");
    if (count == others) return size;
    asked.out.note(fmt::format("at {} with {} objects instead of {}, in columns of its own and without memory figures: "
                               "a destroy walks the free list, so its time grows with their number",
                               size, count, others));
    return fmt::format("{} ({} objects)", size, count);
}

/// Suite 2: all operations on all objects at once, and their memory.
template<class Adaptor>
void run_whole(const task& asked) {
    const std::size_t count = whole_count<Adaptor>(asked);
    const page_array<void*> objects(count);
    const std::string size = whole_variant<Adaptor>(asked, count);
    const memory_meter meter;
    Adaptor pool = make_adaptor<Adaptor>(count);
    population<Adaptor> all(pool, objects.all());
    const double cold_alloc = all.construct_all();
    if (cold_alloc < 0) return asked.out.fail("an object could not be allocated");
    const double alive = meter.resident_mib(), huge = meter.huge_mib();
    if (!all.numbers_hold()) return asked.out.fail("an object did not hold its number");
    const double cold_free = all.destroy_all();
    if (all.construct_all() < 0) return asked.out.fail("an object could not be allocated");
    for (const free_order order : {free_order::forward, free_order::reverse, free_order::random}) {
        if (!measure_order(asked, all, order, size)) {
            return asked.out.fail("an object could not be allocated, or did not hold its number");
        }
    }
    if (!all.numbers_hold()) return asked.out.fail("an object did not hold its number");
    show(asked, pool, all.list());
    all.destroy_all();
    asked.out.value("alloc", size + ", cold", "ns/op", cold_alloc);
    asked.out.value("free", size + ", cold", "ns/op", cold_free);
    if (count == asked.options.size("objects")) tell_memory(asked, pool, meter, alive, huge, size);
    check_new(asked, pool, objects.all());
}

/// Drops everything at once. The first repetition is not counted, because its memory is touched for the first time.
template<class Adaptor>
void run_drop(const task& asked) {
    const std::size_t count = asked.options.size("objects"), repeats = asked.options.size("repeats");
    const page_array<void*> objects(count);
    const page_array<double> drops(repeats + 1), allocations(repeats + 1); // the first of each is not counted
    Adaptor pool = make_adaptor<Adaptor>(count);
    population<Adaptor> all(pool, objects.all());
    std::size_t done = 0;
    const stopwatch whole;
    for (; done <= repeats && (done == 0 || !may_stop(done - 1, whole.elapsed_ns())); ++done) {
        allocations[done] = all.construct_all();
        if (allocations[done] < 0 || !all.numbers_hold()) {
            return asked.out.fail("an object could not be allocated, or did not hold its number");
        }
        if (done == 0) show(asked, pool, all.list());
        const stopwatch watch;
        pool.drop();
        drops[done] = watch.elapsed_ns() / static_cast<double>(count);
    }
    if (done <= repeats) tell_fewer_repeats(asked);
    const std::string variant = fmt::format("{} B, all at once", sizeof(typename Adaptor::object));
    asked.out.value("drop", variant, "ns/object", median_of(drops.all().first(done).subspan(1)));
    asked.out.value("alloc after it", variant, "ns/op", median_of(allocations.all().first(done).subspan(1)));
    check_new(asked, pool, objects.all());
}

/// The article's number. With millions, boost::object_pool would not finish.
constexpr std::size_t max_alive_for_destroy_one = 50'000;

/// The cost of one destroy in the middle of the article's loop, which destroys in the order of construction. Half of
/// the objects are already gone, destroyed so that the lowest comes last, which suits a list in address order; then the
/// next few are timed.
template<class Adaptor>
void run_destroy_one(const task& asked) {
    constexpr std::size_t groups = 3;
    const std::size_t count = std::min(asked.options.size("objects"), max_alive_for_destroy_one), half = count / 2;
    const std::size_t destroys = std::min(asked.options.size("destroys"), half / groups);
    const page_array<void*> objects(count);
    std::array<double, groups> spent{};
    Adaptor pool = make_adaptor<Adaptor>(count);
    population<Adaptor> all(pool, objects.all()), gone(pool, objects.all().first(half));
    if (all.construct_all() < 0 || !all.numbers_hold()) {
        return asked.out.fail("an object could not be allocated, or did not hold its number");
    }
    show(asked, pool, all.list());
    gone.reverse();
    gone.destroy_all();
    for (std::size_t i = 0; i < groups; ++i) {
        spent[i] = population<Adaptor>(pool, objects.all().subspan(half + i * destroys, destroys)).destroy_all();
    }
    const std::string variant = fmt::format("{} B, one of many", sizeof(typename Adaptor::object));
    asked.out.value("destroy one", variant, "ns/op", median_of(spent));
    population<Adaptor> again(pool, objects.all().first(half + groups * destroys));
    if (again.construct_all() < 0) return asked.out.fail("an object could not be allocated");
    const std::string_view fault = check_alive<Adaptor>(objects.all());
    if (!fault.empty()) asked.out.fail(fault);
}

/// Adapts an adaptor to the interface of the two-thread exchange.
template<class Adaptor>
class exchanged {
public:
    explicit exchanged(Adaptor& pool) : pool_(pool) {}
    void* allocate() { return pool_.construct(0); }
    void deallocate(void* block) { pool_.destroy(static_cast<typename Adaptor::object*>(block)); }
    void end_batch(std::size_t) {}
    [[nodiscard]] block_owner owner() const { return owner_of(pool_); }

private:
    Adaptor& pool_;
};

template<class Adaptor>
void run_two_threads(const task& asked) {
    Adaptor pool = make_adaptor<Adaptor>(4 * exchange_blocks);
    exchanged<Adaptor> shared(pool);
    const std::string variant = fmt::format("two threads, {} B", sizeof(typename Adaptor::object));
    measure_exchange(asked, variant, {sizeof(typename Adaptor::object), promised_alignment<Adaptor>()}, shared, shared);
}

}
