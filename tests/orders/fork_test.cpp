// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/platform/fork_handler.cpp, explored: a lock that is first used while another thread forks.

#include <gtest/gtest.h>

#include <cstring>

#define TENURE_EXPLORED explored_fork
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"

#include <tenure/platform/fork_handler.cpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
void lock_tags() noexcept {}
void unlock_tags() noexcept {}
bool are_tags_locked() noexcept { return false; }
void forget_reader_of_options() noexcept {}
}

namespace platform {
bool at_fork(fork_function, fork_function, fork_function) noexcept { return true; }
bool is_single_threaded() noexcept { return false; }
std::size_t thread_count() noexcept { return 3; }
void sleep_ns(std::uint64_t) noexcept {}
constinit bool mutex::keeps_mine = false;
void mutex::abandon() noexcept {}
}

}

namespace {

using orders::run;
namespace platform = tenure::TENURE_EXPLORED::platform;

struct guarded {
    platform::mutex mutex;
    platform::fork_handler fork;
    orders::plain<int> value;

    explicit guarded(platform::fork_order order) : fork(order, this, steps) {}
    void use() {
        fork.enlist();
        const platform::lock_guard lock(mutex);
        value.set(value.get("guarded data") + 1, "guarded data");
    }
    /// What the child would find: it gets the memory as it is now, not an older value that a load may return.
    [[nodiscard]] bool is_used_by_other() const {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<const void*>(&mutex), sizeof word);
        return word != 0 && word != reinterpret_cast<std::uintptr_t>(orders::thread_pointer());
    }
    static const platform::fork_steps steps;
};
constinit const platform::fork_steps guarded::steps =
    platform::steps_of_lock<[](void* owner) noexcept -> platform::mutex& {
        return static_cast<guarded*>(owner)->mutex;
    }>;

template<platform::fork_order Order>
void used_during_fork(run& r) {
    ::new (&platform::all) platform::participants{};
    guarded& s = r.make<guarded>(Order);
    r.thread([&s] { s.use(); });
    r.thread([&s] {
        platform::fork_handlers::before();
        orders::require(!s.is_used_by_other(), "the child inherits a lock that another thread holds");
        platform::fork_handlers::in_parent();
    });
}

TEST(fork_orders, a_lock_that_is_first_used_during_a_fork_is_not_held_in_the_child) {
    using enum platform::fork_order;
    orders::expect_needs({used_during_fork<lifetimes>, used_during_fork<objects>, used_during_fork<leaf>},
                         {
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                         },
                         {
                             // The lock of the list orders the flag for forks.
                             "fork_handler::enlist load: acquire -> relaxed",
                             "fork_handler::enlist_slow store: release -> relaxed",
                             // These are for next_, a plain pointer of the source, which the explorer does not see.
                             "fork_handlers::is_any_missed load: acquire -> relaxed",
                             "fork_handlers::list_lasting compare_exchange: release -> relaxed",
                             "fork_handlers::visit_lasting load: acquire -> relaxed",
                             // Its value decides; pthread_atfork orders the rest.
                             "platform::hear_of_forks exchange: seq_cst -> acq_rel",
                         });
}

}
