// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The handles experiment fails schemes that are wrong about what is alive, and asks each that can be asked.

#include "bench/experiments/handles/handles_workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

parameters tiny_handles() {
    parameters options(handles_experiment.options);
    options.set("operations", 1000);
    return options;
}

kept_recorder recorded(void (*run)(const task&)) {
    kept_recorder kept;
    const parameters options = tiny_handles();
    run({options, 1, handles_one_thread, kept});
    return kept;
}

/// A count of what is alive, and nothing else.
class counted {
public:
    using hold = int;
    using taken = bool;
    static constexpr bool knows_ends = true;
    [[nodiscard]] hold make(void*) { return static_cast<hold>(++alive_); }
    [[nodiscard]] bool is_live(hold) const { return alive_ != 0; }
    [[nodiscard]] taken acquire(hold) { return true; }
    void release(hold, taken&) {}
    void end(hold&) { --alive_; }
    static constexpr std::string_view query = "its own count";
    [[nodiscard]] std::size_t alive() const { return alive_; }

protected:
    std::size_t alive_ = 0;
};

struct never_ended : counted {
    void end(hold&) {}
};

struct live_for_ever : counted {
    [[nodiscard]] bool is_live(hold) const { return true; }
};

struct counts_always_one : counted {
    [[nodiscard]] std::size_t alive() const { return 1; }
};

struct refuses : counted {
    [[nodiscard]] taken acquire(hold) { return false; }
};

TEST(handles, a_scheme_that_is_right_passes) { EXPECT_EQ(recorded(run_handles<counted>).failure, ""); }

TEST(handles, a_scheme_that_is_wrong_about_what_is_alive_fails) {
    EXPECT_EQ(recorded(run_handles<never_ended>).failure, "the number of live objects is not 1");
    EXPECT_EQ(recorded(run_handles<counts_always_one>).failure, "an ended object is still counted");
    EXPECT_EQ(recorded(run_handles<live_for_ever>).failure, "an ended object was reported as live");
    EXPECT_EQ(recorded(run_handles<refuses>).failure, "a live object could not be acquired");
}

TEST(handles, every_scheme_that_knows_ends_is_asked_whether_it_is_there) {
    for (const contestant& who : handles_experiment.contestants()) {
        const kept_recorder kept = recorded(who.run);
        EXPECT_EQ(kept.failure, "") << who.name;
        const bool knows_ends = who.name != "std::shared_ptr" && who.name != "bare locked additions";
        EXPECT_EQ(kept.values.contains("check, is it there"), knows_ends) << who.name;
    }
}

}
