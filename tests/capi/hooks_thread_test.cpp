// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Hooks of C at the end of a thread.

#include <tenure/tenure_engine.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>

namespace {

struct chunk_of_thread {
    std::atomic<std::size_t> ends{0};
    const void* chunk = nullptr;
};

/// How often the free of a chunk of Temp, which a thread leaves to its end, is told.
std::size_t ends_told_of_a_left_chunk(std::uint32_t flags) {
    static chunk_of_thread seen; // hooks may be called until the process ends
    seen.chunk = nullptr;
    seen.ends = 0;
    tn_hooks hooks{};
    hooks.size = sizeof hooks;
    hooks.flags = flags;
    hooks.context = &seen;
    hooks.block_begin = [](void* context, const void* block, std::size_t bytes) {
        if (bytes > std::size_t{90} << 20) static_cast<chunk_of_thread*>(context)->chunk = block;
    };
    hooks.block_end = [](void* context, const void* block) {
        auto& into = *static_cast<chunk_of_thread*>(context);
        if (block == into.chunk) ++into.ends;
    };
    EXPECT_EQ(tn_set_hooks(&hooks), TN_OK);
    std::thread([] { EXPECT_NE(tn_allocate(std::size_t{100} << 20, 0, TN_TEMP), nullptr); }).join();
    EXPECT_NE(seen.chunk, nullptr);
    EXPECT_EQ(tn_set_hooks(nullptr), TN_OK);
    return seen.ends;
}

TEST(capi_engine, hooks_that_ask_for_it_are_not_called_when_a_thread_ends) {
    if (tenure::passthrough_enabled(tenure::part::temp)) GTEST_SKIP() << "its blocks come from malloc";
    EXPECT_EQ(ends_told_of_a_left_chunk(0), 1u);
    EXPECT_EQ(ends_told_of_a_left_chunk(TN_HOOKS_NOT_AT_THREAD_END), 0u);
}

}
