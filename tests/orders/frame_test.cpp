// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/lifetime/frame_memory.cpp and base/frame_clock.cpp, explored: a frame begins while threads allocate. All
// threads use one stripe.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/base/tag.hpp>

#define TENURE_EXPLORED explored_frames
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"

#include <tenure/base/frame_clock.cpp>
#include <tenure/lifetime/frame_memory.cpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
constinit job_front no_job_front{};
constinit temp_front no_temp_front{};
TENURE_DEFINE_THREAD_LOCAL(thread_lifetimes, this_thread)
void add_holder(const void*, const holder_kind&, std::size_t) noexcept {}
void remove_holder(const void*) noexcept {}
void held_list::add(const held_blocks&) noexcept {}
void held_list::add_lost(std::string_view, const void*) noexcept {}
void held_list::add_busy(std::string_view, std::string_view, const void*) noexcept {}
}

namespace platform {
bool is_object_readable(const void*, std::size_t) noexcept { return true; }
void lock_patience::rest() noexcept {}
}

}

namespace {

using orders::run;
namespace explored = tenure::TENURE_EXPLORED;

struct mapped_source final : tenure::block_source {
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override { return orders::map(bytes, alignment); }
    void release(void*, std::size_t) noexcept override {}
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};
mapped_source source;

constexpr std::size_t block_bytes = 64, chunk_bytes = 4096;

/// Memory of one frame, with a chunk that was filled in part.
struct frames_state {
    explored::frame_memory memory{1, source, chunk_bytes};
    void* found[4]{}; ///< blocks of the second frame
    std::size_t count = 0;

    frames_state() {
        ::new (&explored::frames) orders::atomic<std::uint64_t>{0};
        static_cast<void>(memory.allocate(block_bytes));
    }
    void allocate() {
        const bool is_late = explored::frame_clock::now() == 0;
        void* const block = memory.allocate(block_bytes);
        if (is_late) return; // its frame may have ended meanwhile
        orders::note_write(block, "a block");
        found[count++] = block;
    }
    void require_apart() const {
        for (std::size_t each = 0; each < count; ++each)
            orders::require(std::count(found, found + count, found[each]) == 1, "two blocks of a frame at one address");
    }
};

// Two threads are the first to allocate in a frame.
void first_of_a_frame(run& r) {
    auto& s = r.make<frames_state>();
    explored::frame_clock::advance();
    r.thread([&s] {
        s.allocate();
        s.allocate();
    });
    r.thread([&s] { s.allocate(); });
    r.at_end([&s] { s.require_apart(); });
}

// A thread begins to allocate in one frame and ends in the next.
void delayed(run& r) {
    auto& s = r.make<frames_state>();
    r.thread([&s] {
        explored::frame_clock::advance();
        s.allocate();
        s.allocate();
    });
    r.thread([&s] { s.allocate(); });
    r.at_end([&s] { s.require_apart(); });
}

TEST(frame_orders, blocks_of_a_frame_are_apart_when_it_begins) {
    orders::expect_needs({first_of_a_frame, delayed},
                         {
                             "frame_memory::allocate load: acquire -> relaxed",
                             "frame_memory::allocate_slow store 2: release -> relaxed",
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                         },
                         {
                             // For what the program writes in one frame and reads in the next.
                             "frame_clock::advance fetch_add: acq_rel -> acquire",
                             "frame_clock::advance fetch_add: acq_rel -> release",
                             "frame_clock::now load: acquire -> relaxed",
                             // A new chunk with its size, a plain variable of the source, which the explorer does not
                             // see.
                             "frame_memory::allocate load 2: acquire -> relaxed",
                             "frame_memory::allocate_slow store 3: release -> relaxed",
                             // The second look of a delayed thread. Without it, the thread keeps memory of the later
                             // frame, which nobody else has.
                             "frame_memory::allocate load 3: acquire -> relaxed",
                             "frame_memory::allocate_slow store: release -> relaxed",
                             "frame_memory::bump compare_exchange: acq_rel -> acquire",
                             "frame_memory::bump compare_exchange: acq_rel -> release",
                             "frame_memory::recycle store 2: release -> relaxed",
                         });
}

}
