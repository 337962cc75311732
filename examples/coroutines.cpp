// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// C++20 coroutines whose frames come from an arena or from a pool, and that keep Temp memory while they are suspended.

#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <tenure/arena/arena.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/temp_state.hpp>
#include <tenure/pool/block_pool.hpp>

namespace {

/// A coroutine that is resumed step by step. Its frame comes from the allocator that its function takes as its first
/// argument: an arena, or a block_pool whose blocks are large enough. A null frame means out of memory.
class task {
public:
    struct promise_type {
        template<class Allocator, class... Arguments>
        static void* operator new(std::size_t bytes, Allocator& from, Arguments&&...) noexcept {
            // The allocator and the size in front of the frame, for operator delete.
            auto* const block = static_cast<header*>(from.allocate(bytes + sizeof(header), alignof(std::max_align_t)));
            if (block == nullptr) return nullptr;
            *block = {&from, [](void* allocator, void* frame, std::size_t size) noexcept {
                          static_cast<Allocator*>(allocator)->deallocate(frame, size, alignof(std::max_align_t));
                      }};
            return block + 1;
        }
        static void operator delete(void* frame, std::size_t bytes) noexcept {
            header* const block = static_cast<header*>(frame) - 1;
            block->deallocate(block->allocator, block, bytes + sizeof(header));
        }

        task get_return_object() noexcept { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        static task get_return_object_on_allocation_failure() noexcept { return task({}); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}

        tenure::temp_state memory{std::size_t{64} * 1024}; // the coroutine's Temp

    private:
        struct alignas(std::max_align_t) header {
            void* allocator;
            void (*deallocate)(void* allocator, void* block, std::size_t bytes) noexcept;
        };
    };

    task(task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    ~task() {
        if (!handle_) return;
        tenure::temp_state::switch_to(nullptr);
        handle_.destroy();
    }
    task& operator=(task&&) = delete;

    [[nodiscard]] bool is_made() const noexcept { return static_cast<bool>(handle_); }

    /// Continues the coroutine with its own Temp. Returns whether it has more to do.
    bool resume() {
        const tenure::temp_state_scope uses(handle_.promise().memory);
        handle_.resume();
        return !handle_.done();
    }

private:
    explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

/// Keeps a temp_scope open across its suspensions.
task sum_of(auto& /*frames from*/, int first, long& result) {
    const tenure::temp_scope scope;
    auto* const numbers = static_cast<int*>(tenure::allocate(100 * sizeof(int), tenure::lifetime::temp));
    if (numbers == nullptr) co_return;
    for (int index = 0; index < 100; ++index) {
        numbers[index] = first + index;
        co_await std::suspend_always{};
    }
    for (int index = 0; index < 100; ++index) result += numbers[index];
}

/// Resumes two coroutines in turns.
bool run(task one, task two) {
    if (!one.is_made() || !two.is_made()) return false;
    bool more_of_one = true;
    bool more_of_two = true;
    while (more_of_one || more_of_two) {
        if (more_of_one) more_of_one = one.resume();
        if (more_of_two) more_of_two = two.resume();
    }
    return true;
}

/// The frames of a level's scripts: freed together with the arena.
bool frames_in_an_arena() {
    tenure::arena frames;
    long first = 0;
    long second = 0;
    const bool ran = run(sum_of(frames, 0, first), sum_of(frames, 1000, second));
    std::printf("arena: %ld and %ld\n", first, second);
    return ran && first == 4950 && second == 104'950;
}

/// The frames of many short jobs: blocks of one size, reused at once.
bool frames_in_a_pool() {
    tenure::block_pool frames(2048);
    long first = 0;
    long second = 0;
    const bool ran = run(sum_of(frames, 0, first), sum_of(frames, 1000, second));
    std::printf("pool: %ld and %ld, %zu frames left\n", first, second, frames.size());
    return ran && first == 4950 && second == 104'950 && frames.size() == 0;
}

}

int main() { return frames_in_an_arena() && frames_in_a_pool() ? 0 : 1; }
