// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What several tests of the C interface need: a source of C functions, and questions about the build.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/tenure.h>

#include "support/reports.hpp"

namespace capi {

[[nodiscard]] inline bool is_passthrough() { return tenure::option_value(tenure::option::passthrough) != 0; }

[[nodiscard]] inline bool is_zero(const void* block, std::size_t bytes) {
    const auto* const first = static_cast<const unsigned char*>(block);
    return std::all_of(first, first + bytes, [](unsigned char each) { return each == 0; });
}

/// In checked builds so many mistakes were reported, in others none.
inline void expect_reported(const support::heard_reports& heard, std::size_t mistakes) {
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? mistakes : 0) << heard.last();
}

/// From malloc; tenure::host::free_aligned() frees it.
[[nodiscard]] inline void* aligned_block(std::size_t bytes, std::size_t alignment) {
    const std::size_t at = std::max<std::size_t>(alignment, 16);
    return tenure::host::aligned_from_malloc(tenure::align_up(bytes, at), at); // AddressSanitizer refuses parts
}

/// A source of C functions over malloc that counts, and refuses after so many blocks.
struct counted_memory {
    std::size_t live = 0, requests = 0, refuses_after = SIZE_MAX;

    [[nodiscard]] tn_block_source source(std::uint32_t any_thread = 1) {
        tn_block_source functions{};
        functions.size = sizeof functions;
        functions.any_thread = any_thread;
        functions.context = this;
        functions.acquire = [](void* context, std::size_t bytes, std::size_t alignment) -> void* {
            auto& self = *static_cast<counted_memory*>(context);
            if (self.requests++ >= self.refuses_after) return nullptr;
            void* const block = aligned_block(bytes, alignment);
            if (block != nullptr) ++self.live;
            return block;
        };
        functions.release = [](void* context, void* block, std::size_t) {
            --static_cast<counted_memory*>(context)->live;
            tenure::host::free_aligned(block);
        };
        return functions;
    }
};

}
