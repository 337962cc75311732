// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A scheduler of fibers over ucontext. Each fiber has a temp_state, so that it may wait inside a temp_scope and
// continue on another thread.

#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <ucontext.h>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/temp_state.hpp>

namespace {

struct fiber {
    static constexpr std::size_t stack_bytes = 256 * 1024;

    explicit fiber(int seed) : number(seed), stack(new char[stack_bytes]) {}

    int number;
    ucontext_t here{};
    ucontext_t scheduler{};                            // of the thread that runs it now
    tenure::temp_state memory{std::size_t{64} * 1024}; // its Temp, with a budget of 64 KiB
    std::unique_ptr<char[]> stack;
    bool is_done = false;
    bool is_good = true;
};

/// Suspends the fiber. Not inlined: after it the fiber may be on another thread, and a caller that is one function with
/// it could keep the address of the former thread's variables.
__attribute__((noinline)) void wait_in(fiber& self) { swapcontext(&self.here, &self.scheduler); }

/// The job: it keeps scratch memory while it waits.
void work(fiber& self) {
    for (int round = 0; round < 20; ++round) {
        const tenure::temp_scope scope;
        auto* const numbers = static_cast<int*>(tenure::allocate(1000 * sizeof(int), tenure::lifetime::temp));
        if (numbers == nullptr) return;
        for (int index = 0; index < 1000; ++index) numbers[index] = self.number + index;
        wait_in(self); // others allocate from their Temp meanwhile
        for (int index = 0; index < 1000; ++index) self.is_good &= numbers[index] == self.number + index;
    }
}

void run(unsigned low, unsigned high) { // makecontext passes ints
    auto& self = *reinterpret_cast<fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
    work(self);
    self.is_done = true;
    wait_in(self);
}

class scheduler {
public:
    void add(int number) {
        auto made = std::make_unique<fiber>(number);
        getcontext(&made->here);
        made->here.uc_stack.ss_sp = made->stack.get();
        made->here.uc_stack.ss_size = fiber::stack_bytes;
        const auto address = reinterpret_cast<std::uintptr_t>(made.get());
        makecontext(&made->here, reinterpret_cast<void (*)()>(&run), 2, static_cast<unsigned>(address),
                    static_cast<unsigned>(address >> 32));
        ready_.push_back(made.get());
        all_.push_back(std::move(made));
    }

    /// Runs fibers until none is ready. Any number of threads may call it.
    void run_on_this_thread() {
        while (fiber* const next = take()) {
            {
                const tenure::temp_state_scope uses(next->memory); // the fiber's Temp until it waits
                swapcontext(&next->scheduler, &next->here);
            }
            if (!next->is_done) put_back(next);
        }
    }

    [[nodiscard]] bool all_good() const {
        bool good = true;
        for (const auto& each : all_) good &= each->is_done && each->is_good;
        return good;
    }

private:
    fiber* take() {
        const std::lock_guard lock(mutex_);
        if (ready_.empty()) return nullptr;
        fiber* const next = ready_.front();
        ready_.pop_front();
        return next;
    }
    void put_back(fiber* each) {
        const std::lock_guard lock(mutex_);
        ready_.push_back(each);
    }

    std::mutex mutex_;
    std::deque<fiber*> ready_;
    std::vector<std::unique_ptr<fiber>> all_;
};

}

int main() {
    scheduler jobs;
    for (int number = 0; number < 32; ++number) jobs.add(number * 1000);
    std::thread other([&jobs] { jobs.run_on_this_thread(); });
    jobs.run_on_this_thread();
    other.join();
    std::printf("every fiber found its scratch memory: %s\n", jobs.all_good() ? "yes" : "no");
    return jobs.all_good() ? 0 : 1;
}
