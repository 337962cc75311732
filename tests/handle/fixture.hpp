// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

#include <tenure/handle/handle_table.hpp>

/// A table of its own, and memory that counts how often it was given back.
class handles : public testing::Test {
protected:
    handles() { releases = 0; }
    static void count_release(void*, std::size_t bytes) noexcept { releases += bytes != 0; }
    [[nodiscard]] tenure::handle add(std::size_t bytes = 64) {
        return table_.add(memory_, bytes, &count_release, "memory of a test");
    }
    inline static std::atomic<int> releases = 0;
    unsigned char memory_[64] = {};
    tenure::handle_table table_{{.max_entries = 1u << 16}};
};
