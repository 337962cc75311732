// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A process forks while its threads use every allocator that serves more than one thread. Each child then uses all of
// them, also from a thread of its own.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinities.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/shared_pool.hpp>
#include <tenure/pool/small_object.hpp>

#include "support/child.hpp"
#include "support/process.hpp"

namespace {

using tenure::affinity_group;
using tenure::handle_table;
using tenure::heap;
using tenure::status;

/// Where in use_everything() something was wrong; zero when nothing was.
enum class step : int { none, heaps, pools, small, temporary, groups, handles, tags, options, structure };

struct node {
    unsigned char bytes[48];
};

template<std::size_t size>
struct small_node : tenure::small_object {
    unsigned char bytes[size];
};

/// Takes blocks of all sizes in turn, writes into them, looks at them again and gives them back.
/// Returns   whether nobody else had any of them meanwhile.
template<class Take, class Give>
bool use(int count, unsigned seed, Take&& take, Give&& give) {
    constexpr std::size_t sizes[] = {8, 24, 48, 100, 300, 700, 3000};
    struct taken {
        unsigned char* at;
        std::size_t bytes;
    };
    std::vector<taken> all;
    bool is_good = true;
    for (int each = 0; each < count; ++each) {
        const std::size_t bytes = sizes[(static_cast<unsigned>(each) + seed) % std::size(sizes)];
        auto* const block = static_cast<unsigned char*>(take(bytes));
        if (block == nullptr) return false;
        std::memset(block, each + static_cast<int>(seed), bytes);
        all.push_back({block, bytes});
    }
    // Forwards and backwards, so that frees lie beside what was freed last and apart from it.
    for (std::size_t each = 0; each < all.size(); ++each) {
        const std::size_t which = each % 2 == 0 ? each / 2 : all.size() - 1 - each / 2;
        const auto filled = static_cast<unsigned char>(which + seed);
        is_good = is_good && all[which].at[0] == filled && all[which].at[all[which].bytes - 1] == filled;
        give(all[which].at, all[which].bytes);
    }
    return is_good;
}

template<class Type>
bool use_new(unsigned seed) {
    std::vector<std::unique_ptr<Type>> all;
    for (int each = 0; each < 40; ++each) {
        all.push_back(std::make_unique<Type>());
        std::memset(all.back()->bytes, each + static_cast<int>(seed), sizeof all.back()->bytes);
    }
    for (std::size_t each = 0; each < all.size(); ++each) {
        if (all[each]->bytes[0] != static_cast<unsigned char>(each + seed)) return false;
    }
    return true;
}

/// What the threads share.
struct allocators {
    heap own{{.name = "of a fork"}};
    tenure::shared_block_pool blocks{3000};
    tenure::shared_pool<node> nodes;
    affinity_group together{"together", {.threads = tenure::sharing::any_thread}};
    affinity_group apart{"apart",
                         {.sizes = tenure::size_on_free::required,
                          .layout = tenure::page_layout::by_size,
                          .threads = tenure::sharing::any_thread}};
    handle_table handles;
    std::atomic<unsigned> tag_number{0};

    [[nodiscard]] step use_all(unsigned seed) {
        const auto in_heap = [](heap& which) {
            return std::pair([&](std::size_t bytes) { return which.allocate(bytes); },
                             [&](void* block, std::size_t) { which.deallocate(block); });
        };
        const auto [take_own, give_own] = in_heap(own);
        const auto [take_process, give_process] = in_heap(heap::process());
        if (!use(60, seed, take_own, give_own) || !use(60, seed, take_process, give_process)) return step::heaps;
        void* const large = heap::process().allocate(100'000);
        heap::process().deallocate(large);
        own.deallocate(own.allocate(200'000));

        const bool has_blocks = use(
            150, seed, [&](std::size_t) { return blocks.allocate(); },
            [&](void* block, std::size_t) { blocks.deallocate(block); });
        std::vector<node*> made;
        for (int each = 0; each < 300; ++each) made.push_back(nodes.construct());
        const bool has_nodes = std::find(made.begin(), made.end(), nullptr) == made.end();
        for (node* const each : made) nodes.destroy(each);
        if (!has_blocks || !has_nodes) return step::pools;

        const bool has_small =
            use_new<small_node<16>>(seed) && use_new<small_node<200>>(seed) && use_new<small_node<5000>>(seed);
        if (!has_small) return step::small;
        // It comes from malloc, whose locks ThreadSanitizer does not release in a child.
        if (!tenure::platform::is_under_thread_sanitizer() && !use_new<small_node<40'000>>(seed)) return step::small;

        {
            const tenure::temp_scope scope;
            const bool has_jobs = use(
                100, seed, [](std::size_t bytes) { return tenure::allocate(bytes, tenure::lifetime::temp_job); },
                [](void* block, std::size_t) { tenure::deallocate(block, tenure::lifetime::temp_job); });
            tenure::deallocate(tenure::allocate(70'000, tenure::lifetime::temp_job), tenure::lifetime::temp_job);
            void* const beyond = tenure::allocate(5'000'000, tenure::lifetime::temp); // past the budget
            const bool has_temp = use(
                60, seed, [](std::size_t bytes) { return tenure::allocate(bytes, tenure::lifetime::temp); },
                [](void*, std::size_t) {});
            if (!has_jobs || !has_temp || beyond == nullptr) return step::temporary;
        }

        for (affinity_group* const group : {&together, &apart, &tenure::affinities::nodes()}) {
            const bool is_good = use(
                120, seed, [&](std::size_t bytes) { return group->allocate(bytes); },
                [&](void* object, std::size_t bytes) { group->deallocate(object, bytes); });
            void* const big = group->allocate(50'000);
            group->deallocate(big, 50'000);
            if (!is_good || big == nullptr) return step::groups;
        }

        for (handle_table* const table : {&handles, &handle_table::process()}) {
            std::vector<tenure::handle> all(60);
            for (tenure::handle& each : all) each = table->add(this, sizeof *this);
            for (const tenure::handle& each : all) {
                if (table->acquire(each) != status::ok || table->release(each) != status::ok) return step::handles;
                if (table->remove(each) != status::ok) return step::handles;
            }
        }
        tenure::handle buffer;
        if (tenure::allocate_held(1000, {}, buffer) != status::ok) return step::handles;
        if (handle_table::process().remove(buffer) != status::ok) return step::handles;

        {
            static_cast<void>(tenure::tag::named("name " + std::to_string(tag_number++ % 3000)));
            const tenure::tag_scope scope(seed % 2 == 0 ? "even" : "odd");
            if (tenure::tag::count() == 0) return step::tags;
            heap::process().deallocate(heap::process().allocate(seed % 500));
        }
        const bool is_set = tenure::set_option(tenure::option::temp_job_frames, 4) &&
                            tenure::option_value(tenure::option::temp_job_frames) == 4;
        return is_set ? step::none : step::options;
    }

    /// Requires  no other thread uses them.
    [[nodiscard]] bool valid() {
        return own.valid() && heap::process().valid() && blocks.valid() && together.valid() && apart.valid() &&
               tenure::affinities::nodes().valid() && tenure::temp_job::valid() && nodes.valid();
    }
};

/// What a child does. Returns   a step, and 100 more on its second thread.
int use_in_child(allocators& all) {
    if (const step failed = all.use_all(1); failed != step::none) return static_cast<int>(failed);
    if (!support::under_thread_sanitizer()) { // which follows no threads of a forked child
        step failed = step::none;
        support::on_fresh_thread([&] { failed = all.use_all(2); });
        if (failed != step::none) return 100 + static_cast<int>(failed);
    }
    tenure::next_frame();
    return all.valid() ? 0 : static_cast<int>(step::structure);
}

/// A few seconds' worth; TENURE_TEST_FORKS=5000 asks for more.
int fork_count() {
    const char* const asked = std::getenv("TENURE_TEST_FORKS");
    if (asked != nullptr) return std::atoi(asked);
    const bool is_slow = support::under_sanitizer() || tenure::checks::caller;
    return is_slow ? 40 : 300;
}

TEST(fork, children_use_every_allocator_that_other_threads_were_using) {
    // Its own heap has locks that other threads may hold at the fork.
    if (support::under_address_sanitizer()) GTEST_SKIP() << "AddressSanitizer's heap is not for children of threads";
    auto* const former = tenure::temp_job::set_leak_handler([](const tenure::temp_job_leak&) noexcept {});
    const auto all = std::make_unique<allocators>();
    std::atomic<bool> stop{false};
    std::atomic<int> failed{0};
    const auto work = [&](unsigned seed) {
        if (const step wrong = all->use_all(seed); wrong != step::none) failed = static_cast<int>(wrong);
    };
    std::vector<std::thread> threads;
    for (unsigned index = 0; index < 3; ++index) {
        threads.emplace_back([&, index] {
            for (unsigned round = index; !stop; ++round) work(round);
        });
    }
    threads.emplace_back([&] { // threads come and go, and frames end
        for (unsigned round = 0; !stop; ++round) {
            std::thread([&] { work(round); }).join();
            tenure::next_frame();
        }
    });
    int answer = 0, forks = 0;
    for (const int count = fork_count(); forks < count && answer == 0; ++forks)
        answer = support::answer_of_child([&] { return use_in_child(*all); }, 60);
    EXPECT_EQ(answer, 0) << "the child of fork " << forks << "; negative: a signal ended it, 14 when it hung";
    stop = true;
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(failed, 0) << "a thread of the parent";
    EXPECT_EQ(all->use_all(3), step::none);
    EXPECT_TRUE(all->valid());
    tenure::temp_job::set_leak_handler(former);
}

}
