// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What is made once and then found without a lock, explored: src/tenure/platform/owner_homes.cpp with
// base/owner_home.hpp, and platform/address_map.cpp. The objects that are made at first use (small_object.cpp,
// affinity_large.hpp, affinities.cpp, handle_table::open()) follow owner_homes.cpp: look, lock, look again, publish.

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <new>

#define TENURE_EXPLORED explored_publication
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"

#include <tenure/platform/address_map.cpp>
#include <tenure/platform/owner_homes.cpp>

namespace tenure::inline TENURE_ABI {

void detail::owner_home::report_outlived(const void*) const noexcept {}
void detail::owner_home::report_left(const void*) const noexcept {}

namespace platform {
std::size_t page_bytes() noexcept { return 4096; }
void* map(std::size_t bytes, std::size_t alignment) noexcept { return orders::map(bytes, alignment); }
void unreserve(void*, std::size_t) noexcept {}
void fork_handler::enlist_slow() noexcept {}
void mutex::abandon() noexcept {}
}

}

namespace {

using orders::run;
namespace detail = tenure::TENURE_EXPLORED::detail;

struct homes_state {
    detail::owner_link link;
    orders::plain<int> owner, written;
    detail::owner_home* found[2]{};
};

// Two threads ask for one owner's home: they get the same one, and see what its maker has written.
void made_once(run& r) {
    auto& s = r.make<homes_state>();
    ::new (&detail::all) detail::homes{};
    for (std::size_t each = 0; each < 2; ++each) {
        r.thread([&s, each] {
            s.found[each] = s.link.of(&s.owner, "test");
            orders::note_read(s.found[each], "a home");
            orders::require(s.found[each] != nullptr && s.found[each]->owner == &s.owner, "a home without its owner");
        });
    }
    r.at_end([&s] { orders::require(s.found[0] == s.found[1], "two homes of one owner"); });
}

TEST(publication_orders, an_owner_gets_one_home) {
    orders::expect_needs({made_once},
                         {
                             "detail::make_home store: release -> relaxed",
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                             "owner_link::of load: acquire -> relaxed",
                         },
                         {
                             // Never listed here: fork_test.cpp.
                             "fork_handler::enlist load: acquire -> relaxed",
                         });
}

struct map_state {
    tenure::platform::address_map map;
    orders::plain<int> first, second; ///< owners
    orders::atomic<int> passed{0};
};

void* const first_piece = tenure::pointer_at(0x10000);
void* const second_piece = tenure::pointer_at(0x20000);

// Two threads set pieces of one leaf, whose map is made by one of them; a third finds owners whole.
void looked_up(run& r) {
    auto& s = r.make<map_state>();
    r.thread([&s] {
        s.first.set(1, "an owner");
        orders::require(s.map.set(first_piece, &s.first), "out of memory");
    });
    r.thread([&s] { orders::require(s.map.set(second_piece, &s.second), "out of memory"); });
    r.thread([&s] {
        if (s.map.get(first_piece) == &s.first) static_cast<void>(s.first.get("an owner"));
    });
    r.at_end([&s] {
        orders::require(s.map.get(first_piece) == &s.first && s.map.get(second_piece) == &s.second, "an owner is lost");
    });
}

TEST(publication_orders, an_owner_is_found_whole_by_its_address) {
    orders::expect_needs({looked_up},
                         {
                             "address_map::get load 2: acquire -> relaxed",
                             "address_map::get load: acquire -> relaxed",
                             "address_map::make_leaf compare_exchange: acq_rel -> acquire",
                             "address_map::make_leaf failed compare_exchange: acquire -> relaxed",
                             "address_map::set load: acquire -> relaxed",
                             "address_map::set store: release -> relaxed",
                         },
                         {
                             // A leaf that this thread has made: the failure acquires.
                             "address_map::make_leaf compare_exchange: acq_rel -> release",
                         });
}

}
