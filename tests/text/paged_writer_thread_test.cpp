// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/text/paged_writer.hpp>

#include "support/random.hpp"

namespace {

using tenure::paged_writer, tenure::text_writer;

/// Threads that take the next page each.
struct threads {
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        std::atomic<std::size_t> next{0};
        std::vector<std::thread> crew(number);
        for (std::thread& each : crew)
            each = std::thread([&] {
                for (std::size_t page = 0; (page = next.fetch_add(1)) < count;) body(page);
            });
        for (std::thread& each : crew) each.join();
    }
    std::size_t number;
};

struct record {
    bool flag;
    float real;
    std::int32_t number;
    std::uint64_t large;
    std::string name;
};

class paged_writer_threads : public testing::Test {
protected:
    paged_writer_threads() {
        support::random random(1);
        for (std::size_t each = 0; each < 20'000; ++each)
            records_.push_back({random.one_in(2), static_cast<float>(random.between(0, 200'000)) * 0.01f - 1000,
                                static_cast<std::int32_t>(random.next()) >> random.below(32),
                                random.next() >> random.below(64), std::string(random.below(20), 'n')});
    }

    static void write(text_writer& to, const record& each) {
        to.append(each.flag ? 'y' : 'n').append_fixed<2>(each.real).append(',').append(each.number).append(',');
        to.append(each.large).append(',').append(each.name).append('\n');
    }
    [[nodiscard]] std::string printed() const {
        std::string all;
        for (const record& each : records_) {
            char text[200];
            std::snprintf(text, sizeof text, "%s%.2f,%d,%llu,%s\n", each.flag ? "y" : "n",
                          static_cast<double>(each.real), each.number, static_cast<unsigned long long>(each.large),
                          each.name.c_str());
            all += text;
        }
        return all;
    }

    std::vector<record> records_;
    paged_writer writer_;
};

TEST_F(paged_writer_threads, write_what_one_thread_writes) {
    const std::string right = printed();
    // Small pages have neighbours in every line, and the last numbers of one lie beside the first of the next.
    for (const std::size_t objects : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
        ASSERT_TRUE(writer_.reserve({records_.size() / objects + 1, objects, 100}));
        for (int round = 0; round < 3; ++round) {
            ASSERT_TRUE(
                writer_.write(records_.size(), threads{4}, [&](text_writer& to, std::size_t page, std::size_t object) {
                    write(to, records_[page * objects + object]);
                }));
            EXPECT_TRUE(writer_.valid());
            EXPECT_EQ(writer_.join(), right);
        }
    }
}

TEST_F(paged_writer_threads, fill_pages_to_their_last_byte_side_by_side) {
    ASSERT_TRUE(writer_.reserve({1000, 7, 4}));
    for (int round = 0; round < 10; ++round) {
        ASSERT_TRUE(writer_.write(7000, threads{4}, [](text_writer& to, std::size_t page, std::size_t object) {
            to.append_fixed<2>(static_cast<float>((page + object) % 10));
        }));
        const std::string_view text = writer_.join();
        ASSERT_EQ(text.size(), 28'000u);
        for (std::size_t each = 0; each < 7000; ++each) {
            const std::string record = std::to_string((each / 7 + each % 7) % 10) + ".00";
            ASSERT_EQ(text.substr(4 * each, 4), record) << each;
        }
    }
}

TEST_F(paged_writer_threads, name_the_same_record_every_time) {
    ASSERT_TRUE(writer_.reserve({100, 100, 10}));
    for (int round = 0; round < 20; ++round) {
        EXPECT_FALSE(writer_.write(10'000, threads{4}, [](text_writer& to, std::size_t page, std::size_t object) {
            to.append('x');
            if (page % 9 == 8 && object > 90) to.append("0123456789");
        }));
        EXPECT_EQ(writer_.error().page, 8u);
        EXPECT_EQ(writer_.error().object, 91u);
        EXPECT_EQ(writer_.error().needed_bytes, 11u);
    }
}

}
