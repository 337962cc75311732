// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Values that several variables hold together, and that are read without a lock: copies that are compared with their
// sources.

#include <gtest/gtest.h>

#include "orders/atomic.hpp"
#include "orders/explorer.hpp"
#include "orders/needs.hpp"
#include "orders/sources.hpp"

namespace {

using orders::run;
using enum std::memory_order;

// misaligned_block::acquire() and write(), base/block_source.cpp: the report names the alignment of the block.
struct misaligned_state {
    orders::atomic<int> at{0}, alignment{0};
};

void misaligned(run& r) {
    auto& s = r.make<misaligned_state>();
    r.thread([&s] {
        s.alignment.store(64, relaxed);
        s.at.store(1, release);
    });
    r.thread([&s] {
        if (s.at.exchange(0, acquire) != 0)
            orders::require(s.alignment.load(relaxed) == 64, "a report of no alignment");
    });
}

// start_generator() and set_order_key(), heap/detail/checked/quarantine.cpp: no generator starts from a word of zero.
struct key_state {
    orders::atomic<int> key[2]{0, 0};

    void start() {
        if (key[0].load(acquire) == 0) {
            key[1].store(1, relaxed);
            key[0].store(1, release);
        }
        orders::require(key[0].load(relaxed) != 0 && key[1].load(relaxed) != 0, "a generator starts without a key");
    }
};

void first_generators(run& r) {
    auto& s = r.make<key_state>();
    for (int each = 0; each < 2; ++each) r.thread([&s] { s.start(); });
}

// use_limit::keep_standard_error() and heap_core::report_refusal(), heap/detail/use_limit.cpp: two threads set a limit,
// a third one has a request refused.
struct kept_state {
    orders::atomic<bool> is_wanted{false}, is_kept{false};
    orders::plain<int> file;

    void keep() {
        if (is_wanted.exchange(true, seq_cst)) return;
        file.set(1, "the file");
        is_kept.store(true, release);
    }
};

void kept_file(run& r) {
    auto& s = r.make<kept_state>();
    for (int each = 0; each < 2; ++each) r.thread([&s] { s.keep(); });
    r.thread([&s] {
        if (s.is_kept.load(acquire)) orders::require(s.file.get("the file") == 1, "a report without its file");
    });
}

// make_tag() and tag_of(), dropin/alloc_tokens.cpp: whoever reports a block of the tag reads the tag's name.
struct tag_state {
    orders::atomic<std::uint16_t> known{0};
    orders::plain<int> name;
};

void known_tag(run& r) {
    auto& s = r.make<tag_state>();
    r.thread([&s] {
        s.name.set(1, "the name of a tag"); // tag::named()
        s.known.store(2, release);
    });
    r.thread([&s] {
        if (s.known.load(acquire) != 0) static_cast<void>(s.name.get("the name of a tag"));
    });
}

// heap_profile::start(), heap_core::is_profiled() and begin_sample(): a sample is drawn by the profile's mean.
struct profile_state {
    orders::atomic<int> mean{0};
    orders::atomic<bool> is_profiling{false};
};

void first_sample(run& r) {
    auto& s = r.make<profile_state>();
    r.thread([&s] {
        s.mean.store(1, relaxed);
        s.is_profiling.store(true, release);
    });
    r.thread([&s] {
        if (s.is_profiling.load(acquire)) orders::require(s.mean.load(relaxed) == 1, "a sample by another mean");
    });
}

TEST(value_orders, every_order_has_its_use) {
    orders::expect_needs({misaligned, first_generators, kept_file, known_tag, first_sample},
                         {
                             "kept_state::keep store: release -> relaxed",
                             "key_state::start load: acquire -> relaxed",
                             "key_state::start store 2: release -> relaxed",
                             "{anonymous}::first_sample load: acquire -> relaxed",
                             "{anonymous}::first_sample store 2: release -> relaxed",
                             "{anonymous}::kept_file load: acquire -> relaxed",
                             "{anonymous}::known_tag load: acquire -> relaxed",
                             "{anonymous}::known_tag store: release -> relaxed",
                             "{anonymous}::misaligned exchange: acquire -> relaxed",
                             "{anonymous}::misaligned store 2: release -> relaxed",
                         },
                         {
                             // Its value decides; nothing is read from who changed it.
                             "kept_state::keep exchange: seq_cst -> acq_rel",
                         });
}

TEST(value_orders, the_copies_are_those_of_the_sources) {
    orders::expect_in_source("base/block_source.cpp", {"alignment_.store(alignment, std::memory_order_relaxed); "
                                                       "at_.store(address_of(block), std::memory_order_release);",
                                                       "at_.exchange(0, std::memory_order_acquire);"});
    orders::expect_in_source("heap/detail/checked/quarantine.cpp",
                             {"order_key[1].store(drawn.words[1] | 1, std::memory_order_relaxed); "
                              "order_key[0].store(drawn.words[0] | 1, std::memory_order_release);",
                              "if (order_key[0].load(std::memory_order_acquire) == 0)"});
    orders::expect_in_source("heap/detail/use_limit.cpp", {"if (is_file_wanted.exchange(true)) return; "
                                                           "standard_error = platform::copy_of_standard_error(); "
                                                           "is_file_kept.store(true, std::memory_order_release);",
                                                           "is_file_kept.load(std::memory_order_acquire);"});
    orders::expect_in_source("dropin/alloc_tokens.cpp", {"known_tags[group].store(id, std::memory_order_release);",
                                                         "known_tags[group].load(std::memory_order_acquire);"});
    orders::expect_in_source("heap/heap_profile.cpp", {"detail::is_profiling.store(true, std::memory_order_release);"});
    orders::expect_in_source("heap/detail/heap_core.cpp", {"is_profiling.load(std::memory_order_acquire)"});
}

}
