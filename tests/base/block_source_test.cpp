// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/block_source.hpp>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/platform/page_source.hpp>

#include "support/careless_source.hpp"
#include "support/reports.hpp"

namespace {

using tenure::detail::acquire_aligned;

TEST(block_source, an_aligned_block_is_passed_on) {
    tenure::counting_source source(tenure::page_source::process());
    const support::heard_reports heard;
    void* const block = acquire_aligned(source, 5000, 1 << 20);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(tenure::is_aligned(block, 1 << 20));
    EXPECT_EQ(source.live_blocks(), 1u);
    source.release(block, 5000);
    EXPECT_EQ(heard.count(), 0u);
}

TEST(block_source, a_block_that_ignores_the_alignment_goes_back_and_is_reported_in_checked_builds) {
    support::careless_source source;
    const support::heard_reports heard;
    EXPECT_EQ(acquire_aligned(source, 5000, 64), nullptr);
    EXPECT_EQ(source.requests, 1u);
    EXPECT_EQ(source.live_blocks, 0u);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
    if constexpr (!tenure::checks::caller) return;
    EXPECT_NE(heard.last().find("a block source ignored the alignment: 0x"), std::string::npos) << heard.last();
    EXPECT_NE(heard.last().find("multiple of 64"), std::string::npos) << heard.last();
}

}
