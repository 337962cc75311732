// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/handle/handle_table.cpp and detail/handle_listing.cpp, explored. remove() looks twice at a held handle
// here, not 64 times: see CMakeLists.txt.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/status.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/base/usage_text.hpp>

#define TENURE_EXPLORED explored_handle
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"

#include <explored/handle_table.cpp>

namespace tenure::inline TENURE_ABI {

namespace platform {

std::size_t page_bytes() noexcept { return 4096; }
std::size_t address_limit_bytes() noexcept { return SIZE_MAX; }
/// The programs below use the first 64 entries.
void* reserve(std::size_t, std::size_t) noexcept { return orders::map(4096, 4096); }
void unreserve(void*, std::size_t) noexcept {}
bool commit(void*, std::size_t) noexcept { return true; }
std::uint64_t coarse_ns() noexcept { return 0; }
void sleep_ns(std::uint64_t) noexcept {}
void fork_handler::enlist_slow() noexcept {}
void fork_handler::delist() noexcept {}
void mutex::abandon() noexcept {}
std::string_view text_or(const char*, std::string_view otherwise) noexcept { return otherwise; }

}

namespace detail {
void add_holder(const handle_table&, const handle&) noexcept {}
void remove_holder(const handle_table&, const handle&) noexcept {}
std::uint32_t handle_table_access::entries_end(const handle_table&) noexcept { return 0; }
void report_holders(const handle_table&, const handle&, std::uint32_t) noexcept {}
}

}

#include <explored/handle_listing.cpp>

namespace {

using orders::run;
using tenure::handle;
using tenure::handle_table;
using tenure::status;

struct table_state {
    handle_table table{{8192, 0}};
    handle first;
    orders::plain<int> memory[3];            ///< what handles refer to
    orders::atomic<std::uint32_t> passed{0}; ///< a generation that is passed without order
    int removed = 0, acquired = 0;

    explicit table_state(std::uint32_t first_generation = 0) : table({8192, first_generation}) {}
};

void free_memory(void* memory, std::size_t) noexcept {
    static_cast<orders::plain<int>*>(memory)->set(-1, "freed memory");
}

[[nodiscard]] table_state& make_state(run& r, std::uint32_t first_generation = 0) {
    return r.make<table_state>(first_generation);
}
[[nodiscard]] table_state& make_with_handle(run& r) {
    table_state& s = make_state(r);
    s.first = s.table.add(&s.memory[0], 1, &free_memory);
    return s;
}

void add_and_pass(table_state& s) {
    s.memory[1].set(1, "new memory");
    const handle made = s.table.add(&s.memory[1], 1, &free_memory);
    s.passed.store(made.entry, std::memory_order_relaxed);
}

void use(table_state& s, const handle& which) {
    if (s.table.acquire(which) != status::ok) return;
    static_cast<void>(static_cast<orders::plain<int>*>(which.pointer)->get("held memory"));
    ++s.acquired;
    orders::require(s.table.release(which) == status::ok, "a held handle cannot be released");
}

// What a handle refers to is freed by one thread, after every holder has released it.
void held_while_removed(run& r) {
    table_state& s = make_with_handle(r);
    r.thread([&s] { use(s, s.first); });
    for (int each = 0; each < 2; ++each) {
        r.thread([&s] {
            const status done = s.table.remove(s.first);
            if (done == status::ok) ++s.removed;
            orders::require(done == status::ok || done == status::still_held || done == status::stale_handle, "remove");
        });
    }
    r.at_end([&s] { orders::require(s.removed <= 1, "a handle was removed twice"); });
}

// A handle that is passed without order: who acquires it sees its memory.
void passed_without_order(run& r) {
    table_state& s = make_with_handle(r);
    r.thread([&s] { add_and_pass(s); });
    r.thread([&s] {
        const std::uint32_t entry = s.passed.load(std::memory_order_relaxed);
        if (entry != 0) use(s, {&s.memory[1], 1, entry, 1});
    });
    r.at_end([&s] { orders::require(s.table.valid(), "a broken table"); });
}

// Who only checks it sees its memory as well: buffers do so.
void checked_without_order(run& r) {
    table_state& s = make_with_handle(r);
    r.thread([&s] { add_and_pass(s); });
    r.thread([&s] {
        const std::uint32_t entry = s.passed.load(std::memory_order_relaxed);
        if (entry == 0 || !s.table.is_live({&s.memory[1], 1, entry, 1})) return;
        static_cast<void>(s.memory[1].get("live memory"));
    });
}

// The first handle of a table, which maps it.
void first_of_table(run& r) {
    table_state& s = make_state(r, 2);
    r.thread([&s] { add_and_pass(s); });
    r.thread([&s] {
        const std::uint32_t entry = s.passed.load(std::memory_order_relaxed);
        if (entry == 0) return;
        const handle which{&s.memory[1], 1, entry, 3};
        if (s.table.acquire(which) == status::ok) static_cast<void>(s.table.release(which));
    });
    r.at_end([&s] { orders::require(s.table.valid(), "a broken table"); });
}
void first_listing(run& r) {
    table_state& s = make_state(r, 2);
    r.thread([&s] { add_and_pass(s); });
    r.thread([&s] { s.table.for_each_live([](const tenure::handle_info&) {}); });
}
void first_check(run& r) {
    table_state& s = make_state(r, 2);
    r.thread([&s] { add_and_pass(s); });
    r.thread([&s] { static_cast<void>(s.table.is_live({&s.memory[1], 1, 1, 3})); });
}

// One thread frees and another adds at the same time: no entry is lost.
void freed_and_added(run& r) {
    table_state& s = make_with_handle(r);
    r.thread([&s] { static_cast<void>(s.table.remove(s.first)); });
    r.thread([&s] { static_cast<void>(s.table.add(&s.memory[1], 2, &free_memory)); });
    r.at_end([&s] { orders::require(s.table.valid(), "a broken table"); });
}

// An entry is used again: its record belongs to one handle at a time, and a stale handle stays stale.
void reused(run& r) {
    table_state& s = make_with_handle(r);
    r.thread([&s] { orders::require(s.table.remove(s.first) == status::ok, "a free handle is not removed"); });
    r.thread([&s] {
        s.memory[1].set(1, "new memory");
        const handle made = s.table.add(&s.memory[1], 2, &free_memory);
        if (made.entry == s.first.entry) s.passed.store(made.generation, std::memory_order_relaxed);
        const handle other = s.table.add(&s.memory[2], 3, &free_memory);
        orders::require(made.entry != other.entry, "two handles have one entry");
    });
    r.thread([&s] {
        const std::uint32_t generation = s.passed.load(std::memory_order_relaxed);
        if (generation == 0) return;
        orders::require(s.table.acquire(s.first) != status::ok, "a stale handle was acquired");
        use(s, {&s.memory[1], 2, s.first.entry, generation});
    });
}

constexpr const char* second_kind = "second";

// A listing while an entry is freed and used again: each handle that it shows has its own pointer and size.
void listed(run& r) {
    table_state& s = make_with_handle(r);
    r.thread([&s] {
        static_cast<void>(s.table.remove(s.first));
        static_cast<void>(s.table.add(&s.memory[1], 2, &free_memory, second_kind));
    });
    r.thread([&s] {
        s.table.for_each_live([&s](const tenure::handle_info& info) {
            const bool is_first = info.which == s.first && info.kind != second_kind;
            const bool is_second = info.which.pointer == &s.memory[1] && info.which.bytes == 2 &&
                                   info.kind == second_kind && info.which.generation == s.first.generation + 2;
            orders::require(is_first || is_second, "a listed handle has values of two");
        });
    });
}

TEST(handle_orders, every_order_has_its_use) {
    orders::expect_needs({held_while_removed, passed_without_order, checked_without_order, first_of_table,
                          first_listing, first_check, freed_and_added, listed},
                         {
                             "handle_table::acquire fetch_add: acquire -> relaxed",
                             "handle_table::add fetch_add: release -> relaxed",
                             "handle_table::add store 2: release -> relaxed",
                             "handle_table::add store 4: release -> relaxed",
                             "handle_table::add store 7: release -> relaxed",
                             "handle_table::add store: release -> relaxed",
                             "handle_table::add_line store 3: release -> relaxed",
                             "handle_table::generation_of load 2: acquire -> relaxed",
                             "handle_table::generation_of load: acquire -> relaxed",
                             "handle_table::open store 4: release -> relaxed",
                             "handle_table::open store 5: release -> relaxed",
                             "handle_table::pop failed compare_exchange: acquire -> relaxed",
                             "handle_table::pop load: acquire -> relaxed",
                             "handle_table::push compare_exchange: release -> relaxed",
                             "handle_table::read load 2: acquire -> relaxed",
                             "handle_table::read load 4: acquire -> relaxed",
                             "handle_table::read load 5: acquire -> relaxed",
                             "handle_table::read load 7: acquire -> relaxed",
                             "handle_table::release fetch_sub: release -> relaxed",
                             "handle_table::remove compare_exchange: acq_rel -> release",
                             "handle_table::visit_live load: acquire -> relaxed",
                             "handle_table::word_of load: acquire -> relaxed",
                         },
                         {
                             // Where the lock is free, other orders suffice.
                             "fork_handler::enlist load: acquire -> relaxed",
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                             // Of the records, only pointer, bytes and kind are checked here: the others are alike,
                             // except the releaser (store 3), which no listing reads.
                             "handle_table::add store 3: release -> relaxed",
                             "handle_table::add store 5: release -> relaxed",
                             "handle_table::add store 6: release -> relaxed",
                             "handle_table::note_stack store: release -> relaxed",
                             "handle_table::read load 6: acquire -> relaxed",
                             "handle_table::read load 8: acquire -> relaxed",
                             "handle_table::read load 9: acquire -> relaxed",
                             // The words, which are released later, bring the records.
                             "handle_table::open store 3: release -> relaxed",
                             // The load before it, or the failure, has acquired the same value: none comes twice.
                             "handle_table::pop compare_exchange: acquire -> relaxed",
                             // What is_live() reads as stale needs no order; a new use has passed through push().
                             "handle_table::remove compare_exchange: acq_rel -> acquire",
                             "handle_table::remove store: release -> relaxed",
                         });
}
TEST(handle_orders, an_entry_is_used_by_one_handle_at_a_time) { orders::expect_pass({reused}); }

}
