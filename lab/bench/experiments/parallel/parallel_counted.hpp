// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the formats of parallel allocate and wait for, as counted by `tenure watch`: threads that write in a marked
/// region, in a process with the hook loaded. Two further rows contain a planted allocation or lock, which must be
/// counted.

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>

#include <tenure/base/region.hpp>

#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/watch/become_watched.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Records the counts of the region so far in the row.
void tell_counts(const task& asked);

inline constexpr std::string_view parallel_region = "records";

/// Each page is one stay in the region; nothing is timed.
template<class Crew>
struct marking_crew {
    const Crew& crew;

    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        crew(count, [&body](std::size_t page) {
            const region_scope region(parallel_region);
            body(page);
        });
    }
};

template<class Format, class Crew>
void count_parallel(const task& asked) {
    if (const std::string why = become_watched("tables"); !why.empty()) return asked.out.fail(why);
    Crew crew(asked.options.size("threads"));
    const std::size_t pages = asked.options.size("pages"), each = asked.options.size("page-objects");
    page_array<two_fields> objects(pages * each);
    random_source random(asked.seed);
    for (two_fields& object : objects.all()) object = two_fields::draw(random);
    paged_writer writer;
    if (!writer.reserve({pages, each, std::max(two_fields::text_bytes, sizeof(two_fields))})) {
        return asked.out.fail("out of memory");
    }
    crew.get_ready();
    const bool written = writer.write(objects.size(), marking_crew<Crew>{crew},
                                      [&](text_writer& to, std::size_t page, std::size_t object) {
                                          Format::write(to, objects[page * each + object]);
                                      });
    if (!written) return asked.out.fail("a record was longer than its maximum length");
    void* const first = writer.pieces()[0].data;
    asked.out.blocks({&first, 1}, writer.pieces()[0].size_bytes, owner_of(text_owner{writer}));
    tell_counts(asked);
}

/// Ours, with an allocation in each record.
struct planted_malloc_format {
    template<class Object>
    static void write(text_writer& to, const Object& object) {
        void* volatile block = std::malloc(32);
        std::free(block);
        our_format::write(to, object);
    }
};

/// Ours, under one lock that is held long enough for two threads to meet.
struct planted_wait_format {
    template<class Object>
    static void write(text_writer& to, const Object& object) {
        static std::mutex lock;
        const std::lock_guard guard(lock);
        for (int step = 0; step < 200; ++step) escape(&object);
        our_format::write(to, object);
    }
};

}
