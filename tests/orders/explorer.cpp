// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "orders/explorer.hpp"

#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "orders/machine.hpp"
#include "orders/sites.hpp"

namespace orders {

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} * 1024;
constexpr std::size_t arena_bytes = std::size_t{4} << 20;

enum class fiber_state : std::uint8_t {
    ready,
    awaits, ///< a message that ends a loop
    sleeps, ///< in the kernel
    ended
};

struct fiber {
    ucontext_t context{};
    std::function<void()> body;
    fiber_state state = fiber_state::ready;
    const void* at = nullptr; ///< what it awaits or sleeps for
    std::uint64_t value = 0;
    bool until_equal = false;
};

struct choice {
    std::size_t chosen, count;
};

/// Memory that a thread has mapped while the threads ran: who uses it must know.
struct mapping {
    std::uintptr_t begin, end;
    std::size_t thread;
    std::uint16_t clock;
};

std::size_t choose(std::size_t count);

struct search {
    machine memory{&choose};
    fiber fibers[max_threads];
    ucontext_t outside{};
    std::size_t fiber_count = 0;
    std::size_t arena_used = 0, arena_dirty = 0;
    std::vector<mapping> mappings;
    std::function<void()> check;
    std::vector<choice> trail;
    std::size_t position = 0;
    std::size_t operations = 0;
    std::unordered_set<std::uint64_t> seen;
    options how;
    result found;
    std::string outcome;
    bool is_traced = false, is_pruned = false;
    bool is_changed = false; ///< whether there was an operation since the last point
};
// Apart from the rest, which is not ready while objects of static duration are constructed.
constinit std::size_t current_thread = max_threads;
search now;
alignas(64) unsigned char stacks[max_threads][stack_bytes];
alignas(64) unsigned char arena[arena_bytes];

std::size_t choose(std::size_t count) {
    if (count == 1) return 0;
    if (now.position == now.trail.size()) now.trail.push_back({0, count});
    if (now.trail[now.position].count != count) std::abort(); // the program does not do the same each time
    return now.trail[now.position++].chosen;
}

/// Ends the execution, from one of its threads. The fibers are abandoned.
[[noreturn]] void leave() {
    current_thread = max_threads;
    ::setcontext(&now.outside);
    std::abort();
}

[[noreturn]] void fail(const std::string& what) {
    now.found.failure = what;
    leave();
}

[[nodiscard]] bool is_enabled(const fiber& each, std::size_t index) {
    if (each.state != fiber_state::awaits) return each.state == fiber_state::ready;
    return now.memory.can_end(index, now.memory.find(each.at, 0), each.value, each.until_equal);
}

/// Chooses the thread that goes on, and switches to it: the running one first.
void schedule() {
    std::size_t enabled[max_threads];
    std::size_t count = 0;
    const std::size_t from = current_thread;
    if (from != max_threads && is_enabled(now.fibers[from], from)) enabled[count++] = from;
    bool is_over = true;
    for (std::size_t index = 0; index < now.fiber_count; ++index) {
        is_over &= now.fibers[index].state == fiber_state::ended;
        if (index != from && is_enabled(now.fibers[index], index)) enabled[count++] = index;
    }
    if (is_over) leave();
    if (count == 0) fail("deadlock: every thread waits");
    const std::size_t to = enabled[choose(count)];
    if (to == from) return;
    current_thread = to;
    if (from == max_threads)
        ::swapcontext(&now.outside, &now.fibers[to].context);
    else
        ::swapcontext(&now.fibers[from].context, &now.fibers[to].context);
}

/// Before each operation.
void point() {
    // A thread that has begun, or was woken, since the last look: it was chosen to go on.
    if (!now.is_changed && is_enabled(now.fibers[current_thread], current_thread)) {
        now.is_changed = true;
        return;
    }
    if (++now.operations > now.how.max_operations) fail("an execution has too many operations");
    if (now.how.prunes && now.is_changed && now.position == now.trail.size() && !now.is_traced) {
        if (!now.seen.insert(now.memory.fingerprint()).second) {
            now.is_pruned = true;
            leave();
        }
    }
    now.is_changed = false;
    schedule();
    now.is_changed = true; // by the operation that follows
}

void check_mapped(const void* at) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    for (const mapping& each : now.mappings) {
        const bool is_known = now.memory.thread(current_thread).current.clock[each.thread] >= each.clock;
        if (address >= each.begin && address < each.end && !is_known) fail("race: memory is used before it is mapped");
    }
}

/// The location of an operation.
[[nodiscard]] std::size_t find(const void* at, std::uint64_t raw) {
    check_mapped(at);
    return now.memory.find(at, raw);
}

void run_fiber() {
    now.fibers[current_thread].body();
    now.fibers[current_thread].state = fiber_state::ended;
    schedule();
}

void trace(const site_entry& of, const void* at, std::memory_order order, std::uint64_t value) {
    if (!now.is_traced) return;
    char text[256];
    std::snprintf(text, sizeof text, "thread %zu: %s %s at %p: %llx", current_thread, of.name.c_str(), name_of(order),
                  at, static_cast<unsigned long long>(value));
    now.found.trace.emplace_back(text);
}

/// One execution, by the trail and then by the first of each choice.
void execute(const std::function<void(run&)>& program) {
    now.memory.clear();
    now.position = now.operations = now.fiber_count = now.arena_used = 0;
    current_thread = max_threads;
    now.mappings.clear();
    now.is_pruned = now.is_changed = false;
    now.check = nullptr;
    now.outcome.clear();
    std::memset(arena, 0, now.arena_dirty);
    run set_up;
    program(set_up);
    for (std::size_t index = 0; index < now.fiber_count; ++index) {
        fiber& each = now.fibers[index];
        each.state = fiber_state::ready;
        ::getcontext(&each.context);
        each.context.uc_stack = {stacks[index], 0, stack_bytes};
        each.context.uc_link = nullptr;
        ::makecontext(&each.context, &run_fiber, 0);
    }
    schedule(); // until leave()
    now.arena_dirty = std::max(now.arena_dirty, now.arena_used);
    if (!now.found.failure.empty() || now.is_pruned) return;
    if (now.check) now.check();
    now.found.outcomes.insert(now.outcome);
    ++now.found.complete;
}

[[nodiscard]] bool advance() {
    while (!now.trail.empty() && now.trail.back().chosen + 1 == now.trail.back().count) now.trail.pop_back();
    if (now.trail.empty()) return false;
    ++now.trail.back().chosen;
    return true;
}

}

void* run::allocate(std::size_t bytes, std::size_t alignment) {
    now.arena_used = (now.arena_used + alignment - 1) & ~(alignment - 1);
    if (bytes > arena_bytes - now.arena_used) std::abort();
    void* const memory = arena + now.arena_used;
    now.arena_used += bytes;
    return memory;
}

void* map(std::size_t bytes, std::size_t alignment) {
    void* const memory = run::allocate(bytes, alignment);
    if (current_thread == max_threads) return memory;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    now.mappings.push_back(
        {begin, begin + bytes, current_thread, now.memory.thread(current_thread).current.clock[current_thread]});
    return memory;
}

void run::thread(std::function<void()> body) {
    if (now.fiber_count == max_threads) std::abort();
    now.fibers[now.fiber_count++].body = std::move(body);
}
void run::at_end(std::function<void()> check) { now.check = std::move(check); }
void run::note(const std::string& text) { now.outcome += text; }

result explore(const std::function<void(run&)>& program, const options& how) {
    const auto begin = std::chrono::steady_clock::now();
    now.how = how;
    now.found = {};
    now.trail.clear();
    now.seen.clear();
    now.is_traced = false;
    weaken_sites(how.weakened);
    bool is_left = true;
    while (is_left && now.found.failure.empty() && now.found.executions < how.max_executions) {
        execute(program);
        ++now.found.executions;
        if (now.found.failure.empty()) is_left = advance();
    }
    now.found.is_exhaustive = !is_left;
    now.found.states = now.seen.size();
    if (!now.found.failure.empty()) { // once more, to tell how
        now.is_traced = true;
        execute(program);
        now.is_traced = false;
    }
    now.found.sites = used_sites();
    now.found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(now.found);
}

void require(bool condition, const char* what) {
    if (condition) return;
    if (current_thread != max_threads) fail(what);
    if (now.found.failure.empty()) now.found.failure = what;
}

std::size_t this_thread() noexcept { return current_thread; }
void* thread_pointer() noexcept { return stacks[current_thread == max_threads ? 0 : current_thread] + 16; }

// Operations. While no thread runs, variables have their plain values.

void initialise(const void* at, std::uint64_t value) noexcept {
    if (current_thread != max_threads) now.memory.initialise(at, current_thread, value);
}

std::uint64_t load(const void* at, std::uint64_t& raw, std::memory_order order,
                   const std::source_location& from) noexcept {
    if (current_thread == max_threads) return raw;
    const site_entry& of = site_of(from, "load", order);
    point();
    const std::size_t where = find(at, raw);
    const std::uint64_t value = now.memory.load(current_thread, where, of.order);
    raw = now.memory.latest(where);
    trace(of, at, of.order, value);
    return value;
}

void store(const void* at, std::uint64_t& raw, std::uint64_t value, std::memory_order order,
           const std::source_location& from) noexcept {
    if (current_thread == max_threads) {
        raw = value;
        return;
    }
    const site_entry& of = site_of(from, "store", order);
    point();
    const std::size_t where = find(at, raw);
    now.memory.store(current_thread, where, value, of.order);
    raw = now.memory.latest(where);
    trace(of, at, of.order, value);
}

std::uint64_t modify(const void* at, std::uint64_t& raw, change by, std::uint64_t operand, std::memory_order order,
                     const std::source_location& from, const char* kind) noexcept {
    if (current_thread == max_threads) return std::exchange(raw, by(raw, operand));
    const site_entry& of = site_of(from, kind, order);
    point();
    const std::size_t where = find(at, raw);
    const std::uint64_t before = now.memory.modify(current_thread, where, by, operand, of.order);
    raw = now.memory.latest(where);
    trace(of, at, of.order, before);
    return before;
}

bool compare_exchange(const void* at, std::uint64_t& raw, std::uint64_t& expected, std::uint64_t desired,
                      std::memory_order made, std::memory_order failed, const std::source_location& from) noexcept {
    if (current_thread == max_threads) {
        const bool is_equal = raw == expected;
        (is_equal ? raw : expected) = is_equal ? desired : raw;
        return is_equal;
    }
    const site_entry& of = site_of(from, "compare_exchange", made);
    const site_entry& failing = site_of(from, "failed compare_exchange", failed);
    point();
    const std::size_t where = find(at, raw);
    const bool is_made = now.memory.compare_exchange(current_thread, where, expected, desired, of.order, failing.order);
    raw = now.memory.latest(where);
    trace(is_made ? of : failing, at, is_made ? of.order : failing.order, expected);
    return is_made;
}

std::uint64_t await(const void* at, std::uint64_t& raw, std::uint64_t value, bool until_equal, std::memory_order order,
                    const std::source_location& from) noexcept {
    if (current_thread == max_threads) return raw;
    const site_entry& of = site_of(from, "load", order);
    const std::size_t where = find(at, raw);
    fiber& mine = now.fibers[current_thread];
    mine.at = at;
    mine.value = value;
    mine.until_equal = until_equal;
    mine.state = fiber_state::awaits;
    point();
    mine.state = fiber_state::ready;
    const std::uint64_t read = now.memory.load_ending(current_thread, where, value, until_equal, of.order);
    raw = now.memory.latest(where);
    trace(of, at, of.order, read);
    return read;
}

void fence(std::memory_order order, std::source_location at) {
    if (current_thread == max_threads) return;
    const site_entry& of = site_of(at, "fence", order);
    point();
    if (of.order != std::memory_order_relaxed) now.memory.fence(current_thread, of.order);
    trace(of, nullptr, of.order, 0);
}

// The kernel compares the word and puts the thread to sleep in one step, after a full barrier.
void futex_wait(const void* at, std::uint64_t& raw, std::uint64_t mask, std::uint64_t expected) noexcept {
    if (current_thread == max_threads) return;
    point();
    const std::size_t where = find(at, raw);
    now.memory.fence(current_thread, std::memory_order_seq_cst);
    const bool sleeps = ((now.memory.see_latest(current_thread, where) ^ expected) & mask) == 0;
    now.memory.remember(current_thread, sleeps);
    raw = now.memory.latest(where);
    if (!sleeps) return;
    fiber& mine = now.fibers[current_thread];
    mine.at = at;
    mine.state = fiber_state::sleeps;
    schedule();
    now.memory.fence(current_thread, std::memory_order_seq_cst); // it sees what its waker has seen
}

void futex_wake(const void* at) noexcept {
    if (current_thread == max_threads) return;
    point();
    now.memory.fence(current_thread, std::memory_order_seq_cst);
    std::size_t sleeping[max_threads];
    std::size_t count = 0;
    for (std::size_t index = 0; index < now.fiber_count; ++index) {
        if (now.fibers[index].state == fiber_state::sleeps && now.fibers[index].at == at) sleeping[count++] = index;
    }
    const std::size_t woken = count == 0 ? max_threads : sleeping[choose(count)];
    now.memory.remember(current_thread, woken);
    if (woken == max_threads) return;
    now.fibers[woken].state = fiber_state::ready;
    now.memory.remember(woken, 0xA3A1); // it must be told from one that sleeps
}

void note_read(const void* at, const char* name) noexcept {
    if (current_thread == max_threads) return;
    check_mapped(at);
    if (!now.memory.read_plain(current_thread, at)) fail(std::string{"race: a read of "} + name);
}

void note_write(const void* at, const char* name) noexcept {
    if (current_thread == max_threads) return;
    check_mapped(at);
    if (!now.memory.write_plain(current_thread, at)) fail(std::string{"race: a write of "} + name);
}

}
