// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Objects at multiples of a page, which a free without a size takes for large ones if the group's heap says so.

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/static_buffer_source.hpp>

#include "support/address_space.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::kibibyte;
using support::mebibyte;
using tenure::affinity_group;

class affinity_large : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::affinity)) GTEST_SKIP() << "objects are malloc's";
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "large objects are malloc's";
    }
    support::heard_reports heard_;
};

TEST_F(affinity_large, a_small_object_beside_large_ones_in_a_buffer_is_freed_as_a_small_one) {
    static constexpr std::size_t buffer_bytes = 960 * kibibyte;
    alignas(256 * kibibyte) static unsigned char buffer[buffer_bytes + 256 * kibibyte];
    std::size_t served = 0;
    for (std::size_t offset = 0; offset < 256 * kibibyte; offset += 64 * kibibyte) {
        tenure::static_buffer_source source(buffer + offset, buffer_bytes);
        affinity_group group("test", {.block_bytes = 64 * kibibyte}, source);
        std::vector<void*> large;
        while (void* const object = group.allocate(100'000)) large.push_back(object);
        for (std::size_t alignment = 64; alignment <= 4096; alignment *= 8) {
            void* const object = group.allocate(64, alignment);
            served += std::size_t{object != nullptr};
            group.deallocate(object);
            EXPECT_EQ(group.size(), large.size());
        }
        for (void* const object : large) group.deallocate(object);
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.valid());
    }
    EXPECT_NE(served, 0u);
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(affinity_large, objects_of_a_page_are_freed_as_small_ones_when_addresses_are_scarce) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers need addresses of their own";
    for (std::size_t spare = 20 * mebibyte; spare <= 60 * mebibyte; spare += 4 * mebibyte) {
        std::vector<void*> objects;
        objects.reserve(4000);
        affinity_group group("test");
        const support::address_limit limit(spare);
        // Large ones between them, of which those that no segment has room for have mappings of their own.
        for (int each = 0; each < 3000; ++each) {
            const std::size_t bytes = each % 30 == 0 ? 100 * kibibyte : 4096;
            if (void* const object = group.allocate(bytes, 4096)) objects.push_back(object);
        }
        EXPECT_GT(objects.size(), 500u);
        for (void* const object : objects) group.deallocate(object);
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.valid());
    }
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

}
