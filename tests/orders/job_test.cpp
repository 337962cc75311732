// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// TempJob's blocks, explored: any thread frees a block with one store, its owner reuses the chunk, and the end of a
// frame looks at both. A copy of src/tenure/lifetime/temp_job.hpp, temp_job.cpp and detail/job_walk.cpp, because the
// sources read eight state bytes as one word.

#include <gtest/gtest.h>

#include "orders/atomic.hpp"
#include "orders/explorer.hpp"
#include "orders/needs.hpp"
#include "orders/sources.hpp"

namespace {

using orders::run;
using enum std::memory_order;

enum class job_state : unsigned char { none, live, reported, untouched };

struct job_block {
    orders::atomic<int> header{0}; ///< what the block's word says: here, how often its place was used
    orders::atomic<job_state> state{job_state::untouched};
    orders::plain<int> bytes;
};

struct job_chunk {
    job_block blocks[2];
    orders::atomic<std::size_t> cursor{0};
    orders::atomic<int> lock{0}; ///< job_record::mutex
    orders::atomic<job_block*> passed{nullptr};
    int reused = 0;

    void take() {
        for (int free = 0; !lock.compare_exchange_strong(free, 1, acquire, relaxed); free = 0) lock.await(0, relaxed);
    }
    void give() { lock.exchange(0, release); }

    /// temp_job::allocate() in a chunk with room.
    job_block& allocate(int use) {
        const std::size_t begin = cursor.load(relaxed);
        job_block& block = blocks[begin];
        block.header.store(use, relaxed);
        block.state.store(job_state::live, release);
        cursor.store(begin + 1, release);
        block.bytes.set(use, "a block");
        return block;
    }
    /// temp_job::deallocate().
    static void deallocate(job_block& block, int use) {
        orders::require(block.header.load(relaxed) == use, "a free reads another block's word");
        orders::require(block.state.load(relaxed) == job_state::live ||
                            block.state.load(relaxed) == job_state::reported,
                        "a free finds no block");
        block.state.store(job_state::none, release);
    }
    /// detail::is_empty().
    [[nodiscard]] bool is_empty() {
        for (job_block& each : blocks) {
            const job_state state = each.state.load(acquire);
            if (state != job_state::none && state != job_state::untouched) return false;
        }
        return true;
    }
    /// temp_job::allocate_slow(), when the chunk is full: open_chunk().
    void try_reuse() {
        take();
        if (is_empty()) {
            cursor.store(0, relaxed);
            ++reused;
        }
        give();
    }
};

void allocate_and_reuse(job_chunk& s) {
    job_block& first = s.allocate(1);
    s.passed.store(&first, release);
    job_chunk::deallocate(s.allocate(1), 1);
    s.try_reuse();
    if (s.reused != 0) static_cast<void>(s.allocate(2));
}

// One thread allocates, another frees.
void freed_elsewhere(run& r) {
    auto& s = r.make<job_chunk>();
    r.thread([&s] { allocate_and_reuse(s); });
    r.thread([&s] {
        job_block& block = *s.passed.await_other(nullptr, acquire);
        orders::require(block.bytes.get("a block") == 1, "a block is not whole");
        job_chunk::deallocate(block, 1);
    });
}

// The end of a frame while the owner allocates and frees: frame_end::settle_current() and settle().
void settled(run& r) {
    auto& s = r.make<job_chunk>();
    r.thread([&s] {
        job_block& first = s.allocate(1);
        static_cast<void>(s.allocate(1));
        job_chunk::deallocate(first, 1);
    });
    r.thread([&s] {
        s.take();
        const std::size_t cursor = s.cursor.load(acquire);
        for (std::size_t each = 0; each < 2; ++each) {
            job_block& block = s.blocks[each];
            const job_state seen = block.state.load(acquire); // visit_live()
            orders::require(each >= cursor || seen != job_state::untouched, "a block before the cursor is missed");
            if (seen != job_state::live) continue;
            const int word = block.header.load(relaxed);
            orders::require(word == 1, "a live block without its word");
            job_state state = block.state.load(acquire);
            if (state != job_state::live) continue;
            static_cast<void>(block.state.compare_exchange_strong(state, job_state::reported, seq_cst));
        }
        s.give();
    });
}

// The end of a frame releases an empty chunk, and another thread takes it: both under locks.
void released(run& r) {
    auto& s = r.make<job_chunk>();
    for (job_block& each : s.blocks) each.state.store(job_state::none);
    s.blocks[0].state.store(job_state::live);
    r.thread([&s] {
        static_cast<void>(s.blocks[0].bytes.get("a block"));
        s.blocks[0].state.store(job_state::none, release); // deallocate()
    });
    r.thread([&s] { s.try_reuse(); });
    r.thread([&s] {
        s.take();
        if (s.reused == 1) {
            s.reused = 2;
            static_cast<void>(s.allocate(2));
        }
        s.give();
    });
}

TEST(job_orders, a_free_in_another_thread_ends_before_its_memory_is_reused) {
    orders::expect_needs(
        {freed_elsewhere, settled, released},
        {
            "job_chunk::allocate store 2: release -> relaxed",
            "job_chunk::allocate store 3: release -> relaxed",
            "job_chunk::deallocate store: release -> relaxed",
            "job_chunk::give exchange: release -> relaxed",
            "job_chunk::is_empty load: acquire -> relaxed",
            "job_chunk::take compare_exchange: acquire -> relaxed",
            "{anonymous}::allocate_and_reuse store: release -> relaxed",
            "{anonymous}::freed_elsewhere load: acquire -> relaxed",
            "{anonymous}::released store: release -> relaxed",
            "{anonymous}::settled load 2: acquire -> relaxed",
            "{anonymous}::settled load: acquire -> relaxed",
        },
        {
            // A free and the report exclude each other by the value; what the report reads was seen before, by load 1.
            "{anonymous}::settled compare_exchange: seq_cst -> acq_rel",
            "{anonymous}::settled failed compare_exchange: seq_cst -> acquire",
            "{anonymous}::settled load 4: acquire -> relaxed",
        });
}

TEST(job_orders, the_copy_of_the_protocol_is_that_of_the_sources) {
    orders::expect_in_source("lifetime/temp_job.hpp",
                             {"header->store(job.word | bytes, detail::memory_order::relaxed);",
                              ".store(detail::job_state::live, detail::memory_order::release);",
                              "job.cursor.store(end, detail::memory_order::release);",
                              "header->load(detail::memory_order::relaxed)",
                              "if (state.load(detail::memory_order::relaxed) == detail::job_state::none)",
                              "state.store(detail::job_state::none, detail::memory_order::release);"});
    orders::expect_in_source("lifetime/temp_job.cpp",
                             {"states[word].load(std::memory_order_acquire) == 0",
                              "job.front.cursor.store(detail::first_block(*chunk), std::memory_order_relaxed);",
                              "detail::state_of(bytes_at).store(detail::job_state::live, std::memory_order_release);",
                              "job.front.cursor.store(begin + detail::stride_of(bytes), std::memory_order_release);"});
    orders::expect_in_source("lifetime/detail/job_blocks.hpp",
                             {"state_words(chunk)[word].load(std::memory_order_acquire)"});
    orders::expect_in_source("lifetime/detail/job_walk.cpp",
                             {"record.job.front.cursor.load(std::memory_order_acquire)",
                              "detail::state_of(bytes_at).load(std::memory_order_acquire)",
                              "compare_exchange_strong(state, detail::job_state::reported)"});
}

}
