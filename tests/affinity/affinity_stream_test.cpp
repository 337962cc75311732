// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_stream.hpp>

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/platform/page_source.hpp>

namespace {

using tenure::detail::affinity_bits;
using tenure::detail::affinity_blocks;
using tenure::detail::affinity_census;
using tenure::detail::affinity_layout;
using tenure::detail::affinity_pages;
using tenure::detail::affinity_request;
using tenure::detail::affinity_stream;
using tenure::detail::page_search;

constexpr std::size_t bytes = 32;

class streams_of_affinity : public testing::Test {
protected:
    unsigned char* take(affinity_request wanted = {bytes, 8}) {
        unsigned char* object = stream_.allocate(pages_, wanted);
        if (object == nullptr && !stream_.refill_from_own(pages_, wanted) &&
            !stream_.refill(pages_, wanted, page_search::bounded))
            return nullptr;
        return object != nullptr ? object : stream_.allocate(pages_, wanted);
    }
    bool extend(unsigned char* object) { return stream_.extend_freed(object, object + bytes); }
    bool begin(unsigned char* object) { return stream_.rewind_or_begin_freed(bits_, object, object + bytes); }
    std::size_t objects_in_pages() {
        stream_.release(pages_);
        affinity_census found;
        EXPECT_TRUE(blocks_.valid(found) && pages_.valid(found));
        return found.objects;
    }

    tenure::counting_source source_{tenure::page_source::process()};
    tenure::detail::misuse_log misuse_;
    affinity_bits bits_{affinity_layout::of(std::size_t{256} << 10, 8, true)};
    affinity_blocks blocks_{bits_, source_, tenure::max_object_bytes, misuse_};
    affinity_pages pages_{bits_, blocks_, misuse_};
    affinity_stream stream_;
};

TEST_F(streams_of_affinity, the_object_allocated_last_is_freed_by_rewinding) {
    take();
    unsigned char* const last = take();
    const std::size_t free_bytes = stream_.free_bytes();
    EXPECT_TRUE(begin(last));
    EXPECT_EQ(stream_.free_bytes(), free_bytes + bytes);
    EXPECT_EQ(take(), last);
    EXPECT_EQ(objects_in_pages(), 2u);
}

TEST_F(streams_of_affinity, a_freed_run_grows_in_both_directions_and_closes_the_gap_to_the_older_one) {
    unsigned char* objects[8];
    for (unsigned char*& each : objects) each = take();
    EXPECT_FALSE(extend(objects[1]));
    EXPECT_TRUE(begin(objects[1]));
    EXPECT_TRUE(extend(objects[2]));
    EXPECT_TRUE(begin(objects[5]));
    EXPECT_TRUE(extend(objects[4]));
    EXPECT_FALSE(extend(objects[0])); // adjacent to the older run
    EXPECT_TRUE(extend(objects[6]));
    EXPECT_TRUE(extend(objects[3])); // joins them
    EXPECT_TRUE(extend(objects[0]));
    EXPECT_TRUE(stream_.contains_free(objects[0]) && stream_.contains_free(objects[6] + bytes - 1));
    EXPECT_FALSE(stream_.extent.contains(objects[6]) || stream_.contains_free(objects[7]));
    EXPECT_EQ(objects_in_pages(), 1u);
}

TEST_F(streams_of_affinity, a_few_more_runs_of_the_page_wait) {
    unsigned char* objects[16];
    for (unsigned char*& each : objects) each = take();
    const std::size_t free_bytes = stream_.free_bytes();
    for (std::size_t runs = 0; runs < 6; ++runs) EXPECT_TRUE(begin(objects[runs * 2]));
    EXPECT_EQ(stream_.free_bytes(), free_bytes + 6 * bytes);
    EXPECT_FALSE(begin(objects[14]));
    stream_.flush_older(pages_);
    EXPECT_TRUE(begin(objects[14]));
    EXPECT_EQ(objects_in_pages(), 9u);
}

TEST_F(streams_of_affinity, no_run_waits_in_another_page) {
    std::vector<unsigned char*> objects;
    while (objects.size() < 5000) objects.push_back(take());
    EXPECT_TRUE(begin(objects[10]) && begin(objects[4000]));
    EXPECT_FALSE(begin(objects[4002])) << "the older run is in another page";
    stream_.flush_older(pages_);
    EXPECT_TRUE(begin(objects[4002]) && begin(objects[4004]) && begin(objects[12]));
    EXPECT_FALSE(begin(objects[14])) << "the waiting run is in another page";
    EXPECT_EQ(objects_in_pages(), 4995u);
}

/// Allocates a tree of four children per inner node, parents first, and frees it from its leaves.
TEST_F(streams_of_affinity, a_tree_is_freed_without_a_flush) {
    struct tree {
        unsigned char* object = nullptr;
        std::vector<tree> children;
    };
    const std::function<tree(int)> make = [&](int levels) {
        tree made{take(), {}};
        for (int child = 0; child < 4 && levels != 0; ++child) made.children.push_back(make(levels - 1));
        return made;
    };
    bool is_flushed = false;
    const std::function<void(const tree&)> destroy = [&](const tree& each) {
        for (const tree& child : each.children) destroy(child);
        if (!extend(each.object) && !begin(each.object)) is_flushed = true;
    };
    destroy(make(4)); // 341 nodes
    EXPECT_FALSE(is_flushed);
    EXPECT_EQ(objects_in_pages(), 0u);
}

TEST_F(streams_of_affinity, memory_that_is_free_in_the_stream_is_not_freed_again) {
    unsigned char* const object = take();
    take();
    EXPECT_TRUE(begin(object));
    EXPECT_FALSE(begin(object));
    EXPECT_FALSE(begin(stream_.extent.begin));
    EXPECT_EQ(objects_in_pages(), 1u);
}

TEST_F(streams_of_affinity, the_run_freed_last_is_the_next_extent) {
    unsigned char* const first = take();
    unsigned char* const second = take();
    take();
    while (stream_.extent.bytes() >= bytes) take();
    EXPECT_TRUE(begin(second) && extend(first));
    EXPECT_EQ(take(), first);
    EXPECT_EQ(take(), second);
}

TEST_F(streams_of_affinity, a_gap_before_an_aligned_object_is_free) {
    take();
    unsigned char* const object = take({bytes, 4096});
    EXPECT_EQ(tenure::address_of(object) % 4096, 0u);
    EXPECT_EQ(objects_in_pages(), 2u);
    EXPECT_LT(take(), object);
}

TEST_F(streams_of_affinity, a_page_whose_runs_were_all_too_small_is_listed_by_the_largest) {
    unsigned char* objects[6];
    for (unsigned char*& each : objects) each = take();
    while (stream_.extent.bytes() >= bytes) take();
    EXPECT_TRUE(begin(objects[1]) && begin(objects[3]) && extend(objects[4]));
    take({3 * bytes, 8});
    const tenure::detail::affinity_page& left = bits_.page_of(objects[0]);
    EXPECT_EQ(left.state, tenure::detail::page_state::measured);
    EXPECT_EQ(left.largest, 2 * bytes / 8);
}

TEST_F(streams_of_affinity, repair_changes_nothing_in_a_consistent_stream) {
    unsigned char* objects[14];
    for (unsigned char*& each : objects) each = take();
    for (std::size_t runs = 0; runs < 7; ++runs) {
        const std::size_t free_bytes = stream_.free_bytes();
        stream_.repair();
        EXPECT_EQ(stream_.free_bytes(), free_bytes);
        EXPECT_EQ(begin(objects[runs * 2]), runs < 6);
    }
    EXPECT_EQ(objects_in_pages(), 8u);
}

}
