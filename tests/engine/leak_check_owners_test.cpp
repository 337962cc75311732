// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Arenas, frame_memory, handle_pools and stable_vectors in the report at the end of the program.

#include <tenure/engine/leak_check.hpp>

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/lifetime/frame_memory.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/stable_vector.hpp>

#include "support/at_exit.hpp"

namespace {

using game::monster;
using support::check_leaks;
using support::end;
using support::forever;
using support::joined;
using support::lacks;
using support::map;
using support::mapped_bytes;
using support::of_monsters;

class leak_check_owners_death : public testing::Test {
protected:
    leak_check_owners_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(leak_check_owners_death, names_those_that_hold_objects) {
    const auto program = [] {
        check_leaks();
        auto& monsters = forever<tenure::handle_pool<monster>>(std::size_t{100});
        static_cast<void>(monsters.construct());
        monsters.destroy(monsters.construct());
        static_cast<void>(forever<tenure::stable_vector<monster>>(std::size_t{100}).append(3));
        static_cast<void>(forever<tenure::arena>().allocate(100));
        static_cast<void>(forever<tenure::frame_memory>().allocate(100));
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), joined("\n  handle_pool of ", of_monsters, ": 1 block, 48 b"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), joined("  stable_vector of ", of_monsters, ": 3 blocks, 144 b"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  arena: 1 arena, 100 bytes\n");
    // In checked builds each block of it has guards.
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  frame_memory: 1 object, 1[0-9][0-9] bytes\n");
}

TEST_F(leak_check_owners_death, does_not_name_those_that_are_empty_or_gone) {
    EXPECT_EXIT(
        {
            check_leaks();
            {
                tenure::handle_pool<monster> handles(100);
                static_cast<void>(handles.construct());
                tenure::stable_vector<monster> vector(100);
                static_cast<void>(vector.emplace_back());
                tenure::arena arena;
                static_cast<void>(arena.allocate(100));
                tenure::frame_memory frames;
                static_cast<void>(frames.allocate(100));
            }
            auto& handles = forever<tenure::handle_pool<monster>>(std::size_t{100});
            handles.destroy(handles.construct());
            auto& vector = forever<tenure::stable_vector<monster>>(std::size_t{100});
            static_cast<void>(vector.emplace_back());
            vector.clear();
            auto& arena = forever<tenure::arena>();
            static_cast<void>(arena.allocate(100));
            arena.clear();
            static_cast<void>(forever<tenure::frame_memory>(std::size_t{1}).allocate(100));
            tenure::next_frame();
            end();
        },
        testing::ExitedWithCode(0), "^$");
}

/// Moves contents twice, to an object that never ends: by construction and by assignment.
template<class T, class Fill, class... Arguments>
void move_on(Fill&& fill, Arguments... arguments) {
    T first(arguments...);
    fill(first);
    T second(std::move(first));
    auto& last = forever<T>(arguments...);
    fill(last);
    last = std::move(second);
    fill(second);
}

TEST_F(leak_check_owners_death, follows_those_that_move) {
    const auto program = [] {
        check_leaks();
        move_on<tenure::handle_pool<monster>>([](auto& pool) { static_cast<void>(pool.construct()); },
                                              std::size_t{100});
        move_on<tenure::stable_vector<monster>>([](auto& vector) { static_cast<void>(vector.append(3)); },
                                                std::size_t{100});
        move_on<tenure::arena>([](auto& arena) { static_cast<void>(arena.allocate(100)); });
        auto& small = forever<tenure::stable_vector<int>>(std::size_t{10});
        small = tenure::stable_vector<int>(20); // with another maximum
        static_cast<void>(small.append(2));
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), joined("\n  handle_pool of ", of_monsters, ": 1 block, 48 b"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), joined("  stable_vector of ", of_monsters, ": 3 blocks, 144 b"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  arena: 1 arena, 100 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "stable_vector of (int|4-byte blocks): 2 blocks, 8 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks("overwritten"));
}

TEST_F(leak_check_owners_death, does_not_believe_those_that_were_overwritten) {
    const auto program = [](int with) {
        check_leaks();
        auto& handles = forever<tenure::handle_pool<monster>>(std::size_t{100});
        static_cast<void>(handles.construct());
        auto& vector = forever<tenure::stable_vector<monster>>(std::size_t{100});
        static_cast<void>(vector.append(3));
        auto& arena = forever<tenure::arena>();
        static_cast<void>(arena.allocate(100));
        auto& frames = forever<tenure::frame_memory>();
        static_cast<void>(frames.allocate(100));
        std::memset(static_cast<void*>(&handles), with, sizeof handles);
        std::memset(static_cast<void*>(&vector), with, sizeof vector);
        std::memset(static_cast<void*>(&arena), with, sizeof arena);
        std::memset(static_cast<void*>(&frames), with, sizeof frames);
        end();
    };
    for (const int with : {0, 0x5A, 0xFF}) {
        for (const char* const part : {"handle_pool", "stable_vector", "arena", "frame_memory"})
            EXPECT_EXIT(program(with), testing::ExitedWithCode(0),
                        joined("tenure: the ", part, " at 0x.* overwritten"));
        EXPECT_EXIT(program(with), testing::ExitedWithCode(0), lacks("still held"));
    }
}

TEST_F(leak_check_owners_death, does_not_read_an_arena_whose_source_took_its_memory_back) {
    EXPECT_EXIT(
        {
            check_leaks();
            void* const memory = map();
            auto& source = forever<tenure::static_buffer_source>(memory, mapped_bytes);
            static_cast<void>(forever<tenure::arena>(std::size_t{4096}, source).allocate(100));
            ::munmap(memory, mapped_bytes);
            end();
        },
        testing::ExitedWithCode(0), "tenure: the arena at 0x");
}

}
