// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// When there is no memory left at all, not for a refusal's own needs either. Each test is a process of its own: what is
// done for the first time needs the most.

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "preloaded.hpp"

namespace {

constexpr std::size_t spare_bytes = std::size_t{96} << 20; // some segments of the heap's
constexpr std::align_val_t wide{64};

/// From now on the system gives no more than `spare_bytes`.
void close_address_space() {
    std::size_t pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) std::_Exit(3);
    std::fclose(file);
    const rlim_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + spare_bytes;
    const rlimit limit{bytes, bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(4);
}

/// Every block that there is, of every size. They are chained through themselves: a list would need memory.
class everything {
public:
    everything() {
        close_address_space();
        for (std::size_t bytes = 200'000; bytes >= sizeof(void*); bytes = bytes * 15 / 16) {
            while (void* const block = hidden(std::malloc(bytes))) {
                std::memcpy(block, &last_, sizeof last_);
                last_ = block;
            }
        }
    }
    ~everything() {
        while (last_ != nullptr) {
            void* const block = last_;
            std::memcpy(&last_, block, sizeof last_);
            std::free(block);
        }
    }
    everything(const everything&) = delete;
    everything& operator=(const everything&) = delete;

private:
    void* last_ = nullptr;
};

struct form {
    void* (*take)(std::size_t);
    void (*give_back)(void*);
    void* operator()(std::size_t bytes) const { return take(bytes); }
};

void delete_one(void* block) { ::operator delete(block); }
void delete_many(void* block) { ::operator delete[](block); }

const form loud_forms[] = {
    {[](std::size_t bytes) { return hidden(::operator new(bytes)); }, &delete_one},
    {[](std::size_t bytes) { return hidden(::operator new[](bytes)); }, &delete_many},
    {[](std::size_t bytes) { return hidden(::operator new(bytes, wide)); }, &delete_one},
    {[](std::size_t bytes) { return hidden(::operator new[](bytes, wide)); }, &delete_many},
};
const form quiet_forms[] = {
    {[](std::size_t bytes) { return hidden(::operator new(bytes, std::nothrow)); }, &delete_one},
    {[](std::size_t bytes) { return hidden(::operator new[](bytes, std::nothrow)); }, &delete_many},
    {[](std::size_t bytes) { return hidden(::operator new(bytes, wide, std::nothrow)); }, &delete_one},
    {[](std::size_t bytes) { return hidden(::operator new[](bytes, wide, std::nothrow)); }, &delete_many},
};
constexpr std::size_t sizes[] = {64, 1000, 100'000};

class exhaustion : public testing::Test {
protected:
    exhaustion() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override { ASSERT_EQ(file_of("_Znwm"), dropin_name()); }
};

[[nodiscard]] bool throws_bad_alloc(form take, std::size_t bytes) {
    try {
        (void)take(bytes);
        return false;
    } catch (const std::bad_alloc&) {
        return true;
    }
}

TEST_F(exhaustion, operator_new_throws_bad_alloc_and_serves_again_when_there_is_memory) {
    for (const form take : loud_forms) {
        EXPECT_EXIT(
            {
                bool good = true;
                {
                    const everything taken;
                    for (const std::size_t bytes : sizes) good = throws_bad_alloc(take, bytes) && good;
                }
                for (const std::size_t bytes : sizes) take.give_back(take(bytes));
                std::_Exit(good ? 0 : 1);
            },
            testing::ExitedWithCode(0), "^$");
    }
}

int calls_of_handler = 0;

TEST_F(exhaustion, the_quiet_forms_call_the_new_handler_and_are_null) {
    for (const form take : quiet_forms) {
        EXPECT_EXIT(
            {
                const everything taken;
                bool good = true;
                for (const std::size_t bytes : sizes) {
                    calls_of_handler = 0;
                    std::set_new_handler([] {
                        if (++calls_of_handler == 3) std::set_new_handler(nullptr);
                    });
                    good = take(bytes) == nullptr && calls_of_handler == 3 && good;
                    good = take(bytes) == nullptr && calls_of_handler == 3 && good; // there is none any more
                }
                std::_Exit(good ? 0 : 1);
            },
            testing::ExitedWithCode(0), "^$");
    }
}

void* reserve = nullptr;

TEST_F(exhaustion, a_new_handler_that_frees_its_reserve_is_all_that_operator_new_needs) {
    EXPECT_EXIT(
        {
            reserve = hidden(std::malloc(300'000));
            const everything taken;
            std::set_new_handler([] {
                ++calls_of_handler;
                if (reserve == nullptr) std::set_new_handler(nullptr);
                std::free(reserve);
                reserve = nullptr;
            });
            void* const block = hidden(::operator new(250'000));
            std::memset(block, 1, 250'000);
            std::_Exit(calls_of_handler == 1 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(exhaustion, a_realloc_that_shrinks_keeps_its_block_and_errno) {
    struct change {
        std::size_t from, to;
    };
    static constexpr change changes[] = {{3000, 300}, {3000, 16}, {30'000, 100}, {100'000, 3000}, {3'000'000, 50}};
    EXPECT_EXIT(
        {
            constexpr int mark = 1234;
            void* blocks[std::size(changes)];
            for (std::size_t each = 0; each < std::size(changes); ++each) {
                blocks[each] = hidden(std::malloc(changes[each].from));
                std::memset(blocks[each], 7, changes[each].from);
            }
            const everything taken;
            bool good = true;
            for (std::size_t each = 0; each < std::size(changes); ++each) {
                errno = mark;
                void* const shrunk = hidden(std::realloc(blocks[each], changes[each].to));
                good = shrunk != nullptr && errno == mark && holds_only(shrunk, 7, changes[each].to) && good;
                std::free(shrunk);
            }
            std::_Exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

}
