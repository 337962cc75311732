// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "orders/machine.hpp"

#include <algorithm>
#include <cstdlib>

namespace orders {

namespace {

[[nodiscard]] bool acquires(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst || order == std::memory_order_consume;
}
[[nodiscard]] bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
[[nodiscard]] std::uint64_t number_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

}

void machine::clear() {
    locations_.clear();
    places_.clear();
    plains_.clear();
    for (std::size_t index = 0; index < max_threads; ++index) {
        threads_[index] = {};
        threads_[index].history = mixed(index + 1, 0x5EED);
        // So that clock zero, of accesses before the start, happens before everything.
        threads_[index].current.clock[index] = 1;
    }
    sequential_ = {};
    has_sequential_ = false;
}

std::size_t machine::find(const void* at, std::uint64_t initial) {
    if (const auto found = places_.find(at); found != places_.end()) return found->second;
    if (locations_.size() == max_locations) std::abort(); // raise the limit
    location& added = locations_.emplace_back();
    added.at = at;
    added.messages.push_back({initial, mixed(number_of(at), 1), 0, false, {}});
    added.order.push_back(0);
    places_.emplace(at, locations_.size() - 1);
    return locations_.size() - 1;
}

/// A constructor while the threads run: the latest message, without any order.
void machine::initialise(const void* at, std::size_t thread, std::uint64_t value) {
    const auto found = places_.find(at);
    if (found == places_.end()) return; // its first message
    begin_operation(thread, found->second, 1, std::memory_order_relaxed);
    write(thread, found->second, value, locations_[found->second].order.size(), false, std::memory_order_relaxed,
          nullptr);
}

std::uint64_t machine::latest(std::size_t where) const {
    const location& of = locations_[where];
    return of.messages[of.order.back()].value;
}

std::uint64_t machine::see_latest(std::size_t thread, std::size_t where) {
    read(thread, where, locations_[where].order.back(), std::memory_order_relaxed);
    return latest(where);
}

void machine::remember(std::size_t thread, std::uint64_t what) {
    threads_[thread].history = mixed(threads_[thread].history, what);
}

void machine::begin_operation(std::size_t thread, std::size_t where, std::uint64_t kind, std::memory_order order) {
    ++threads_[thread].operations;
    remember(thread, mixed(number_of(locations_[where].at), kind << 8 | static_cast<std::uint64_t>(order)));
}

// Views.

void machine::raise(view& to, std::size_t where, std::uint8_t number) const {
    const std::vector<message>& messages = locations_[where].messages;
    if (messages[number].position > messages[to.oldest[where]].position) to.oldest[where] = number;
}

void machine::join(view& to, const view& from) const {
    for (std::size_t where = 0; where < locations_.size(); ++where) {
        if (from.oldest[where] != to.oldest[where]) raise(to, where, from.oldest[where]);
    }
    for (std::size_t index = 0; index < max_threads; ++index)
        to.clock[index] = std::max(to.clock[index], from.clock[index]);
}

std::size_t machine::first_readable(std::size_t thread, std::size_t where, bool is_sequential) const {
    const std::vector<message>& messages = locations_[where].messages;
    std::size_t position = messages[threads_[thread].current.oldest[where]].position;
    if (is_sequential) position = std::max<std::size_t>(position, messages[sequential_.oldest[where]].position);
    return position;
}

// Operations.

void machine::read(std::size_t thread, std::size_t where, std::uint8_t number, std::memory_order order) {
    thread_state& mine = threads_[thread];
    const message& chosen = locations_[where].messages[number];
    raise(mine.current, where, number);
    join(mine.to_acquire, chosen.released);
    if (acquires(order)) join(mine.current, chosen.released);
    remember(thread, chosen.identity);
    if (order == std::memory_order_seq_cst) {
        has_sequential_ = true;
        raise(sequential_, where, number);
    }
}

void machine::write(std::size_t thread, std::size_t where, std::uint64_t value, std::size_t position, bool is_attached,
                    std::memory_order order, const view* continued) {
    thread_state& mine = threads_[thread];
    location& of = locations_[where];
    if (of.messages.size() == 255) std::abort(); // a message's number has one byte
    const auto number = static_cast<std::uint8_t>(of.messages.size());
    of.messages.push_back({value, mixed(thread + 1, mine.operations), 0, is_attached, {}});
    of.order.insert(of.order.begin() + static_cast<std::ptrdiff_t>(position), number);
    for (std::size_t at = position; at < of.order.size(); ++at)
        of.messages[of.order[at]].position = static_cast<std::uint8_t>(at);
    raise(mine.current, where, number);
    view released = releases(order) ? mine.current : mine.at_release;
    if (continued != nullptr) join(released, *continued); // C++20: only read-modify-writes continue a release sequence
    raise(released, where, number);
    of.messages[number].released = released;
    of.fingerprint = number_of(of.at);
    for (const std::uint8_t each : of.order) of.fingerprint = mixed(of.fingerprint, of.messages[each].identity);
    if (order == std::memory_order_seq_cst) {
        has_sequential_ = true;
        raise(sequential_, where, number);
    }
    ++mine.current.clock[thread];
}

std::uint64_t machine::load(std::size_t thread, std::size_t where, std::memory_order order) {
    begin_operation(thread, where, 2, order);
    const location& of = locations_[where];
    const std::size_t first = first_readable(thread, where, order == std::memory_order_seq_cst);
    // The latest first: programs end sooner that way.
    const std::uint8_t number = of.order[of.order.size() - 1 - choose_(of.order.size() - first)];
    read(thread, where, number, order);
    return locations_[where].messages[number].value;
}

bool machine::can_end(std::size_t thread, std::size_t where, std::uint64_t value, bool until_equal) const {
    const location& of = locations_[where];
    for (std::size_t at = first_readable(thread, where, false); at < of.order.size(); ++at) {
        if ((of.messages[of.order[at]].value == value) == until_equal) return true;
    }
    return false;
}

std::uint64_t machine::load_ending(std::size_t thread, std::size_t where, std::uint64_t value, bool until_equal,
                                   std::memory_order order) {
    begin_operation(thread, where, 3, order);
    const location& of = locations_[where];
    std::vector<std::uint8_t> ending;
    for (std::size_t at = first_readable(thread, where, order == std::memory_order_seq_cst); at < of.order.size();
         ++at) {
        if ((of.messages[of.order[at]].value == value) == until_equal) ending.push_back(of.order[at]);
    }
    const std::uint8_t number = ending[choose_(ending.size())];
    read(thread, where, number, order);
    return locations_[where].messages[number].value;
}

void machine::store(std::size_t thread, std::size_t where, std::uint64_t value, std::memory_order order) {
    begin_operation(thread, where, 4, order);
    const location& of = locations_[where];
    std::vector<std::size_t> positions; // the last first
    for (std::size_t at = of.order.size(); at > first_readable(thread, where, order == std::memory_order_seq_cst);
         --at) {
        if (at == of.order.size() || !of.messages[of.order[at]].is_attached) positions.push_back(at);
    }
    const std::size_t position = positions[choose_(positions.size())];
    write(thread, where, value, position, false, order, nullptr);
}

/// The write of a read-modify-write that has read a message.
void machine::replace(std::size_t thread, std::size_t where, std::uint8_t number, std::uint64_t value,
                      std::memory_order order) {
    const view continued = locations_[where].messages[number].released;
    write(thread, where, value, std::size_t{locations_[where].messages[number].position} + 1, true, order, &continued);
}

std::uint64_t machine::modify(std::size_t thread, std::size_t where, change by, std::uint64_t operand,
                              std::memory_order order) {
    begin_operation(thread, where, 5, order);
    const location& of = locations_[where];
    std::vector<std::uint8_t> free; // messages that no read-modify-write has replaced, the last first
    for (std::size_t at = of.order.size(); at-- > first_readable(thread, where, order == std::memory_order_seq_cst);) {
        if (at + 1 == of.order.size() || !of.messages[of.order[at + 1]].is_attached) free.push_back(of.order[at]);
    }
    const std::uint8_t number = free[choose_(free.size())];
    const std::uint64_t before = of.messages[number].value;
    read(thread, where, number, order);
    replace(thread, where, number, by(before, operand), order);
    return before;
}

bool machine::compare_exchange(std::size_t thread, std::size_t where, std::uint64_t& expected, std::uint64_t desired,
                               std::memory_order made, std::memory_order failed) {
    begin_operation(thread, where, 6, made);
    const location& of = locations_[where];
    std::vector<std::uint8_t> possible;
    for (std::size_t at = of.order.size(); at-- > first_readable(thread, where, failed == std::memory_order_seq_cst);) {
        const bool is_free = at + 1 == of.order.size() || !of.messages[of.order[at + 1]].is_attached;
        if (of.messages[of.order[at]].value != expected || is_free) possible.push_back(of.order[at]);
    }
    const std::uint8_t number = possible[choose_(possible.size())];
    const bool is_made = of.messages[number].value == expected;
    expected = of.messages[number].value;
    read(thread, where, number, is_made ? made : failed);
    if (is_made) replace(thread, where, number, desired, made);
    return is_made;
}

void machine::fence(std::size_t thread, std::memory_order order) {
    thread_state& mine = threads_[thread];
    ++mine.operations;
    remember(thread, 0xFE00 | static_cast<std::uint64_t>(order));
    if (acquires(order)) join(mine.current, mine.to_acquire);
    if (order == std::memory_order_seq_cst) {
        has_sequential_ = true;
        // Only what may be read: a fence does not synchronise with the fences before it.
        view known = sequential_;
        known.clock = {};
        join(sequential_, mine.current);
        join(mine.current, known);
        remember(thread, fingerprint_of(mine.current));
    }
    if (releases(order)) {
        mine.at_release = mine.current;
        ++mine.current.clock[thread];
    }
}

// Plain variables.

bool machine::read_plain(std::size_t thread, const void* at) {
    plain_variable& of = plains_[at];
    const view& known = threads_[thread].current;
    of.read[thread] = known.clock[thread];
    return of.writer == max_threads || of.written <= known.clock[of.writer];
}

bool machine::write_plain(std::size_t thread, const void* at) {
    plain_variable& of = plains_[at];
    const view& known = threads_[thread].current;
    bool is_ordered = of.writer == max_threads || of.written <= known.clock[of.writer];
    for (std::size_t index = 0; index < max_threads; ++index) is_ordered &= of.read[index] <= known.clock[index];
    of.writer = thread;
    of.written = known.clock[thread];
    return is_ordered;
}

std::uint64_t machine::fingerprint() const {
    std::uint64_t sum = 0;
    for (const thread_state& each : threads_) sum = mixed(sum, each.history);
    std::uint64_t orders = 0; // the order of locations is that of their first use
    for (const location& each : locations_) orders += each.order.size() > 1 ? mixed(each.fingerprint, 3) : 0;
    sum = mixed(sum, orders);
    return has_sequential_ ? mixed(sum, fingerprint_of(sequential_)) : sum;
}

std::uint64_t machine::fingerprint_of(const view& known) const {
    std::uint64_t sum = 0;
    for (std::size_t where = 0; where < locations_.size(); ++where) {
        const message& oldest = locations_[where].messages[known.oldest[where]];
        if (oldest.position != 0) sum += mixed(number_of(locations_[where].at), oldest.identity);
    }
    return sum;
}

}
