// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The explorer itself: litmus tests whose outcomes are known. Each is named as in the literature (Alglave, Maranget and
// Tautschnig, "Herding cats", TOPLAS 2014), and its outcomes are those of C++20.

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>

#include "orders/atomic.hpp"
#include "orders/explorer.hpp"

namespace {

using orders::run;
using enum std::memory_order;
using set = std::set<std::string>;

struct two_words {
    orders::atomic<int> x{0}, y{0};
    int a = -1, b = -1, c = -1, d = -1; // what the threads read
};

void note_values(std::initializer_list<int> values) {
    for (const int each : values) run::note(std::to_string(each));
}

[[nodiscard]] set outcomes_of(const std::function<void(run&)>& program) {
    const orders::result found = orders::explore(program);
    EXPECT_TRUE(found.passed()) << found.failure;
    orders::options whole;
    whole.prunes = false;
    EXPECT_EQ(orders::explore(program, whole).outcomes, found.outcomes) << "an outcome was pruned";
    return found.outcomes;
}

// SB: store buffering.
[[nodiscard]] set store_buffering(std::memory_order stored, std::memory_order loaded, std::memory_order fenced) {
    return outcomes_of([=](run& r) {
        auto& s = r.make<two_words>();
        r.thread([=, &s] {
            s.x.store(1, stored);
            if (fenced != relaxed) orders::fence(fenced);
            s.a = s.y.load(loaded);
        });
        r.thread([=, &s] {
            s.y.store(1, stored);
            if (fenced != relaxed) orders::fence(fenced);
            s.b = s.x.load(loaded);
        });
        r.at_end([&s] { note_values({s.a, s.b}); });
    });
}

TEST(litmus, store_buffering_is_excluded_by_sequential_consistency_alone) {
    const set weak{"00", "01", "10", "11"}, strong{"01", "10", "11"};
    EXPECT_EQ(store_buffering(relaxed, relaxed, relaxed), weak);
    EXPECT_EQ(store_buffering(release, acquire, relaxed), weak);
    EXPECT_EQ(store_buffering(release, acquire, acq_rel), weak);
    EXPECT_EQ(store_buffering(seq_cst, acquire, relaxed), weak);
    EXPECT_EQ(store_buffering(release, seq_cst, relaxed), weak);
    EXPECT_EQ(store_buffering(seq_cst, seq_cst, relaxed), strong);
    EXPECT_EQ(store_buffering(relaxed, relaxed, seq_cst), strong);
}

// MP: message passing. The plain variable is read only after the flag.
struct message_state {
    orders::atomic<int> flag{0}, data{0};
    orders::plain<int> plain;
    int a = -1, b = -1;
};

[[nodiscard]] set message_passing(std::memory_order stored, std::memory_order loaded) {
    return outcomes_of([=](run& r) {
        auto& s = r.make<message_state>();
        r.thread([=, &s] {
            s.data.store(1, relaxed);
            s.flag.store(1, stored);
        });
        r.thread([=, &s] {
            s.a = s.flag.load(loaded);
            s.b = s.data.load(relaxed);
        });
        r.at_end([&s] { note_values({s.a, s.b}); });
    });
}

TEST(litmus, a_message_passes_with_release_and_acquire_only) {
    EXPECT_EQ(message_passing(release, acquire), (set{"00", "01", "11"}));
    EXPECT_EQ(message_passing(seq_cst, seq_cst), (set{"00", "01", "11"}));
    const set stale{"00", "01", "10", "11"};
    EXPECT_EQ(message_passing(relaxed, acquire), stale);
    EXPECT_EQ(message_passing(release, relaxed), stale);
}

[[nodiscard]] set fenced_message_passing(std::memory_order released, std::memory_order acquired) {
    return outcomes_of([=](run& r) {
        auto& s = r.make<message_state>();
        r.thread([=, &s] {
            s.data.store(1, relaxed);
            orders::fence(released);
            s.flag.store(1, relaxed);
        });
        r.thread([=, &s] {
            s.a = s.flag.load(relaxed);
            orders::fence(acquired);
            s.b = s.data.load(relaxed);
        });
        r.at_end([&s] { note_values({s.a, s.b}); });
    });
}

TEST(litmus, fences_pass_a_message) {
    EXPECT_EQ(fenced_message_passing(release, acquire), (set{"00", "01", "11"}));
    EXPECT_EQ(fenced_message_passing(seq_cst, seq_cst), (set{"00", "01", "11"}));
    EXPECT_EQ(fenced_message_passing(acquire, acquire).size(), 4u);
    EXPECT_EQ(fenced_message_passing(release, release).size(), 4u);
}

[[nodiscard]] orders::result plain_message(std::memory_order stored, std::memory_order loaded) {
    return orders::explore([=](run& r) {
        auto& s = r.make<message_state>();
        r.thread([=, &s] {
            s.plain.set(1);
            s.flag.store(1, stored);
        });
        r.thread([=, &s] {
            s.flag.await(1, loaded);
            orders::require(s.plain.get() == 1, "a stale read");
        });
    });
}

TEST(litmus, races_on_plain_variables_are_found) {
    EXPECT_TRUE(plain_message(release, acquire).passed());
    EXPECT_EQ(plain_message(relaxed, acquire).failure, "race: a read of a plain variable");
    EXPECT_EQ(plain_message(release, relaxed).failure, "race: a read of a plain variable");
}

// LB: load buffering. C++ allows 11; the explorer does not show it, as its header says.
TEST(litmus, load_buffering_is_not_modelled) {
    EXPECT_EQ(outcomes_of([](run& r) {
                  auto& s = r.make<two_words>();
                  r.thread([&s] {
                      s.a = s.x.load(relaxed);
                      s.y.store(1, relaxed);
                  });
                  r.thread([&s] {
                      s.b = s.y.load(relaxed);
                      s.x.store(1, relaxed);
                  });
                  r.at_end([&s] { note_values({s.a, s.b}); });
              }),
              (set{"00", "01", "10"}));
}

// IRIW: independent reads of independent writes.
[[nodiscard]] set independent_reads(std::memory_order stored, std::memory_order loaded, std::memory_order fenced) {
    return outcomes_of([=](run& r) {
        auto& s = r.make<two_words>();
        r.thread([=, &s] { s.x.store(1, stored); });
        r.thread([=, &s] { s.y.store(1, stored); });
        r.thread([=, &s] {
            s.a = s.x.load(loaded);
            if (fenced != relaxed) orders::fence(fenced);
            s.b = s.y.load(loaded);
        });
        r.thread([=, &s] {
            s.c = s.y.load(loaded);
            if (fenced != relaxed) orders::fence(fenced);
            s.d = s.x.load(loaded);
        });
        r.at_end([&s] { note_values({s.a, s.b, s.c, s.d}); });
    });
}

TEST(litmus, threads_agree_on_independent_writes_with_sequential_consistency_alone) {
    EXPECT_EQ(independent_reads(release, acquire, relaxed).size(), 16u);
    EXPECT_EQ(independent_reads(relaxed, relaxed, acq_rel).size(), 16u);
    EXPECT_FALSE(independent_reads(seq_cst, seq_cst, relaxed).contains("1010"));
    EXPECT_EQ(independent_reads(seq_cst, seq_cst, relaxed).size(), 15u);
    EXPECT_EQ(independent_reads(release, seq_cst, relaxed).size(), 15u);
    EXPECT_EQ(independent_reads(relaxed, relaxed, seq_cst).size(), 15u);
}

// 2+2W: both locations end with the value that was written first.
[[nodiscard]] set double_writes(std::memory_order stored) {
    return outcomes_of([=](run& r) {
        auto& s = r.make<two_words>();
        r.thread([=, &s] {
            s.x.store(1, stored);
            s.y.store(2, stored);
        });
        r.thread([=, &s] {
            s.y.store(1, stored);
            s.x.store(2, stored);
        });
        r.at_end([&s] { note_values({s.x.last(), s.y.last()}); });
    });
}

TEST(litmus, stores_to_two_locations_may_be_ordered_against_each_other) {
    EXPECT_EQ(double_writes(relaxed), (set{"11", "12", "21", "22"}));
    EXPECT_EQ(double_writes(release), (set{"11", "12", "21", "22"}));
    EXPECT_EQ(double_writes(seq_cst), (set{"12", "21", "22"}));
}

// CoRR and CoWR: one location never goes back.
TEST(litmus, one_location_is_coherent) {
    EXPECT_EQ(outcomes_of([](run& r) {
                  auto& s = r.make<two_words>();
                  r.thread([&s] {
                      s.x.store(1, relaxed);
                      s.x.store(2, relaxed);
                  });
                  r.thread([&s] {
                      s.a = s.x.load(relaxed);
                      s.b = s.x.load(relaxed);
                  });
                  r.at_end([&s] { note_values({s.a, s.b}); });
              }),
              (set{"00", "01", "02", "11", "12", "22"}));
    EXPECT_EQ(outcomes_of([](run& r) {
                  auto& s = r.make<two_words>();
                  r.thread([&s] {
                      s.x.store(1, relaxed);
                      s.a = s.x.load(relaxed);
                  });
                  r.thread([&s] { s.x.store(2, relaxed); });
                  r.at_end([&s] { note_values({s.a, s.x.last()}); });
              }),
              (set{"11", "12", "22"}));
}

// Release sequences: a read-modify-write continues one, a store of any thread does not (C++20).
enum class between : std::uint8_t { fetch_add, own_store };

[[nodiscard]] orders::result release_sequence(between what) {
    return orders::explore([=](run& r) {
        auto& s = r.make<message_state>();
        r.thread([=, &s] {
            s.plain.set(1);
            s.flag.store(1, release);
            if (what == between::own_store) s.flag.store(2, relaxed);
        });
        if (what == between::fetch_add) {
            r.thread([&s] {
                if (s.flag.load(relaxed) == 1) s.flag.fetch_add(1, relaxed);
            });
        }
        r.thread([&s] {
            if (s.flag.load(acquire) == 2) static_cast<void>(s.plain.get());
        });
    });
}

TEST(litmus, read_modify_writes_alone_continue_a_release_sequence) {
    EXPECT_TRUE(release_sequence(between::fetch_add).passed());
    EXPECT_EQ(release_sequence(between::own_store).failure, "race: a read of a plain variable");
}

TEST(litmus, read_modify_writes_are_atomic) {
    EXPECT_EQ(outcomes_of([](run& r) {
                  auto& s = r.make<two_words>();
                  for (int each = 0; each < 3; ++each) r.thread([&s] { s.x.fetch_add(1, relaxed); });
                  r.at_end([&s] { note_values({s.x.last()}); });
              }),
              set{"3"});
    EXPECT_EQ(outcomes_of([](run& r) {
                  auto& s = r.make<two_words>();
                  r.thread([&s] {
                      int zero = 0;
                      s.a = s.x.compare_exchange_strong(zero, 1, relaxed) ? 1 : 0;
                  });
                  r.thread([&s] {
                      int zero = 0;
                      s.b = s.x.compare_exchange_strong(zero, 2, relaxed) ? 1 : 0;
                  });
                  r.at_end([&s] { note_values({s.a, s.b, s.x.last()}); });
              }),
              (set{"012", "101"}));
}

// A store may come before a read-modify-write of another thread in modification order, though never between it and
// what it has read.
TEST(litmus, a_store_overwrites_an_addition_or_is_counted) {
    EXPECT_EQ(outcomes_of([](run& r) {
                  auto& s = r.make<two_words>();
                  r.thread([&s] { s.a = s.x.fetch_add(1, relaxed); });
                  r.thread([&s] { s.x.store(5, relaxed); });
                  r.at_end([&s] { note_values({s.a, s.x.last()}); });
              }),
              (set{"05", "56"}));
}

TEST(litmus, a_deadlock_is_found) {
    const orders::result found = orders::explore([](run& r) {
        auto& s = r.make<two_words>();
        r.thread([&s] {
            s.x.await(1, acquire);
            s.y.store(1, release);
        });
        r.thread([&s] {
            s.y.await(1, acquire);
            s.x.store(1, release);
        });
    });
    EXPECT_EQ(found.failure, "deadlock: every thread waits");
}

TEST(litmus, a_failure_is_told_by_its_operations) {
    const orders::result found = plain_message(relaxed, acquire);
    ASSERT_EQ(found.trace.size(), 2u);
    EXPECT_NE(found.trace[0].find("thread 0: "), std::string::npos);
    EXPECT_NE(found.trace[0].find(" store relaxed at"), std::string::npos);
}

TEST(litmus, the_orders_that_a_program_needs_are_found) {
    const orders::needs found = orders::find_needs({[](run& r) {
        auto& s = r.make<message_state>();
        r.thread([&s] {
            s.plain.set(1);
            s.flag.store(1, seq_cst);
        });
        r.thread([&s] {
            s.flag.await(1, acquire);
            static_cast<void>(s.plain.get());
            static_cast<void>(s.data.load(acquire));
        });
    }});
    EXPECT_EQ(found.needed.size(), 1u);
    EXPECT_TRUE(found.needed.begin()->ends_with("load: acquire -> relaxed"));
    EXPECT_EQ(found.unneeded.size(), 2u); // the load of data, and the store: release suffices
}

}
