// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Buffers longer than 32 bits count, and buffers that overlap.

#include <tenure/buffer/vector_maths.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include "buffer/vector_fixture.hpp"
#include "support/reports.hpp"

namespace {

using namespace support;
namespace vectors = tenure::vectors;

/// 4 GiB and a little more of addresses, behind which is one piece of a file again and again, and another at the end.
class long_buffer {
public:
    static constexpr std::size_t piece = std::size_t{16} << 20, pieces = 257;
    static constexpr std::size_t bytes = piece * pieces;

    long_buffer() {
        const int file = memfd_create("long_buffer", 0);
        if (file < 0) return;
        void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        bool good = range != MAP_FAILED && ftruncate(file, 2 * piece) == 0;
        for (std::size_t i = 0; good && i < pieces; ++i) {
            const off_t where = i + 1 == pieces ? piece : 0;
            good = mmap(static_cast<char*>(range) + i * piece, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                        file, where) != MAP_FAILED;
        }
        close(file);
        if (good) data = static_cast<std::uint8_t*>(range);
    }
    ~long_buffer() {
        if (data != nullptr) munmap(data, bytes);
    }
    long_buffer(const long_buffer&) = delete;
    long_buffer& operator=(const long_buffer&) = delete;

    std::uint8_t* data = nullptr;
};

TEST(vector_limits, bytes_past_32_bits_are_counted_found_and_written) {
    const long_buffer buffer;
    if (buffer.data == nullptr) GTEST_SKIP() << "no addresses or no file in memory";
    const std::size_t count = long_buffer::bytes - 3;
    ASSERT_GT(count, std::size_t{UINT32_MAX});
    vectors::fill(buffer.data, count, 1);
    EXPECT_EQ(buffer.data[count - 1], 1);
    EXPECT_EQ(buffer.data[count], 0);
    EXPECT_EQ(vectors::sum(buffer.data, count), count);
    vectors::add(buffer.data + count - 5, 5, buffer.data + count - 5, 6);
    EXPECT_EQ(vectors::find_match(buffer.data, count, vectors::comparison::equal, 7), count - 5);
    EXPECT_EQ(vectors::count_matches(buffer.data, count, vectors::comparison::less, 7), count - 5);
}

TEST(vector_limits, overlapping_buffers_are_reported_in_checked_builds) {
    const heard_reports heard;
    std::vector<std::uint32_t> values(100, 1);
    std::vector<std::uint16_t> halves(200, 1);
    vectors::add(values.data(), 50, values.data(), values.data() + 50);
    vectors::add(values.data(), 50, values.data() + 50, 3);
    vectors::multiply(values.data() + 50, 50, values.data() + 50, values.data() + 50);
    EXPECT_EQ(heard.count(), 0u);
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "a build without checks";
    vectors::add(values.data() + 1, 50, values.data(), 3);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    vectors::add(values.data(), 50, values.data() + 50, values.data() + 49);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    vectors::convert(halves.data(), 50, reinterpret_cast<std::uint32_t*>(halves.data()));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 3u);
    EXPECT_FALSE(vectors::divide(values.data() + 1, 50, values.data(), 3));
    EXPECT_EQ(values[1], 4u) << "what was reported must change nothing";
    EXPECT_EQ(halves, std::vector<std::uint16_t>(200, 1));
}

}
