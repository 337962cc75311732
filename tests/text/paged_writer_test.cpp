// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/paged_writer.hpp>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <sys/uio.h>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/static_buffer_source.hpp>

#include "text/counted_malloc.hpp"

namespace {

using tenure::paged_writer, tenure::text_writer, tenure::run_serially;

static_assert(sizeof(tenure::text_piece) == sizeof(struct iovec));
static_assert(offsetof(tenure::text_piece, data) == offsetof(struct iovec, iov_base));
static_assert(offsetof(tenure::text_piece, size_bytes) == offsetof(struct iovec, iov_len));

/// The pages from the last to the first.
struct backwards {
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        while (count != 0) body(--count);
    }
};

std::string joined(std::span<const tenure::text_piece> pieces) {
    std::string text;
    for (const auto& each : pieces) text.append(each.data, each.size_bytes);
    return text;
}

class paged_writers : public testing::Test {
protected:
    ~paged_writers() override { EXPECT_EQ(source_.live_blocks(), 0u); }

    static void write_number(text_writer& to, std::size_t page, std::size_t object) {
        to.append(page).append(':').append(object).append(' ');
    }
    static std::string numbers(std::size_t objects, std::size_t per_page) {
        std::string text;
        for (std::size_t each = 0; each < objects; ++each)
            text += std::to_string(each / per_page) + ":" + std::to_string(each % per_page) + " ";
        return text;
    }

    tenure::counting_source source_{tenure::page_source::process()};
};

TEST_F(paged_writers, take_nothing_before_reserve_and_one_block_then) {
    paged_writer writer(source_);
    EXPECT_EQ(source_.requests(), 0u);
    EXPECT_TRUE(writer.valid());
    EXPECT_EQ(writer.join(), "");
    EXPECT_TRUE(writer.write(0, run_serially{}, write_number));
    ASSERT_TRUE(writer.reserve({.pages = 10, .objects_per_page = 100, .bytes_per_object = 20}));
    EXPECT_EQ(source_.live_blocks(), 1u);
    EXPECT_EQ(writer.reserved_bytes(), source_.live_bytes());
    EXPECT_GE(writer.reserved_bytes(), 20'000u);
    EXPECT_LT(writer.reserved_bytes(), 21'000u);
    EXPECT_TRUE(writer.valid());
}

TEST_F(paged_writers, write_all_objects_in_their_order_whatever_the_order_of_pages) {
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({10, 100, 20}));
    for (const std::size_t objects : {std::size_t{0}, std::size_t{1}, std::size_t{99}, std::size_t{100},
                                      std::size_t{101}, std::size_t{1000}, std::size_t{500}}) {
        ASSERT_TRUE(writer.write(objects, backwards{}, write_number));
        EXPECT_TRUE(writer.valid());
        EXPECT_EQ(writer.pieces().size(), (objects + 99) / 100);
        EXPECT_EQ(joined(writer.pieces()), numbers(objects, 100));
        EXPECT_EQ(writer.size_bytes(), numbers(objects, 100).size());
        EXPECT_EQ(writer.join(), numbers(objects, 100));
        EXPECT_EQ(writer.join(), numbers(objects, 100)) << "again";
        EXPECT_EQ(writer.pieces().size(), objects == 0 ? 0u : 1u);
        EXPECT_TRUE(writer.valid());
    }
    EXPECT_EQ(source_.requests(), 1u) << "all rounds are written to the same memory";
}

TEST_F(paged_writers, write_pages_of_different_sizes) {
    const std::vector<std::vector<int>> pages{{1, 2, 3}, {}, {4}, {}, {5, 6}};
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({5, 3, 8}));
    const auto size_of = [&](std::size_t page) { return pages[page].size(); };
    const auto write = [&](text_writer& to, std::size_t page, std::size_t object) { to.append(pages[page][object]); };
    ASSERT_TRUE(writer.write_pages(pages.size(), size_of, backwards{}, write));
    EXPECT_EQ(writer.pieces().size(), 5u);
    EXPECT_EQ(writer.pieces()[1].size_bytes, 0u);
    EXPECT_EQ(writer.join(), "123456");
}

TEST_F(paged_writers, join_records_of_a_fixed_width_without_moving_them) {
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({4, 10, 4}));
    ASSERT_TRUE(writer.write(40, run_serially{},
                             [](text_writer& to, std::size_t page, std::size_t) { to.append("abc").append(page); }));
    const char* const first = writer.pieces()[0].data;
    for (const auto& each : writer.pieces()) EXPECT_EQ(each.size_bytes, 40u);
    EXPECT_EQ(writer.pieces()[3].data, first + 120);
    const std::string before = joined(writer.pieces());
    EXPECT_EQ(writer.join(), before);
    EXPECT_EQ(writer.join().data(), first);
}

TEST_F(paged_writers, name_the_first_record_that_is_too_long_whatever_the_order_of_pages) {
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({10, 100, 5}));
    const auto write = [](text_writer& to, std::size_t page, std::size_t object) {
        to.append(object % 10);
        if ((page == 7 || page == 3) && object >= 42) to.append("123").append(page).append(object);
    };
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_FALSE(turn == 0 ? writer.write(1000, run_serially{}, write) : writer.write(1000, backwards{}, write));
        const tenure::page_error& error = writer.error();
        ASSERT_TRUE(error);
        EXPECT_EQ(error.page, 3u);
        EXPECT_EQ(error.object, 42u);
        EXPECT_EQ(error.needed_bytes, 7u);
        EXPECT_EQ(error.bound_bytes, 5u);
        EXPECT_TRUE(writer.pieces().empty());
        EXPECT_EQ(writer.join(), "");
        char room[100];
        EXPECT_EQ(std::string_view(room, error.describe(room)),
                  "object 42 of page 3 needs 7 bytes, more than the bound of 5 bytes");
    }
    const auto write_five = [](text_writer& to, std::size_t, std::size_t) { to.append("12345"); };
    ASSERT_TRUE(writer.write(1000, run_serially{}, write_five));
    EXPECT_FALSE(writer.error());
    EXPECT_EQ(writer.join().size(), 5000u);
    EXPECT_FALSE(writer.write(1000, run_serially{}, write)) << "also after a round in which that page was whole";
    EXPECT_EQ(writer.error().page, 3u);
    EXPECT_TRUE(writer.pieces().empty());
}

TEST_F(paged_writers, join_pages_over_their_own_text) {
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({10, 10, 10}));
    const auto write = [](text_writer& to, std::size_t page, std::size_t object) {
        to.append("1234567").append(page).append(object % 10); // one byte of each record is not used
    };
    ASSERT_TRUE(writer.write(100, run_serially{}, write));
    const std::string before = joined(writer.pieces());
    EXPECT_EQ(writer.join(), before);
}

TEST_F(paged_writers, do_not_write_past_a_page_however_long_a_record_is) {
    alignas(64) static char memory[4096];
    tenure::static_buffer_source fixed(memory, sizeof memory);
    paged_writer writer(fixed);
    ASSERT_TRUE(writer.reserve({3, 4, 10}));
    // Every page by itself: what the others have written must stay.
    const std::string huge(5000, 'x');
    std::vector<std::string> seen;
    const auto write = [&](text_writer& to, std::size_t page, std::size_t object) {
        if (page == 1 && object == 2) {
            to.append("long").append(huge);
        } else {
            to.append("0123456789");
        }
    };
    EXPECT_FALSE(writer.write(12, backwards{}, write));
    EXPECT_EQ(writer.error().page, 1u);
    EXPECT_EQ(writer.error().object, 2u);
    EXPECT_EQ(writer.error().needed_bytes, 5004u);
    for (const char* page : {memory, memory + 80})
        EXPECT_EQ(std::string_view(page, 40), "0123456789012345678901234567890123456789");
}

TEST_F(paged_writers, keep_the_bytes_behind_a_page_when_its_last_numbers_are_short) {
    // A number is stored with more bytes than it has: at the end of a page that must not touch the next one.
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({64, 16, 5}));
    ASSERT_TRUE(writer.write(1024, backwards{}, [](text_writer& to, std::size_t page, std::size_t object) {
        to.append_fixed<2>(static_cast<float>((page + object) % 9)).append(page % 10);
    }));
    std::string right;
    for (std::size_t each = 0; each < 1024; ++each) {
        char record[16];
        std::snprintf(record, sizeof record, "%.2f%zu", static_cast<double>((each / 16 + each % 16) % 9),
                      each / 16 % 10);
        right += record;
    }
    EXPECT_EQ(writer.join(), right);
}

TEST_F(paged_writers, keep_their_memory_for_smaller_rounds_and_take_more_for_larger_ones) {
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({10, 100, 20}));
    ASSERT_TRUE(writer.write(1000, run_serially{}, write_number));
    ASSERT_TRUE(writer.reserve({5, 10, 50}));
    EXPECT_EQ(source_.requests(), 1u);
    EXPECT_EQ(writer.join(), "");
    ASSERT_TRUE(writer.write(50, run_serially{}, write_number));
    EXPECT_EQ(writer.join(), numbers(50, 10));
    ASSERT_TRUE(writer.reserve({1000, 100, 20}));
    EXPECT_EQ(source_.live_blocks(), 1u);
    EXPECT_EQ(writer.reserved_bytes(), source_.live_bytes());
    ASSERT_TRUE(writer.write(100'000, run_serially{}, write_number));
    EXPECT_EQ(writer.join(), numbers(100'000, 100));
    const std::size_t reserved = writer.reserved_bytes();
    EXPECT_EQ(writer.trim(), reserved);
    EXPECT_EQ(source_.live_blocks(), 0u);
    EXPECT_EQ(writer.trim(), 0u);
    EXPECT_TRUE(writer.valid());
    ASSERT_TRUE(writer.reserve({1, 1, 8}));
    ASSERT_TRUE(writer.write(1, run_serially{}, write_number));
    EXPECT_EQ(writer.join(), "0:0 ");
}

TEST_F(paged_writers, a_refusal_of_the_source_changes_nothing) {
    tenure::failing_source failing(source_, 0);
    paged_writer writer(failing);
    EXPECT_FALSE(writer.reserve({10, 10, 10}));
    EXPECT_TRUE(writer.valid());
    EXPECT_EQ(writer.reserved_bytes(), 0u);
    failing.allow(1);
    ASSERT_TRUE(writer.reserve({10, 10, 10}));
    ASSERT_TRUE(writer.write(100, run_serially{}, write_number));
    EXPECT_FALSE(writer.reserve({1000, 1000, 10}));
    EXPECT_EQ(writer.shape().pages, 10u);
    EXPECT_EQ(writer.join(), numbers(100, 10));
}

TEST_F(paged_writers, sizes_that_no_memory_has_are_refused) {
    paged_writer writer(source_);
    EXPECT_FALSE(writer.reserve({SIZE_MAX, 2, 2}));
    EXPECT_FALSE(writer.reserve({2, SIZE_MAX, 2}));
    EXPECT_FALSE(writer.reserve({SIZE_MAX / 16, 1, 0}));
    EXPECT_FALSE(writer.reserve({std::size_t{1} << 32, std::size_t{1} << 31, 1}));
    EXPECT_FALSE(writer.reserve({1, SIZE_MAX / 2 - 8, 1}));
    EXPECT_FALSE(writer.reserve({1, SIZE_MAX - 8, 1})) << "rounded up to lines it would be nothing";
    EXPECT_EQ(source_.requests(), 0u);
}

TEST_F(paged_writers, shapes_without_room_write_nothing) {
    paged_writer writer(source_);
    for (const tenure::page_shape shape : {tenure::page_shape{0, 0, 0}, {0, 10, 10}, {10, 0, 10}, {10, 10, 0}}) {
        ASSERT_TRUE(writer.reserve(shape));
        EXPECT_TRUE(writer.write(0, run_serially{}, write_number));
        EXPECT_EQ(writer.join(), "");
        EXPECT_TRUE(writer.valid());
    }
    EXPECT_FALSE(writer.write(100, run_serially{}, write_number));
    EXPECT_TRUE(writer.error()) << "a record has no bytes there";
    EXPECT_TRUE(writer.write(100, run_serially{}, [](text_writer&, std::size_t, std::size_t) {}));
    EXPECT_EQ(writer.join(), "");
}

TEST_F(paged_writers, a_round_allocates_nothing) {
    if (!text_tests::malloc_calls()) GTEST_SKIP() << "the sanitizer's malloc cannot be counted";
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({100, 100, 60}));
    const auto before = text_tests::malloc_calls();
    const bool is_written =
        writer.write(10'000, run_serially{}, [](text_writer& to, std::size_t page, std::size_t object) {
            to.append_fixed<2>(static_cast<float>(page) * 0.01f).append(',').append(object).append_fixed(1e38f, 2);
        });
    const std::size_t size = writer.join().size();
    EXPECT_EQ(text_tests::malloc_calls(), before);
    EXPECT_TRUE(is_written);
    EXPECT_GT(size, 400'000u);
    EXPECT_EQ(source_.requests(), 1u);
}

TEST_F(paged_writers, an_exception_of_a_record_passes_through_and_leaves_no_text) {
    paged_writer writer(source_);
    ASSERT_TRUE(writer.reserve({10, 10, 10}));
    ASSERT_TRUE(writer.write(100, run_serially{}, write_number));
    const auto write = [](text_writer& to, std::size_t page, std::size_t) {
        to.append('x');
        if (page == 5) throw 5;
    };
    EXPECT_THROW(static_cast<void>(writer.write(100, run_serially{}, write)), int);
    EXPECT_EQ(writer.join(), "");
    EXPECT_TRUE(writer.valid());
    ASSERT_TRUE(writer.write(100, run_serially{}, write_number));
    EXPECT_EQ(writer.join(), numbers(100, 10));
}

}
