// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/handle_table.hpp>

#include <signal.h>
#include <sys/mman.h>

#include <cstdint>
#include <set>
#include <vector>

#include <tenure/base/options.hpp>
#include <tenure/platform/memory.hpp>

#include "handle/fixture.hpp"
#include "support/random.hpp"

namespace {

using tenure::handle;
using tenure::handle_info;
using tenure::handle_table;
using tenure::status;

TEST_F(handles, a_default_handle_is_stale_everywhere) {
    const handle none;
    EXPECT_FALSE(table_.is_live(none));
    EXPECT_EQ(table_.acquire(none), status::stale_handle);
    EXPECT_EQ(table_.release(none), status::stale_handle);
    EXPECT_EQ(table_.remove(none), status::stale_handle);
    EXPECT_EQ(table_.holders(none), 0u);
    static_cast<void>(add());
    EXPECT_FALSE(table_.is_live(none));
    EXPECT_EQ(table_.remove(none), status::stale_handle);
    EXPECT_TRUE(table_.valid());
}

TEST_F(handles, a_handle_is_live_until_it_is_removed_in_every_copy) {
    const handle first = add();
    const handle copy = first;
    EXPECT_EQ(first.pointer, memory_);
    EXPECT_EQ(first.bytes, 64u);
    EXPECT_TRUE(table_.is_live(copy));
    EXPECT_EQ(table_.remove(copy), status::ok);
    EXPECT_EQ(releases, 1);
    EXPECT_FALSE(table_.is_live(first));
    EXPECT_EQ(table_.remove(first), status::stale_handle);
    EXPECT_EQ(releases, 1);
}

TEST_F(handles, a_stale_handle_is_refused_after_reuse) {
    const handle before = add();
    ASSERT_EQ(table_.remove(before), status::ok);
    const handle after = add();
    ASSERT_EQ(after.entry, before.entry) << "the test wants the same entry again";
    EXPECT_FALSE(table_.is_live(before));
    EXPECT_EQ(table_.acquire(before), status::stale_handle);
    EXPECT_EQ(table_.release(before), status::stale_handle);
    EXPECT_EQ(table_.remove(before), status::stale_handle);
    EXPECT_EQ(table_.holders(after), 0u);
    EXPECT_TRUE(table_.is_live(after));
}

TEST_F(handles, what_is_held_is_not_removed_and_says_by_how_many) {
    const handle one = add();
    ASSERT_EQ(table_.acquire(one), status::ok);
    ASSERT_EQ(table_.acquire(one), status::ok);
    std::uint32_t holders = 0;
    EXPECT_EQ(table_.remove(one, &holders), status::still_held);
    EXPECT_EQ(holders, 2u);
    EXPECT_TRUE(table_.is_live(one));
    EXPECT_EQ(releases, 0);
    EXPECT_EQ(table_.release(one), status::ok);
    EXPECT_EQ(table_.release(one), status::ok);
    EXPECT_EQ(table_.release(one), status::not_held);
    EXPECT_EQ(table_.holders(one), 0u);
    EXPECT_EQ(table_.remove(one), status::ok);
}

TEST_F(handles, an_entry_whose_generations_are_used_up_is_retired) {
    handle_table worn{{.max_entries = 1u << 13, .first_generation = UINT32_MAX - 5}};
    std::set<std::uint32_t> seen;
    const handle first = worn.add(memory_, 1);
    EXPECT_EQ(first.generation, UINT32_MAX - 4);
    ASSERT_EQ(worn.remove(first), status::ok);
    const handle last = worn.add(memory_, 1);
    ASSERT_EQ(last.entry, first.entry);
    EXPECT_EQ(last.generation, UINT32_MAX - 2);
    ASSERT_EQ(worn.remove(last), status::ok);
    for (int count = 0; count < 40; ++count) {
        const handle other = worn.add(memory_, 1);
        EXPECT_NE(other.entry, first.entry);
        seen.insert(other.entry);
    }
    EXPECT_EQ(seen.size(), 40u);
    EXPECT_EQ(worn.usage().retired_count, 1u);
    EXPECT_FALSE(worn.is_live(first));
    EXPECT_FALSE(worn.is_live(last));
    EXPECT_EQ(worn.remove({memory_, 1, first.entry, UINT32_MAX - 1}), status::stale_handle);
    EXPECT_TRUE(worn.valid());
}

TEST_F(handles, a_full_table_refuses_and_goes_on_when_there_is_room) {
    handle_table small{{.max_entries = 8192}};
    std::vector<handle> all;
    for (;;) {
        const handle next = small.add(memory_, 1);
        if (next.entry == 0) break;
        all.push_back(next);
    }
    EXPECT_EQ(all.size(), 8191u) << "all but entry zero, whichever thread asks";
    EXPECT_EQ(small.remove(all.front()), status::ok);
    EXPECT_NE(small.add(memory_, 1).entry, 0u);
    EXPECT_EQ(small.add(memory_, 1).entry, 0u);
    EXPECT_TRUE(small.valid());
}

TEST_F(handles, listings_tell_what_is_live_with_size_owner_kind_and_holders) {
    const handle gone = add(1);
    const tenure::tag_scope owner("textures");
    const handle held = add(20);
    const handle other = add(30);
    ASSERT_EQ(table_.remove(gone), status::ok);
    ASSERT_EQ(table_.acquire(held), status::ok);
    std::vector<handle> told;
    table_.for_each_live([&](const handle_info& info) {
        told.push_back(info.which);
        EXPECT_EQ(info.owner.name(), "textures");
        EXPECT_STREQ(info.kind, "memory of a test");
        EXPECT_EQ(info.holders, info.which == held ? 1u : 0u);
        EXPECT_EQ(info.stack_count, 0u);
    });
    EXPECT_EQ(told, (std::vector<handle>{held, other}));
    EXPECT_EQ(table_.usage().live_count, 2u);
    EXPECT_EQ(table_.usage().live_bytes, 50u);
    EXPECT_EQ(table_.usage().held_count, 1u);
}

TEST_F(handles, stacks_are_remembered_when_they_are_asked_for) {
    ASSERT_TRUE(tenure::set_option(tenure::option::handle_stack_frames, 4));
    const handle with = add();
    ASSERT_TRUE(tenure::set_option(tenure::option::handle_stack_frames, 0));
    const handle without = add();
    table_.for_each_live([&](const handle_info& info) {
        EXPECT_EQ(info.stack_count != 0, info.which == with);
        for (std::size_t index = 0; index < info.stack_count; ++index) EXPECT_NE(info.stack[index], nullptr);
    });
    EXPECT_EQ(table_.remove(with), status::ok);
    EXPECT_EQ(table_.remove(without), status::ok);
}

TEST_F(handles, random_streams_agree_with_a_model) {
    struct expected {
        handle which;
        std::uint32_t holders;
    };
    const std::uint64_t seed = support::new_seed();
    SCOPED_TRACE(seed);
    support::random random(seed);
    std::vector<expected> live;
    std::vector<handle> stale;
    for (int step = 0; step < 20'000; ++step) {
        const std::size_t choice = random.below(10);
        if (choice < 4 || live.empty()) {
            live.push_back({add(1 + random.below(100)), 0});
            ASSERT_NE(live.back().which.entry, 0u);
            continue;
        }
        const std::size_t at = random.below(live.size());
        if (choice < 6) {
            ASSERT_EQ(table_.acquire(live[at].which), status::ok);
            ++live[at].holders;
        } else if (choice < 8) {
            const bool held = live[at].holders != 0;
            ASSERT_EQ(table_.release(live[at].which), held ? status::ok : status::not_held);
            live[at].holders -= held;
        } else if (live[at].holders == 0) {
            ASSERT_EQ(table_.remove(live[at].which), status::ok);
            stale.push_back(live[at].which);
            live[at] = live.back();
            live.pop_back();
        }
        if (!stale.empty()) {
            ASSERT_FALSE(table_.is_live(stale[random.below(stale.size())]));
        }
        if (!live.empty()) {
            const expected& one = live[random.below(live.size())];
            ASSERT_TRUE(table_.is_live(one.which));
            ASSERT_EQ(table_.holders(one.which), one.holders);
        }
    }
    EXPECT_EQ(table_.usage().live_count, live.size());
    EXPECT_TRUE(table_.valid());
}

// Whoever lists handles finds an entry by its word, and may remove it at once: nothing may be stored after that. The
// page of generations faults here, so that the word is seen as it is when the generation is stored.
const tenure::detail::handle_word* watched_word = nullptr;
void* generations_page = nullptr;
bool was_live_before_its_generation = false;
int faults = 0;

void look_at_word(int) {
    ++faults;
    was_live_before_its_generation = tenure::detail::generation_in(watched_word->load()) % 2 == 1;
    ::mprotect(generations_page, tenure::platform::page_bytes(), PROT_READ | PROT_WRITE);
}

TEST_F(handles, an_entry_turns_live_after_its_generation_is_stored) {
    const handle first = add();
    ASSERT_EQ(table_.remove(first), status::ok);
    faults = 0;
    watched_word = table_.words() + first.entry;
    generations_page = const_cast<tenure::detail::handle_generation*>(table_.generations());
    struct sigaction look {
    }, before{};
    look.sa_handler = &look_at_word;
    ASSERT_EQ(::sigaction(SIGSEGV, &look, &before), 0);
    ASSERT_EQ(::mprotect(generations_page, tenure::platform::page_bytes(), PROT_READ), 0);
    const handle second = add();
    ::sigaction(SIGSEGV, &before, nullptr);
    EXPECT_EQ(second.entry, first.entry);
    EXPECT_EQ(faults, 1);
    EXPECT_FALSE(was_live_before_its_generation);
    EXPECT_TRUE(table_.is_live(second));
    EXPECT_EQ(table_.remove(second), status::ok);
    EXPECT_TRUE(table_.valid());
}

}
