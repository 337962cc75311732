// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The promises that glibc's manual makes of its malloc family, and POSIX of errno.

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "preloaded.hpp"

namespace {

const std::size_t sizes[] = {0,      1,      7,      8,      9,        15,       16,        17,         24,   48,
                             100,    129,    1000,   1024,   1025,     2049,     4096,      5000,       8192, 20'000,
                             32'768, 32'769, 65'536, 70'000, 1u << 20, 3u << 20, 33u << 20, 100'000'000};
// Volatile, or compilers warn of what they see.
constexpr std::size_t beyond = static_cast<std::size_t>(PTRDIFF_MAX);
volatile std::size_t no_power = 48, nothing = 0, most = SIZE_MAX;

class entry_points : public testing::Test {
protected:
    void SetUp() override { ASSERT_FALSE(dropin_name().empty()) << "malloc comes from " << file_of("malloc"); }
};

TEST_F(entry_points, all_come_from_the_drop_in) {
    for (const char* name : {"malloc",
                             "free",
                             "calloc",
                             "realloc",
                             "reallocarray",
                             "aligned_alloc",
                             "posix_memalign",
                             "memalign",
                             "valloc",
                             "pvalloc",
                             "malloc_usable_size",
                             "free_sized",
                             "free_aligned_sized",
                             "mallopt",
                             "mallinfo",
                             "mallinfo2",
                             "malloc_trim",
                             "malloc_info",
                             "malloc_stats",
                             "cfree",
                             "_Znwm",
                             "_Znam",
                             "_ZdlPv",
                             "_ZdaPv",
                             "_ZdlPvm"}) {
        EXPECT_EQ(file_of(name), dropin_name()) << name;
    }
}

TEST_F(entry_points, serve_what_the_c_library_allocates_itself) {
    auto* const theirs =
        reinterpret_cast<struct mallinfo2 (*)()>(::dlsym(::dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY), "mallinfo2"));
    char* const copy = ::strdup("a text that is longer than any small string");
    char* made = nullptr;
    ASSERT_GT(::asprintf(&made, "%s %d", copy, 5), 0);
    EXPECT_GE(::malloc_usable_size(copy), std::strlen(copy) + 1);
    EXPECT_GE(::malloc_usable_size(made), std::strlen(made) + 1);
    std::free(copy);
    std::free(made);
    const auto now = theirs();
    EXPECT_EQ(now.uordblks + now.hblkhd, 0u) << "the C library's own heap is in use";
}

TEST_F(entry_points, malloc_returns_distinct_blocks_at_multiples_of_sixteen) {
    for (std::size_t bytes : sizes) {
        void* const first = hidden(std::malloc(bytes));
        void* const second = hidden(std::malloc(bytes));
        ASSERT_NE(first, nullptr) << bytes;
        ASSERT_NE(second, nullptr) << bytes;
        EXPECT_NE(first, second) << bytes;
        EXPECT_TRUE(is_multiple(first, 16) && is_multiple(second, 16)) << bytes;
        std::free(first);
        std::free(second);
    }
}

TEST_F(entry_points, every_usable_byte_may_be_used) {
    for (std::size_t bytes : sizes) {
        void* const block = hidden(std::malloc(bytes));
        const std::size_t usable = ::malloc_usable_size(block);
        EXPECT_GE(usable, bytes);
        std::memset(block, 0xA5, usable);
        EXPECT_TRUE(holds_only(block, 0xA5, usable));
        std::free(block);
    }
    EXPECT_EQ(::malloc_usable_size(nullptr), 0u);
}

TEST_F(entry_points, calloc_is_zero_also_where_blocks_were_used_before) {
    for (int turn = 0; turn < 3; ++turn) {
        for (std::size_t bytes : sizes) {
            void* const block = hidden(std::calloc(bytes, 1));
            ASSERT_NE(block, nullptr) << bytes;
            EXPECT_TRUE(holds_only(block, 0, bytes)) << bytes;
            EXPECT_TRUE(is_multiple(block, 16)) << bytes;
            std::memset(block, 0xFF, bytes);
            std::free(block);
        }
    }
}

TEST_F(entry_points, calloc_leaves_untouched_what_the_system_gave_as_zero) {
    const std::size_t before = resident_bytes();
    void* const block = hidden(std::calloc(1, std::size_t{1} << 30));
    ASSERT_NE(block, nullptr);
    EXPECT_LT(resident_bytes(), before + (std::size_t{16} << 20));
    std::free(block);
}

TEST_F(entry_points, a_refusal_is_null_and_enomem) {
    errno = 0;
    EXPECT_EQ(hidden(std::malloc(hidden(nullptr) == nullptr ? beyond : 0)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden(std::calloc(beyond, 3)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden(std::calloc(beyond, 1)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden(::pvalloc(SIZE_MAX)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden(::valloc(beyond)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden(std::aligned_alloc(64, beyond)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

TEST_F(entry_points, a_refused_realloc_leaves_the_block) {
    void* const block = hidden(std::malloc(100));
    std::memset(block, 7, 100);
    errno = 0;
    EXPECT_EQ(hidden(std::realloc(hidden(block), beyond)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden(::reallocarray(hidden(block), beyond, 4)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_TRUE(holds_only(block, 7, 100));
    std::free(block);
}

TEST_F(entry_points, what_succeeds_leaves_errno) {
    constexpr int mark = 1234;
    for (int turn = 0; turn < 200; ++turn) { // past the thread's cache, into the slow paths and the system
        for (std::size_t bytes : sizes) {
            if (bytes > (std::size_t{1} << 20) && turn != 0) continue;
            errno = mark;
            void* block = hidden(std::malloc(bytes));
            EXPECT_EQ(errno, mark) << "malloc " << bytes;
            block = hidden(std::realloc(block, bytes * 2 + 1));
            EXPECT_EQ(errno, mark) << "realloc " << bytes;
            void* const aligned = hidden(std::aligned_alloc(256, bytes));
            EXPECT_EQ(errno, mark) << "aligned_alloc " << bytes;
            std::free(block);
            EXPECT_EQ(errno, mark) << "free " << bytes;
            std::free(aligned);
            std::free(nullptr);
            ::malloc_trim(0);
            EXPECT_EQ(errno, mark) << "malloc_trim";
        }
    }
}

TEST_F(entry_points, realloc_keeps_contents_up_and_down) {
    const auto is_kept = [](const void* block, std::size_t bytes) {
        const auto* const each = static_cast<const std::uint32_t*>(block);
        for (std::uint32_t i = 0; i < bytes / 4; ++i) {
            if (each[i] != i) return false;
        }
        return true;
    };
    std::size_t bytes = 4;
    auto* block = static_cast<std::uint32_t*>(hidden(std::realloc(nullptr, bytes)));
    block[0] = 0;
    while (bytes < (std::size_t{200} << 20)) {
        const std::size_t larger = (bytes + bytes / 2 + 4) & ~std::size_t{3};
        block = static_cast<std::uint32_t*>(hidden(std::realloc(block, larger)));
        ASSERT_NE(block, nullptr);
        for (std::size_t i = bytes / 4; i < larger / 4; ++i) block[i] = static_cast<std::uint32_t>(i);
        bytes = larger;
        if (bytes < 100'000) {
            EXPECT_TRUE(is_kept(block, bytes)) << bytes;
        }
    }
    EXPECT_TRUE(is_kept(block, bytes));
    while (bytes > 8) {
        bytes = bytes / 3 + 4;
        block = static_cast<std::uint32_t*>(hidden(std::realloc(block, bytes)));
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(is_multiple(block, 16));
        EXPECT_TRUE(is_kept(block, bytes)) << bytes;
        if (bytes <= 8) break;
    }
    EXPECT_EQ(hidden(std::realloc(block, 0)), nullptr); // frees, as glibc's does
}

TEST_F(entry_points, aligned_forms_keep_their_alignment) {
    for (std::size_t alignment = 1; alignment <= (std::size_t{1} << 27); alignment *= 2) {
        for (std::size_t bytes : {std::size_t{1}, std::size_t{24}, std::size_t{5000}, std::size_t{100'000}}) {
            void* const first = hidden(std::aligned_alloc(alignment, bytes));
            void* const second = hidden(::memalign(alignment, bytes));
            ASSERT_TRUE(first != nullptr && second != nullptr) << alignment;
            EXPECT_TRUE(is_multiple(first, alignment) && is_multiple(second, alignment)) << alignment << " " << bytes;
            EXPECT_GE(::malloc_usable_size(first), bytes);
            std::memset(first, 1, bytes);
            std::memset(second, 2, bytes);
            std::free(second);
            std::free(first);
        }
    }
}

TEST_F(entry_points, wrong_alignments_are_einval_or_rounded_as_glibc_does) {
    for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{48}, SIZE_MAX}) {
        errno = 0;
        EXPECT_EQ(hidden(std::aligned_alloc(alignment, 10)), nullptr) << alignment;
        EXPECT_EQ(errno, EINVAL) << alignment;
    }
    void* const rounded = hidden(::memalign(no_power, 10));
    EXPECT_TRUE(rounded != nullptr && is_multiple(rounded, 64));
    std::free(rounded);
    void* const least = hidden(::memalign(nothing, 10));
    EXPECT_TRUE(least != nullptr && is_multiple(least, 16));
    std::free(least);
    errno = 0;
    EXPECT_EQ(hidden(::memalign(most, 10)), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(entry_points, posix_memalign_leaves_result_and_errno_as_glibc_does) {
    auto* const theirs = reinterpret_cast<int (*)(void**, std::size_t, std::size_t)>(
        ::dlsym(::dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY), "posix_memalign"));
    auto* const free_theirs =
        reinterpret_cast<void (*)(void*)>(::dlsym(::dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY), "free"));
    ASSERT_TRUE(theirs != nullptr && free_theirs != nullptr);
    ASSERT_NE(reinterpret_cast<void*>(theirs), reinterpret_cast<void*>(&::posix_memalign));
    int anything = 0;
    for (const std::size_t alignment :
         {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{24},
          std::size_t{48}, std::size_t{64}, std::size_t{4096}, std::size_t{65'536}, beyond + 1, beyond, SIZE_MAX}) {
        for (std::size_t bytes : {std::size_t{0}, std::size_t{3}, beyond, SIZE_MAX - 4096, SIZE_MAX}) {
            void* expected = &anything;
            errno = 77;
            const int expected_result = theirs(&expected, alignment, bytes);
            const int expected_errno = errno;
            void* block = &anything;
            errno = 77;
            const int result = ::posix_memalign(&block, alignment, bytes);
            EXPECT_EQ(errno, expected_errno) << alignment << ", " << bytes;
            EXPECT_EQ(result, expected_result) << alignment << ", " << bytes;
            EXPECT_EQ(block == &anything, expected == &anything) << alignment << ", " << bytes;
            if (expected != &anything) free_theirs(expected);
            if (block == &anything) continue;
            EXPECT_TRUE(block != nullptr && is_multiple(block, alignment)) << alignment << ", " << bytes;
            std::free(block);
        }
    }
}

TEST_F(entry_points, valloc_and_pvalloc_give_pages) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const first = hidden(::valloc(10));
    void* const second = hidden(::pvalloc(page + 1));
    EXPECT_TRUE(is_multiple(first, page) && is_multiple(second, page));
    EXPECT_GE(::malloc_usable_size(second), 2 * page);
    std::free(second);
    std::free(first);
}

TEST_F(entry_points, the_sizes_that_frees_are_told_are_not_believed) {
    auto* const sized = reinterpret_cast<void (*)(void*, std::size_t)>(::dlsym(RTLD_DEFAULT, "free_sized"));
    auto* const aligned =
        reinterpret_cast<void (*)(void*, std::size_t, std::size_t)>(::dlsym(RTLD_DEFAULT, "free_aligned_sized"));
    ASSERT_TRUE(sized != nullptr && aligned != nullptr);
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) {
        sized(hidden(std::malloc(500)), 8);
        aligned(hidden(std::aligned_alloc(64, 64)), 16, 5000);
    }
    std::set<void*> distinct;
    for (int i = 0; i < 1000; ++i) distinct.insert(hidden(std::malloc(8)));
    EXPECT_EQ(distinct.size(), 1000u);
    for (void* block : distinct) {
        EXPECT_LT(::malloc_usable_size(block), 500u); // a block of 500 was not put among those of 8
        std::free(block);
    }
}

TEST_F(entry_points, mallinfo_counts_what_is_in_use) {
    const auto before = ::mallinfo2();
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(hidden(std::malloc(1000)));
    void* const huge = hidden(std::malloc(std::size_t{64} << 20));
    const auto during = ::mallinfo2();
    EXPECT_GE(during.uordblks, before.uordblks + 1'000'000);
    EXPECT_GE(during.hblkhd, before.hblkhd + (std::size_t{64} << 20));
    EXPECT_EQ(during.hblks, before.hblks + 1);
    EXPECT_GE(during.arena, during.uordblks);
    EXPECT_GE(static_cast<std::size_t>(::mallinfo().uordblks), before.uordblks + 1'000'000);
    for (void* block : blocks) std::free(block);
    std::free(huge);
    const auto after = ::mallinfo2();
    EXPECT_LT(after.uordblks, during.uordblks);
    EXPECT_EQ(after.hblks, before.hblks);
}

TEST_F(entry_points, malloc_trim_gives_memory_back_to_the_system) {
    std::vector<void*> blocks;
    for (int i = 0; i < 64; ++i) {
        void* const block = hidden(std::malloc(std::size_t{1} << 20));
        std::memset(block, 1, std::size_t{1} << 20);
        blocks.push_back(block);
    }
    for (void* block : blocks) std::free(block);
    const std::size_t before = resident_bytes();
    EXPECT_EQ(::malloc_trim(0), 1);
    EXPECT_LT(resident_bytes(), before - (std::size_t{32} << 20));
}

TEST_F(entry_points, malloc_info_writes_xml_and_wants_no_options) {
    char* text = nullptr;
    std::size_t length = 0;
    FILE* const file = ::open_memstream(&text, &length);
    EXPECT_EQ(::malloc_info(1, file), EINVAL);
    EXPECT_EQ(::malloc_info(0, file), 0);
    std::fclose(file);
    const std::string written{text, length};
    std::free(text);
    EXPECT_TRUE(written.starts_with("<malloc version=\"1\""));
    EXPECT_TRUE(written.ends_with("</malloc>\n"));
    EXPECT_NE(written.find("<system type=\"current\" size="), std::string::npos) << written;
}

TEST_F(entry_points, mallopt_answers_as_glibc_for_all_but_a_fill) {
    auto* const theirs =
        reinterpret_cast<int (*)(int, int)>(::dlsym(::dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY), "mallopt"));
    ASSERT_NE(reinterpret_cast<void*>(theirs), reinterpret_cast<void*>(&::mallopt));
    for (const int parameter : {M_MXFAST, M_NLBLKS, M_GRAIN, M_KEEP, M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD,
                                M_MMAP_MAX, M_CHECK_ACTION, M_ARENA_TEST, M_ARENA_MAX, 0, 5, -100, 12'345}) {
        for (const int value : {INT_MIN, -1, 0, 1, 2, 64, 160, 161, 1 << 20, 1 << 25, 1 << 26, INT_MAX})
            EXPECT_EQ(::mallopt(parameter, value), theirs(parameter, value)) << parameter << ", " << value;
    }
    EXPECT_EQ(::mallopt(M_PERTURB, 0xAA), 0); // glibc accepts it, and fills
}

TEST_F(entry_points, malloc_stats_writes_the_lines_of_glibc_to_the_stream) {
    void* const huge = hidden(std::malloc(std::size_t{64} << 20));
    const auto captured = [](void (*stats)()) {
        char* text = nullptr;
        std::size_t length = 0;
        FILE* const before = std::exchange(stderr, ::open_memstream(&text, &length));
        stats();
        std::fclose(std::exchange(stderr, before));
        std::string lines{text, length};
        std::free(text);
        return lines;
    };
    const auto without_digits = [](std::string text) {
        std::erase_if(text, [](char each) { return (each >= '0' && each <= '9') || each == ' '; });
        // The C library has further arenas if threads have called it by its own names.
        constexpr std::string_view arena = "Arena:\nsystembytes=\ninusebytes=\n";
        while (text.starts_with(arena) && text.substr(arena.size()).starts_with(arena)) text.erase(0, arena.size());
        return text;
    };
    auto* const theirs =
        reinterpret_cast<void (*)()>(::dlsym(::dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY), "malloc_stats"));
    const std::string ours = captured([] { ::malloc_stats(); });
    EXPECT_EQ(without_digits(ours), without_digits(captured(theirs))) << ours;
    std::size_t regions = 0, bytes = 0;
    const std::size_t at = ours.find("max mmap regions");
    ASSERT_EQ(std::sscanf(ours.c_str() + at, "max mmap regions = %zu max mmap bytes = %zu", &regions, &bytes), 2)
        << ours;
    EXPECT_GE(regions, 1u);
    EXPECT_GE(bytes, std::size_t{64} << 20);
    std::free(huge);
}

TEST_F(entry_points, a_double_free_is_reported_by_the_hardened_form) {
    if (!is_hardened()) GTEST_SKIP() << "this form checks nothing";
    void* const block = hidden(std::malloc(100));
    EXPECT_DEATH(
        {
            std::free(block);
            std::free(hidden(block));
        },
        "tenure: ");
    std::free(block);
}

}
