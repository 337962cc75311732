// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Call stacks, compared with those of the compiler's runtime. What lies at the bottom of a coroutine's stack is tested
// with the drop-in: tests/dropin/programs/coroutine.cpp.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unwind.h>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>

#include "support/process.hpp"
#include "support/runtime_stack.hpp"

namespace {

constexpr std::size_t most = 64;

struct stack {
    void* frames[most];
    std::size_t count;
};
stack ours{}, theirs{};

__attribute__((noinline)) void walk_twice() {
    ours.count = tenure::host::walk_stack(ours.frames, most);
    theirs.count = 0;
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void*) {
            if (theirs.count == most || _Unwind_GetIP(context) == 0) return _URC_END_OF_STACK;
            theirs.frames[theirs.count++] = tenure::pointer_at(_Unwind_GetIP(context));
            return _URC_NO_REASON;
        },
        nullptr);
    asm volatile(""); // this function stays on the stack: the call above is not its last instruction
}

/// The innermost frame is the same function at another call.
void expect_same() {
    ASSERT_GE(ours.count, 3u);
    if (ours.count == theirs.count + 1 && !support::is_told_by_runtime(ours.frames[ours.count - 1])) --ours.count;
    ASSERT_EQ(ours.count, theirs.count);
    for (std::size_t index = 1; index < ours.count; ++index)
        EXPECT_EQ(ours.frames[index], theirs.frames[index]) << index;
}

TEST(stack_walk, finds_the_callers_that_the_runtime_finds) {
    walk_twice();
    expect_same();
    std::thread([] { walk_twice(); }).join();
    expect_same();
}

TEST(stack_walk, goes_through_the_c_library_and_through_functions_that_allocate_on_the_stack) {
    int values[] = {2, 1};
    std::qsort(values, 2, sizeof values[0], [](const void*, const void*) {
        walk_twice();
        return 0;
    });
    expect_same();
    std::vector<int> sorted{3, 1, 2};
    std::stable_sort(sorted.begin(), sorted.end(), [](int left, int right) {
        auto* const room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(left) * 100));
        room[0] = 1;
        alignas(128) volatile char aligned[128];
        aligned[left] = 1;
        walk_twice();
        EXPECT_EQ(aligned[left], 1);
        return left < right;
    });
    expect_same();
}

TEST(stack_walk, goes_through_the_frame_of_a_signal_handler) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "the sanitizer calls handlers later";
    const auto before = std::signal(SIGUSR1, [](int) { walk_twice(); });
    std::raise(SIGUSR1);
    std::signal(SIGUSR1, before);
    expect_same();
}

TEST(stack_walk, finds_the_same_callers_again) {
    for (int round = 0; round < 3; ++round) {
        walk_twice();
        expect_same();
    }
}

/// Walks the stack below a function of a loaded object.
/// Returns   that function; nullptr if it was not found.
const void* walk_through(const char* path, const char* name) {
    void* const object = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) return nullptr;
    const auto call = reinterpret_cast<void (*)(void (*)())>(::dlsym(object, name));
    if (call == nullptr) return nullptr;
    call(walk_twice);
    ::dlclose(object);
    return reinterpret_cast<const void*>(call);
}

TEST(stack_walk, finds_the_callers_through_an_object_that_replaces_another) {
    for (const char* const name : {"call_with_frame", "call_with_common_rules"}) {
        const void* const before = walk_through(FRAME_OF_192, name);
        ASSERT_NE(before, nullptr) << ::dlerror();
        expect_same();
        const void* const now = walk_through(FRAME_OF_320, name);
        expect_same();
        if (now != before) GTEST_SKIP() << "the second object was loaded elsewhere";
        ASSERT_EQ(walk_through(FRAME_OF_192, name), before);
        expect_same();
    }
}

/// On a frame of its own, larger than a page: the walk comes over it.
template<std::size_t Bytes>
__attribute__((noinline)) void walk_with(tenure::host::readable_span& known, std::uintptr_t* places) {
    char room[Bytes];
    asm volatile("" : : "r"(room) : "memory"); // it is used
    theirs.count = tenure::host::walk_stack(theirs.frames, most);
    ours.count = tenure::host::walk_stack(ours.frames, most, known, places);
    asm volatile("" : : "r"(room) : "memory");
}

TEST(stack_walk, what_can_be_read_is_remembered_and_places_hold_the_addresses) {
    const auto walk_thrice = [] {
        tenure::host::readable_span known;
        std::uintptr_t places[most];
        for (int turn = 0; turn < 3; ++turn) {
            turn == 1 ? walk_with<40'000>(known, places) : walk_with<16>(known, places);
            expect_same();
            EXPECT_LT(known.begin, known.end);
            std::size_t saved = 0;
            for (std::size_t index = 2; index < ours.count; ++index) { // those of functions that have not returned
                if (places[index] == 0) continue;
                ++saved;
                EXPECT_GT(places[index], places[index - 1]) << "callers are further up";
                const auto* const place = static_cast<const std::uintptr_t*>(tenure::pointer_at(places[index]));
                EXPECT_EQ(*place, tenure::address_of(ours.frames[index])) << index;
            }
            EXPECT_GE(saved, 1u);
        }
    };
    walk_thrice();
    std::thread(walk_thrice).join();
}

TEST(stack_walk, ends_where_the_room_ends) {
    void* frames[2] = {};
    EXPECT_EQ(tenure::host::walk_stack(frames, 0), 0u);
    EXPECT_EQ(frames[0], nullptr);
    EXPECT_EQ(tenure::host::walk_stack(frames, 1), 1u);
    EXPECT_EQ(frames[1], nullptr);
}

}
