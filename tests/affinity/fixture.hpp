// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Groups over a source that counts, and every combination of what a group may be.

#include <cstddef>
#include <cstdint>
#include <new>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/engine/tail_guard.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace affinity_tests {

using support::kibibyte;
using support::mebibyte;
using tenure::affinity_group;
using tenure::affinity_options;

/// Checked builds put a guard behind each object. What to ask for so that an object takes `bytes` with its guard.
constexpr std::size_t within(std::size_t bytes) { return bytes - tenure::detail::tail_guard_bytes; }
constexpr const char* has_guards = "checked builds put a guard behind each object";

/// Where an object is, and what it was asked for.
struct object {
    unsigned char* at = nullptr;
    std::size_t bytes = 0;
    std::size_t alignment = 1;
};

/// At the end of each test everything has gone back to the source.
class groups : public testing::Test {
protected:
    ~groups() override { EXPECT_EQ(source_.live_blocks(), 0u); }

    static unsigned char* take(affinity_group& group, std::size_t bytes, std::size_t alignment = 1) {
        void* const made = group.allocate(bytes, alignment);
        if (made == nullptr) throw std::bad_alloc();
        return static_cast<unsigned char*>(made);
    }
    static std::vector<unsigned char*> take_many(affinity_group& group, std::size_t count, std::size_t bytes,
                                                 std::size_t alignment = 1) {
        std::vector<unsigned char*> made;
        while (made.size() < count) made.push_back(take(group, bytes, alignment));
        return made;
    }

    tenure::counting_source source_{tenure::page_source::process()};
};

/// `given_apart_aligned_16_in_65536_keep_0`
inline std::string name_of(const affinity_options& options) {
    return std::string(options.sizes == tenure::size_on_free::required ? "given_" : "found_") +
           (options.layout == tenure::page_layout::by_size ? "apart" : "together") + "_aligned_" +
           std::to_string(options.alignment) + "_in_" + std::to_string(options.block_bytes) +
           (options.max_retained_bytes == 0 ? "_keep_none" : "_keep_all") +
           (options.threads == tenure::sharing::any_thread ? "_shared" : "");
}

/// Every combination of sizes, streams, alignment, block and keeping, for one thread.
/// Under a sanitizer, which makes them slow, with the smallest and the largest alignment alone.
inline std::vector<affinity_options> every_option(std::vector<std::size_t> alignments) {
    if (support::under_sanitizer()) alignments = {alignments.front(), alignments.back()};
    std::vector<affinity_options> all;
    for (tenure::size_on_free sizes : {tenure::size_on_free::optional, tenure::size_on_free::required}) {
        for (tenure::page_layout layout : {tenure::page_layout::mixed, tenure::page_layout::by_size}) {
            for (std::size_t alignment : alignments) {
                for (std::size_t block_bytes : {64 * kibibyte, 2 * mebibyte}) {
                    for (std::size_t max_retained_bytes : {std::size_t{0}, tenure::max_object_bytes}) {
                        affinity_options options;
                        options.alignment = alignment;
                        options.block_bytes = block_bytes;
                        options.max_retained_bytes = max_retained_bytes;
                        options.sizes = sizes;
                        options.layout = layout;
                        all.push_back(options);
                    }
                }
            }
        }
    }
    return all;
}

}
