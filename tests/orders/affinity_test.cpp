// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/affinity/detail/affinity_bits.cpp, explored: a thread asks for the size of its object while the writer of
// the page's bits changes those of the neighbour.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#define TENURE_EXPLORED explored_affinity
#include "orders/explored.hpp"
#include "orders/needs.hpp"

#include <tenure/affinity/detail/affinity_bits.cpp>

namespace {

using orders::run;
namespace detail = tenure::TENURE_EXPLORED::detail;

constexpr detail::affinity_layout layout = detail::affinity_layout::of(detail::affinity_page_bytes, 64, true);
constexpr detail::affinity_bits bits{layout};
alignas(detail::affinity_page_bytes) unsigned char block[detail::affinity_page_bytes];

/// Objects start behind the front.
[[nodiscard]] unsigned char* granule(std::size_t index) { return block + layout.front_bytes + index * 64; }

/// An object of two granules, and free granules behind it.
void make_block() {
    std::memset(block, 0, layout.front_bytes);
    detail::affinity_page& page = bits.page_of(granule(0));
    page.state = detail::page_state::active;
    bits.mark_start(granule(0));
    bits.set_free({granule(2), granule(6)});
}

void require_size() { orders::require(bits.object_bytes(granule(0)) == 128, "an object has another size"); }

// affinity_stream::next_run(): the free run behind the object becomes an extent, and an object is allocated from it.
void extent_begins(run& r) {
    make_block();
    r.thread([] {
        bits.start_extent({granule(2), granule(6)});
        bits.clear_free({granule(2), granule(6)});
        bits.mark_end(granule(3));
    });
    r.thread([] { require_size(); });
}

// The neighbour is freed, joined with the run behind it, and allocated again.
void neighbour_is_freed(run& r) {
    make_block();
    bits.start_extent({granule(2), granule(6)});
    bits.clear_free({granule(2), granule(6)});
    bits.mark_end(granule(4));
    r.thread([] {
        bits.set_free({granule(2), granule(4)});
        bits.set_free({granule(4), granule(6)});
        bits.start_extent({granule(2), granule(6)});
        bits.clear_free({granule(2), granule(6)});
    });
    r.thread([] { require_size(); });
}

TEST(affinity_orders, an_object_keeps_its_size_while_its_neighbour_comes_and_goes) {
    orders::expect_needs({extent_begins, neighbour_is_freed},
                         {
                             "affinity_bits::load load: acquire -> relaxed",
                             "affinity_bits::store store: release -> relaxed",
                         },
                         {});
}

}
