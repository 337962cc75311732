// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Temp and TempJob belong to threads and to the process: what each test does to begin and to end with nothing.

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/process.hpp"

namespace support {

/// Sets an option while it lives.
class option_scope {
public:
    option_scope(tenure::option id, std::uint64_t value) : id_(id), before_(tenure::option_value(id)) {
        EXPECT_TRUE(tenure::set_option(id, value));
    }
    ~option_scope() { tenure::set_option(id_, before_); }
    option_scope(const option_scope&) = delete;
    option_scope& operator=(const option_scope&) = delete;

private:
    tenure::option id_;
    std::uint64_t before_;
};

/// From the thread's Temp.
inline unsigned char* take(std::size_t bytes, std::size_t alignment = tenure::default_alignment) {
    return static_cast<unsigned char*>(tenure::temp::allocate(bytes, alignment));
}

/// Runs `work` on a fresh thread whose Temp has this budget.
template<class Work>
void with_budget(std::size_t bytes, Work&& work) {
    const option_scope budget(tenure::option::temp_budget_bytes, bytes);
    on_fresh_thread(std::forward<Work>(work));
}

struct leak {
    std::size_t bytes;
    std::uint64_t age_frames;
    std::string owner;
    std::vector<void*> stack;
    int times;
};

/// Hears of leaked TempJob blocks while it lives.
class heard_leaks {
public:
    heard_leaks() : former_(tenure::temp_job::set_leak_handler(&hear)) { all().clear(); }
    ~heard_leaks() { tenure::temp_job::set_leak_handler(former_); }
    heard_leaks(const heard_leaks&) = delete;
    heard_leaks& operator=(const heard_leaks&) = delete;

    [[nodiscard]] std::size_t count() const { return all().size(); }
    [[nodiscard]] bool has(const void* block) const { return all().count(block) != 0; }
    /// What was said of a block. Requires  has(block).
    [[nodiscard]] const leak& of(const void* block) const { return all().at(block); }
    void forget() { all().clear(); }

private:
    static std::map<const void*, leak>& all() {
        static std::map<const void*, leak> leaks;
        return leaks;
    }
    static void hear(const tenure::temp_job_leak& seen) noexcept {
        const auto [place, is_new] = all().try_emplace(seen.address, leak{seen.bytes,
                                                                          seen.age_frames,
                                                                          std::string(seen.owner.name()),
                                                                          {seen.stack, seen.stack + seen.stack_count},
                                                                          0});
        ++place->second.times;
    }

    tenure::temp_job_leak_handler former_;
};

inline void pass_frames(std::uint64_t count) {
    for (; count != 0; --count) tenure::next_frame();
}

/// Of tests that count TempJob's blocks: there are none before and none after.
class temp_job_test : public testing::Test {
protected:
    temp_job_test() {
        EXPECT_EQ(tenure::temp_job::stats().live_count, 0u);
        tenure::temp_job::trim();
    }
    ~temp_job_test() override {
        EXPECT_EQ(tenure::temp_job::stats().live_count, 0u);
        EXPECT_EQ(tenure::temp_job::stats().live_bytes, 0u);
        EXPECT_TRUE(tenure::temp_job::valid());
    }
};

}
