// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_sizes.hpp>

#include <gtest/gtest.h>

namespace {

using tenure::detail::affinity_sizes;
using tenure::detail::affinity_stream_count;

constexpr std::size_t max_bytes = 16384;
constexpr std::size_t granules[] = {4, 8, 16, 64, 1024};

TEST(affinity_sizes, mixed_sizes_are_rounded_to_granules_and_share_a_stream) {
    for (std::size_t granule : granules) {
        const affinity_sizes sizes = affinity_sizes::mixed(granule);
        for (std::size_t bytes = 0; bytes <= max_bytes; ++bytes) {
            const std::size_t wanted = bytes == 0 ? 1 : bytes;
            ASSERT_EQ(sizes.of(bytes).bytes, (wanted + granule - 1) / granule * granule) << bytes << " of " << granule;
            ASSERT_EQ(sizes.of(bytes).stream, 0u);
        }
    }
}

TEST(affinity_sizes, a_stream_serves_one_size) {
    for (std::size_t granule : granules) {
        const affinity_sizes sizes = affinity_sizes::by_size(granule);
        for (std::size_t bytes = 0; bytes <= max_bytes; ++bytes) {
            const affinity_sizes::entry entry = sizes.of(bytes);
            ASSERT_TRUE(entry.bytes >= bytes && entry.bytes % granule == 0) << bytes << " of " << granule;
            ASSERT_LT(entry.stream, affinity_stream_count);
            const std::size_t step = granule == 4 ? 4 : 8, largest = step * (affinity_stream_count - 1);
            ASSERT_TRUE(entry.stream == 0 || entry.stream * step == entry.bytes) << bytes << " of " << granule;
            ASSERT_EQ(entry.stream == 0, entry.bytes > largest || bytes > 512) << bytes << " of " << granule;
        }
    }
}

TEST(affinity_sizes, by_size_a_line_is_filled_up_if_that_adds_at_most_an_eighth) {
    constexpr affinity_sizes sizes = affinity_sizes::by_size(8);
    static_assert(sizes.of(48).bytes == 48);
    static_assert(sizes.of(56).bytes == 64);
    static_assert(sizes.of(96).bytes == 96);
    static_assert(sizes.of(112).bytes == 128);
    static_assert(sizes.of(449).bytes == 512);
    static_assert(sizes.of(200).bytes == 200);
    static_assert(sizes.of(224).bytes == 256);
}

}
