// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What is written when a program ends: each test is a program of its own, which sets the option first, so that plain
// builds report as well.

#include <tenure/engine/leak_check.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>

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
using tenure::option;

class leak_check_death : public testing::Test {
protected:
    leak_check_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(leak_check_death, names_the_pools_that_hold_objects) {
    const auto program = [] {
        check_leaks();
        auto& monsters = forever<tenure::pool<monster>>();
        static_cast<void>(monsters.construct());
        static_cast<void>(monsters.construct());
        auto& shared = forever<tenure::shared_pool<monster>>();
        static_cast<void>(shared.construct());
        static_cast<void>(forever<tenure::block_pool>(std::size_t{64}).allocate());
        static_cast<void>(forever<tenure::pool<long>>()); // empty
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), joined("\n  pool of ", of_monsters, ": 2 blocks, 96 bytes\n"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), joined("\n  shared pool of ", of_monsters, ": 1 block, 48"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  pool of 64-byte blocks: 1 block, 64 bytes\n");
}

TEST_F(leak_check_death, does_not_name_pools_that_are_empty_or_gone) {
    EXPECT_EXIT(
        {
            check_leaks();
            {
                tenure::pool<monster> gone;
                static_cast<void>(gone.construct());
                tenure::shared_pool<monster> also_gone;
                static_cast<void>(also_gone.construct());
                tenure::affinity_group group("gone");
                static_cast<void>(group.allocate(24));
                tenure::heap heap({.name = "gone"});
                static_cast<void>(heap.allocate(24));
            }
            auto& empty = forever<tenure::pool<monster>>();
            empty.destroy(empty.construct());
            end();
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(leak_check_death, follows_a_pool_that_moves) {
    EXPECT_EXIT(
        {
            check_leaks();
            tenure::pool<monster> first;
            static_cast<void>(first.construct());
            static_cast<void>(forever<tenure::pool<monster>>(std::move(first)));
            end();
        },
        testing::ExitedWithCode(0), joined("\n  pool of ", of_monsters, ": 1 block, 48 bytes\n"));
}

TEST_F(leak_check_death, names_heaps_and_groups_once) {
    const auto program = [] {
        check_leaks();
        static_cast<void>(forever<tenure::heap>(tenure::heap_options{.name = "textures"}).allocate(100));
        auto& group = forever<tenure::affinity_group>("nodes");
        static_cast<void>(group.allocate(24));
        static_cast<void>(group.allocate(3'000'000)); // in the group's heap
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  heap textures: 1 block, ");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  affinity group nodes: 2 blocks, ");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks("heap nodes"));
}

TEST_F(leak_check_death, counts_the_process_heap_and_temp_job_by_owner) {
    const auto program = [] {
        check_leaks();
        const tenure::tag_scope scope("level loader");
        static_cast<void>(tenure::allocate(1000, tenure::lifetime::persistent));
        static_cast<void>(tenure::allocate(1000, tenure::lifetime::persistent));
        static_cast<void>(tenure::allocate(100, tenure::lifetime::temp_job));
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  process heap, owner level loader: 2 blocks, ");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  TempJob, owner level loader: 1 block, 100 bytes\n");
}

[[maybe_unused]] __attribute__((noinline)) void spawn() {
    static_cast<void>(tenure::make<monster>());
    asm volatile("");
}

TEST_F(leak_check_death, says_which_types_were_made_and_where) {
    if (!tenure::checks::caller) GTEST_SKIP() << "plain builds know no types";
    const auto program = [] {
        check_leaks();
        for (int turn = 0; turn < 20; ++turn) spawn();
        tenure::destroy(tenure::make<long>());
        static_cast<void>(tenure::make_array<short>(10));
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0),
                "\n  make: game::monster: 20 blocks, 960 bytes\n    #0 0x.*spawn");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  make: short.*: 1 block, 20 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks("make: long"));
}

TEST_F(leak_check_death, names_no_types_of_before_the_process_heap_was_cleared) {
    if (!tenure::checks::caller) GTEST_SKIP() << "plain builds know no types";
    const auto program = [] {
        check_leaks();
        for (int turn = 0; turn < 2000; ++turn) spawn();
        tenure::heap::process().clear();
        static_cast<void>(tenure::make<long>());
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  make: long.*: 1 block, 8 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks("make: game::monster"));
}

TEST_F(leak_check_death, says_where_of_each_object_when_there_are_too_many_for_their_stacks) {
    if (!tenure::checks::caller) GTEST_SKIP() << "plain builds know no types";
    const auto program = [] {
        check_leaks();
        for (int turn = 0; turn < 1500; ++turn) tenure::destroy(tenure::make<long>());
        for (int turn = 0; turn < 20; ++turn) spawn(); // the stack of one of them is noted
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0),
                "\n  make: game::monster: 19 blocks, 912 bytes\n    #0 0x.*spawn");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  make: game::monster: 1 block, 48 bytes\n    #0 0x.*spawn");
}

TEST_F(leak_check_death, knows_made_objects_beside_frees_of_nullptr) {
    if (!tenure::checks::caller) GTEST_SKIP() << "plain builds know no types";
    EXPECT_EXIT(
        {
            check_leaks();
            for (int count = 0; count < 400; ++count) {
                static_cast<void>(tenure::make<monster>());
                tenure::deallocate(nullptr, tenure::lifetime::persistent);
                tenure::process_memory::deallocate(nullptr);
            }
            end();
        },
        testing::ExitedWithCode(0), "game::monster");
}

TEST_F(leak_check_death, forgets_the_type_of_an_object_that_is_freed_as_a_block) {
    if (!tenure::checks::caller) GTEST_SKIP() << "plain builds know no types";
    const auto program = [] {
        check_leaks();
        tenure::heap& process = tenure::heap::process();
        process.deallocate(tenure::make<monster>());
        process.deallocate(tenure::make<monster>(), sizeof(monster), alignof(monster));
        auto* const grown = tenure::make_array<short>(10).data();
        static_cast<void>(process.reallocate(grown, 100'000));
        static_cast<void>(tenure::make<int>());
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  make: int: 1 block, 4 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks("make: game::monster"));
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks("make: short"));
}

TEST_F(leak_check_death, is_silent_when_it_is_off) {
    EXPECT_EXIT(
        {
            tenure::set_option(option::leak_check, 0);
            static_cast<void>(forever<tenure::pool<monster>>().construct());
            static_cast<void>(tenure::make<monster>());
            end();
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(leak_check_death, waits_for_objects_of_static_duration) {
    EXPECT_EXIT(
        {
            check_leaks();
            static tenure::pool<monster> of_the_program;
            static_cast<void>(of_the_program.construct());
            end();
        },
        testing::ExitedWithCode(0), lacks("pool of"));
}

TEST_F(leak_check_death, is_not_repeated_by_a_child_for_what_it_inherited) {
    EXPECT_EXIT(
        {
            check_leaks();
            static_cast<void>(forever<tenure::pool<monster>>().construct());
            const pid_t child = ::fork();
            if (child == 0) std::exit(0);
            int status = 0;
            ::waitpid(child, &status, 0);
            std::_Exit(WEXITSTATUS(status));
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(leak_check_death, says_which_objects_were_unmapped_before_their_destructor_ran) {
    const auto program = [] {
        check_leaks();
        void* const memory = map();
        auto* const objects = ::new (memory) tenure::pool<monster>;
        static_cast<void>(objects->construct());
        void* const other = map();
        static_cast<void>((::new (other) tenure::affinity_group("nodes"))->allocate(24));
        static_cast<void>(forever<tenure::block_pool>(std::size_t{64}).allocate());
        ::munmap(memory, mapped_bytes);
        ::munmap(other, mapped_bytes);
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0),
                "tenure: the pool at 0x[0-9a-f]+ was unmapped, freed or overwritten before its destructor ran: its "
                "blocks are not counted\\.\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "tenure: the affinity group at 0x.* was unmapped, ");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "tenure: Destroy such an object before its memory goes away\\.");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "\n  pool of 64-byte blocks: 1 block, 64 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), lacks(of_monsters));
}

TEST_F(leak_check_death, counts_lost_objects_and_names_the_first) {
    EXPECT_EXIT(
        {
            check_leaks();
            void* const memory = map();
            auto* const pools = static_cast<tenure::block_pool*>(memory);
            for (std::size_t index = 0; index < 10; ++index) ::new (pools + index) tenure::block_pool(64);
            ::munmap(memory, mapped_bytes);
            end();
        },
        testing::ExitedWithCode(0), "tenure: The same holds for 6 more\\.\n");
}

TEST_F(leak_check_death, does_not_believe_objects_that_were_overwritten) {
    const auto program = [](int with) {
        check_leaks();
        for (const std::size_t size : {sizeof(tenure::block_pool), sizeof(tenure::affinity_group)}) {
            void* const memory = map();
            size == sizeof(tenure::block_pool)
                ? static_cast<void>((::new (memory) tenure::block_pool(64))->allocate())
                : static_cast<void>((::new (memory) tenure::affinity_group("nodes"))->allocate(24));
            std::memset(memory, with, size);
        }
        end();
    };
    for (const int with : {0, 0x5A, 0xFF}) {
        EXPECT_EXIT(program(with), testing::ExitedWithCode(0), "tenure: the pool at 0x.* overwritten ");
        EXPECT_EXIT(program(with), testing::ExitedWithCode(0), "tenure: the affinity group at 0x.* overwritten ");
        EXPECT_EXIT(program(with), testing::ExitedWithCode(0), lacks("still held"));
    }
}

std::jmp_buf before;

[[gnu::noinline]] void leave_by_jump() {
    tenure::block_pool left(64);
    static_cast<void>(left.allocate());
    std::longjmp(before, 1);
}

/// Uses the stack that the frame had.
[[gnu::noinline]] void overwrite_stack() {
    volatile unsigned char room[16384];
    for (volatile unsigned char& each : room) each = 0x5A;
}

TEST_F(leak_check_death, survives_a_jump_over_a_pool) {
    const auto program = [] {
        check_leaks();
        if (setjmp(before) == 0) leave_by_jump();
        overwrite_stack();
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "tenure: the pool at 0x.* A longjmp over its frame runs no ");
}

TEST_F(leak_check_death, believes_a_new_object_where_another_was_lost) {
    EXPECT_EXIT(
        {
            check_leaks();
            void* const memory = map();
            static_cast<void>((::new (memory) tenure::block_pool(64, 64))->allocate());
            std::memset(memory, 0, sizeof(tenure::block_pool));
            static_cast<void>((::new (memory) tenure::block_pool(32))->allocate());
            end();
        },
        testing::ExitedWithCode(0), "by\n  pool of 32-byte blocks: 1 block, 32 bytes\n");
}

TEST_F(leak_check_death, does_not_read_names_of_an_unloaded_file) {
    const auto program = [] {
        check_leaks();
        void* const file = map();
        auto* const name = static_cast<char*>(file);
        std::strcpy(name, "nodes");
        static_cast<void>(forever<tenure::affinity_group>(std::string_view{name, 5}).allocate(24));
        static_cast<void>(forever<tenure::heap>(tenure::heap_options{.name = {name, 5}}).allocate(100));
        auto& pool = forever<tenure::block_pool>(std::size_t{64});
        tenure::detail::name_holder(&pool, name);
        static_cast<void>(pool.allocate());
        ::munmap(file, mapped_bytes);
        end();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0),
                "  affinity group \\(its name was in an unloaded file\\): 1 block");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "  heap \\(its name was in an unloaded file\\): 1 block");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "  pool of \\(a type of an unloaded file\\): 1 block, 64 bytes");
}

TEST(held_list, writes_the_largest_lines_and_says_that_there_are_more) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto program = [] {
        static tenure::detail::held_list list;
        for (std::size_t number = 1; number <= 100; ++number) {
            const std::string name = "<" + std::to_string(number) + ">";
            list.add({"part ", name, 1, number <= 60 ? number : 1});
        }
        list.write();
        std::_Exit(0);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0),
                "^tenure: 100 blocks with 1870 bytes are still held at the end of "
                "the program, by\n  part <60>: 1 block, 60 bytes\n");
    EXPECT_EXIT(program(), testing::ExitedWithCode(0),
                "part <45>: 1 block, 45 bytes\n  and others; the 16 largest are listed\n");
}

TEST(held_list, cuts_long_names) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            const std::string name(1000, 'x');
            tenure::detail::held_list list;
            list.add({"part ", name, 1, 8});
            list.write();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "\n  part x{112}\\.\\.\\.: 1 block, 8 bytes\n");
}

TEST(type_in, finds_the_type_in_the_text_of_the_compiler) {
    using tenure::detail::signature_of;
    using tenure::detail::type_in;
    EXPECT_EQ(type_in(signature_of<monster>()), "game::monster");
    EXPECT_EQ(type_in(signature_of<int>()), "int");
    EXPECT_EQ(type_in("nothing of the kind"), "");
    EXPECT_EQ(type_in(nullptr), "");
}

}
