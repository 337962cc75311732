// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/tenure_text.h>

#include <cstdarg>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>
#include <tenure/tenure.h>

#include "support/reports.hpp"

namespace {

TENURE_FORMAT(3, 4) int print_by_list(char* to, std::size_t size, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int needed = tn_vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return needed;
}

TEST(capi_text, snprintf_writes_counts_and_cuts) {
    char room[16];
    EXPECT_EQ(tn_snprintf(room, sizeof room, "%s%.2f", "y", 12.345), 6);
    EXPECT_STREQ(room, "y12.35"); // the nearest double is above the half
    EXPECT_EQ(print_by_list(room, 4, "%d-%Lg", 12, 3.5L), 6);
    EXPECT_STREQ(room, "12-");
    EXPECT_EQ(tn_snprintf(nullptr, 0, "%5d", 1), 5);
}

/// The text in a writer's own fields.
std::string_view text_of(const tn_text_writer& writer) {
    return {writer.first, static_cast<std::size_t>(writer.cursor - writer.first)};
}

TEST(capi_text, a_writer_appends_and_its_fields_tell_where) {
    char memory[64];
    tn_text_writer to;
    tn_text_writer_start(&to, memory, sizeof memory);
    EXPECT_EQ(to.first, memory);
    EXPECT_EQ(to.cursor, memory);
    EXPECT_EQ(to.end, memory + sizeof memory);
    EXPECT_EQ(to.missed_bytes, 0u);
    tn_text_writer_append(&to, "a=", 2);
    tn_text_writer_append_int(&to, -12);
    *to.cursor++ = ','; // as callers may
    tn_text_writer_append_uint(&to, UINT64_MAX);
    tn_text_writer_append_fixed(&to, 2.125, 2);
    tn_text_writer_printf(&to, "|%-4s|", "ab");
    std::memcpy(to.cursor, "xy", 2);
    tn_text_writer_advance(&to, 2);
    EXPECT_EQ(text_of(to), "a=-12,184467440737095516152.12|ab  |xy");
    EXPECT_EQ(tn_text_writer_needed_bytes(&to), text_of(to).size());
}

TEST(capi_text, what_does_not_fit_is_counted) {
    char memory[8];
    tn_text_writer to;
    tn_text_writer_start(&to, memory, sizeof memory);
    tn_text_writer_append(&to, "12345", 5);
    tn_text_writer_printf(&to, "%d", 12345);
    tn_text_writer_append(&to, "x", 1);
    EXPECT_EQ(text_of(to), "12345");
    EXPECT_EQ(to.missed_bytes, 6u);
    EXPECT_EQ(to.end, to.cursor);
    EXPECT_EQ(tn_text_writer_needed_bytes(&to), 11u);
}

/// Records of a page and an object, on a thread for each page.
struct records {
    std::size_t longest = SIZE_MAX; // an object that writes too much

    static void write(void* context, tn_text_writer* to, std::size_t page, std::size_t object) {
        tn_text_writer_printf(to, "%zu.%zu;", page, object);
        if (object == static_cast<records*>(context)->longest) tn_text_writer_append(to, "too long", 8);
    }
    static void run(void*, std::size_t count, void (*body)(void*, std::size_t), void* body_context) {
        std::vector<std::thread> threads;
        for (std::size_t page = 0; page < count; ++page) threads.emplace_back(body, body_context, page);
        for (std::thread& each : threads) each.join();
    }
    static std::size_t objects_of(void*, std::size_t page) { return page; }

    [[nodiscard]] tn_page_work work() {
        tn_page_work made{};
        made.size = sizeof made;
        made.context = this;
        made.write_object = write;
        return made;
    }
};

class capi_paged_writer : public testing::Test {
protected:
    ~capi_paged_writer() override { tn_paged_writer_destroy(writer_); }
    [[nodiscard]] std::string joined() {
        tn_text text{};
        tn_paged_writer_join(writer_, &text);
        return {text.length == 0 ? "" : text.data, static_cast<std::size_t>(text.length)};
    }

    tn_paged_writer* writer_ = tn_paged_writer_create(nullptr);
    records records_;
};

TEST_F(capi_paged_writer, writes_records_serially_and_by_threads) {
    ASSERT_NE(writer_, nullptr);
    ASSERT_EQ(tn_paged_writer_reserve(writer_, 3, 2, 8), TN_OK);
    tn_page_work work = records_.work();
    for (const bool is_parallel : {false, true}) {
        work.run = is_parallel ? records::run : nullptr;
        ASSERT_EQ(tn_paged_writer_write(writer_, 5, &work), TN_OK);
        const tn_text_piece* pieces = nullptr;
        ASSERT_EQ(tn_paged_writer_pieces(writer_, &pieces), 3u);
        EXPECT_EQ(std::string_view(pieces[1].data, pieces[1].size_bytes), "1.0;1.1;");
        EXPECT_EQ(tn_paged_writer_size(writer_), 20u);
        EXPECT_EQ(joined(), "0.0;0.1;1.0;1.1;2.0;");
    }
    work.objects_of = records::objects_of;
    ASSERT_EQ(tn_paged_writer_write_pages(writer_, 3, &work), TN_OK);
    EXPECT_EQ(joined(), "1.0;2.0;2.1;");
    EXPECT_GT(tn_paged_writer_trim(writer_), 0u);
    EXPECT_EQ(tn_paged_writer_trim(writer_), 0u);
}

TEST_F(capi_paged_writer, names_the_record_that_is_too_long) {
    ASSERT_EQ(tn_paged_writer_reserve(writer_, 3, 2, 8), TN_OK);
    records_.longest = 1;
    const tn_page_work work = records_.work();
    EXPECT_EQ(tn_paged_writer_write(writer_, 5, &work), TN_INVALID_ARGUMENT);
    tn_page_error error{};
    error.size = sizeof error;
    tn_paged_writer_get_error(writer_, &error);
    EXPECT_EQ(error.page, 0u);
    EXPECT_EQ(error.object, 1u);
    EXPECT_EQ(error.needed_bytes, 12u);
    EXPECT_EQ(error.bound_bytes, 8u);
    EXPECT_EQ(joined(), "");
}

TEST_F(capi_paged_writer, refuses_work_that_is_not_whole) {
    const support::heard_reports heard;
    EXPECT_EQ(tn_paged_writer_reserve(writer_, SIZE_MAX, SIZE_MAX, 2), TN_OUT_OF_MEMORY);
    ASSERT_EQ(tn_paged_writer_reserve(writer_, 3, 2, 8), TN_OK);
    tn_page_work work = records_.work();
    EXPECT_EQ(tn_paged_writer_write_pages(writer_, 1, &work), TN_INVALID_ARGUMENT); // without objects_of
    work.write_object = nullptr;
    EXPECT_EQ(tn_paged_writer_write(writer_, 1, &work), TN_INVALID_ARGUMENT);
    EXPECT_EQ(tn_paged_writer_write(writer_, 1, nullptr), TN_INVALID_ARGUMENT);
    EXPECT_EQ(heard.count(), 0u);
    work = records_.work();
    work.size = 0;
    EXPECT_EQ(tn_paged_writer_write(writer_, 1, &work), TN_INVALID_ARGUMENT);
    work.size = sizeof work;
    EXPECT_EQ(tn_paged_writer_write(writer_, 7, &work), TN_INVALID_ARGUMENT); // more than reserved
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 2u : 0u);
}

}
