// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Writes outside the objects of a handle_pool and behind the elements of a stable_vector, which checked builds report.

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/stable_vector.hpp>
#include <tenure/tenure_engine.h>

#include "support/overruns.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using support::name_of;
using support::write;
using tenure::handle_pool;
using tenure::pool_handle;
using tenure::stable_vector;

struct object {
    char bytes[100];
};

class handle_pool_overrun_death : public testing::Test {
protected:
    void SetUp() override {
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (support::under_address_sanitizer()) GTEST_SKIP() << "it stops at the write";
        for (pool_handle<object>& each : handles_) each = pool_.construct();
    }
    [[nodiscard]] char* at(std::size_t index) { return pool_.get(handles_[index])->bytes; }

    /// Whether the only report contains the text.
    void expect_one_report(const std::string& text) const {
        EXPECT_EQ(heard_.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard_.last().find(text), std::string::npos) << heard_.last();
    }

    handle_pool<object> pool_{1000};
    pool_handle<object> handles_[200]{};
    const support::heard_reports heard_;
};

TEST_F(handle_pool_overrun_death, an_overrun_object_is_named_when_it_is_destroyed) {
    write(at(10) + 100, 2, 4);
    const std::string name = name_of(at(10));
    EXPECT_TRUE(pool_.destroy(handles_[10]));
    expect_one_report("a handle_pool block of 100 bytes was overrun: " + name +
                      ". Behind its end, bytes 100 to 103 were overwritten.");
}

TEST_F(handle_pool_overrun_death, the_overrun_object_is_named_when_its_neighbour_is_destroyed) {
    write(at(63) + 100, 2, 12);
    pool_.destroy(handles_[64]);
    expect_one_report("a handle_pool block of 100 bytes was overrun: " + name_of(at(63)));
    pool_.destroy(handles_[63]);
    EXPECT_EQ(heard_.count(), 1u) << "once";
}

TEST_F(handle_pool_overrun_death, a_write_in_front_of_an_object_names_that_object) {
    write(at(64) - 4, 2, 4);
    const std::string name = name_of(at(64));
    pool_.destroy(handles_[64]);
    expect_one_report("memory in front of a handle_pool block was overwritten: " + name);
}

TEST_F(handle_pool_overrun_death, an_object_that_is_never_destroyed_is_named_by_clear_and_by_the_end) {
    write(at(10) + 100, 2, 1);
    const std::string name = name_of(at(10));
    pool_.clear();
    expect_one_report("was overrun: " + name);
    {
        handle_pool<object> other(10);
        write(other.get(other.construct())->bytes + 100, 2, 1);
    }
    EXPECT_EQ(heard_.count(), 2u);
}

TEST_F(handle_pool_overrun_death, whole_objects_may_be_written_also_after_trims) {
    for (int round = 0; round < 4; ++round) {
        handle_pool<object> pool(10'000);
        std::vector<pool_handle<object>> held;
        for (int count = 0; count < 2000; ++count) {
            held.push_back(pool.construct());
            write(pool.get(held.back())->bytes, count, sizeof(object));
        }
        for (std::size_t index = 0; index < held.size(); ++index) {
            const std::size_t other = (index * 7 + 3) % held.size();
            if (other % 400 != 0) pool.destroy(std::exchange(held[other], {}));
        }
        EXPECT_GT(pool.trim(), 0u);
        handle_pool<object> moved(std::move(pool));
        for (int count = 0; count < 500; ++count) write(moved.get(moved.construct())->bytes, 1, sizeof(object));
        for (const pool_handle<object> each : held) moved.destroy(each);
        EXPECT_TRUE(moved.valid());
    }
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(handle_pool_overrun_death, an_overrun_object_of_c_is_named) {
    tn_handle_pool* const pool = tn_handle_pool_create(24, 8, 10);
    void* place = nullptr;
    const tn_pool_handle handle = tn_handle_pool_allocate(pool, &place);
    write(place, 2, 25);
    EXPECT_EQ(tn_handle_pool_deallocate(pool, handle), TN_OK);
    expect_one_report("a handle_pool block of 24 bytes was overrun: " + name_of(place));
    tn_handle_pool_destroy(pool);
}

TEST_F(handle_pool_overrun_death, the_guard_begins_at_the_size_that_c_asked_for) {
    std::size_t reports = 0;
    for (const std::size_t bytes : {1u, 20u, 24u, 31u, 1000u}) {
        tn_handle_pool* const pool = tn_handle_pool_create(bytes, 0, 10);
        void* first = nullptr;
        void* second = nullptr;
        const tn_pool_handle handles[] = {tn_handle_pool_allocate(pool, &first),
                                          tn_handle_pool_allocate(pool, &second)};
        EXPECT_TRUE(tenure::is_aligned(first, 16) && tenure::is_aligned(second, 16));
        write(first, 1, bytes);
        write(second, 1, bytes);
        EXPECT_EQ(tn_handle_pool_deallocate(pool, handles[1]), TN_OK);
        EXPECT_EQ(heard_.count(), reports) << heard_.last();
        write(first, 2, bytes + 1);
        EXPECT_EQ(tn_handle_pool_deallocate(pool, handles[0]), TN_OK);
        EXPECT_EQ(heard_.count(), ++reports);
        EXPECT_NE(heard_.last().find(". Behind its end, byte " + std::to_string(bytes) + " was overwritten."),
                  std::string::npos)
            << heard_.last();
        tn_handle_pool_destroy(pool);
    }
}

TEST_F(handle_pool_overrun_death, a_pool_of_c_has_its_guard_at_the_size_that_was_asked_for) {
    tn_pool* const pool = tn_pool_create(24, 0, nullptr);
    void* const block = tn_pool_allocate(pool);
    write(block, 2, 25);
    tn_pool_deallocate(pool, block);
    expect_one_report("a pool block was overrun: memory past its end was overwritten: " + name_of(block));
    write(static_cast<char*>(block) + 24, 0xFB, 1); // as it was
    tn_pool_destroy(pool);
}

class stable_vector_overrun_death : public testing::Test {
protected:
    void SetUp() override {
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (support::under_address_sanitizer()) GTEST_SKIP() << "it stops at the write";
        ASSERT_NE(numbers_.append(101), nullptr);
    }
    void overrun(std::size_t bytes) { write(numbers_.end(), 2, bytes); }
    void expect_reports(std::size_t count, const std::string& text) const {
        EXPECT_EQ(heard_.count(tenure::report_kind::misuse), count);
        EXPECT_NE(heard_.last().find(text), std::string::npos) << heard_.last();
    }

    stable_vector<int> numbers_{100'000};
    const support::heard_reports heard_;
};

TEST_F(stable_vector_overrun_death, a_write_behind_the_last_element_is_reported_by_the_next_change) {
    const std::string prefix = "a stable_vector block of 404 bytes was overrun: " + name_of(numbers_.data());
    overrun(4);
    ASSERT_NE(numbers_.emplace_back(5), nullptr);
    expect_reports(1, prefix + ". Behind its end, bytes 404 to 407 were overwritten.");
    EXPECT_EQ(numbers_.back(), 5);
    overrun(1);
    numbers_.pop_back();
    expect_reports(2, "a stable_vector block of 408 bytes was overrun");
    overrun(16);
    ASSERT_NE(numbers_.append(2), nullptr);
    expect_reports(3, prefix);
    overrun(8);
    numbers_.clear();
    expect_reports(4, "a stable_vector block of 412 bytes was overrun");
    overrun(2);
    numbers_ = stable_vector<int>(10);
    expect_reports(5, "a stable_vector block of 0 bytes was overrun");
    ASSERT_NE(numbers_.append(10), nullptr);
    {
        stable_vector<int> last(std::move(numbers_));
        write(last.end(), 2, 1);
    }
    expect_reports(6, "a stable_vector block of 40 bytes was overrun");
}

TEST_F(stable_vector_overrun_death, c_reports_them_too) {
    tn_stable_vector* const vector = tn_stable_vector_create(12, 4, 1000);
    auto* const first = static_cast<char*>(tn_stable_vector_append(vector, 3));
    ASSERT_NE(first, nullptr);
    write(first + 36, 2, 1);
    ASSERT_NE(tn_stable_vector_append(vector, 1), nullptr);
    expect_reports(1, "a stable_vector block of 36 bytes was overrun: " + name_of(first));
    write(first + 48, 2, 4);
    EXPECT_EQ(tn_stable_vector_pop_back(vector), TN_OK);
    expect_reports(2, "a stable_vector block of 48 bytes was overrun");
    write(first, 2, 36);
    tn_stable_vector_clear(vector);
    EXPECT_EQ(heard_.count(), 2u);
    EXPECT_EQ(tn_stable_vector_pop_back(vector), TN_INVALID_ARGUMENT);
    expect_reports(3, "tn_stable_vector_pop_back was called with a vector that is empty");
    write(first, 2, 1);
    tn_stable_vector_destroy(vector);
    expect_reports(4, "a stable_vector block of 0 bytes was overrun");
}

TEST_F(stable_vector_overrun_death, elements_may_be_written_at_every_size) {
    struct throwing {
        explicit throwing(bool throws) {
            std::memset(bytes, 1, sizeof bytes);
            if (throws) throw 1;
        }
        char bytes[36];
    };
    stable_vector<throwing> vector(5000);
    for (int count = 0; count < 5000; ++count) {
        ASSERT_NE(vector.emplace_back(false), nullptr);
        if (vector.size() < vector.max_size()) {
            EXPECT_THROW(static_cast<void>(vector.emplace_back(true)), int);
        }
        write(vector.begin(), count, vector.size() * sizeof(throwing));
    }
    EXPECT_EQ(vector.emplace_back(false), nullptr);
    for (std::size_t size = 4999; size != 0; --size) {
        vector.pop_back();
        if (size % 500 == 0) vector.trim();
    }
    vector.clear();
    ASSERT_NE(vector.emplace_back(false), nullptr);
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST(overrun_under_sanitizer, the_write_itself_is_reported) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    handle_pool<object> pool(10);
    static_cast<void>(pool.construct());
    const auto handle = pool.construct();
    volatile char* const bytes = pool.get(handle)->bytes;
    EXPECT_DEATH(bytes[100] = 1, "use-after-poison");
    EXPECT_DEATH(bytes[-4] = 1, "use-after-poison");
    pool.destroy(handle);
    EXPECT_DEATH(bytes[0] = 1, "use-after-poison") << "a free slot";

    stable_vector<int> numbers(1000);
    ASSERT_NE(numbers.append(3), nullptr);
    volatile int* const first = numbers.data();
    EXPECT_DEATH(first[3] = 1, "use-after-poison");
    EXPECT_DEATH(first[900] = 1, "use-after-poison") << "committed, and not used";
    numbers.pop_back();
    EXPECT_DEATH(first[2] = 1, "use-after-poison");
    ASSERT_NE(numbers.emplace_back(7), nullptr);
    first[2] = 8;
}

}
