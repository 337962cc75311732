// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// fork() in a signal handler, which POSIX allows and which may have interrupted any lock, while the background thread
// exists. Each test runs in a process whose only other thread is that one.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::millisecond;
using tenure::heap;

pid_t forked = -1; ///< by the handler: zero in the child
void fork_in_handler(int) { forked = ::fork(); }

/// Raises a signal in the next call, which the caller makes under its lock.
class raising_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        if (wait_ns != 0) tenure::platform::sleep_ns(wait_ns);
        if (is_armed) ::raise(SIGUSR1);
        is_armed = false;
        wait_ns = 0;
        return pages_.acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override { pages_.release(block, bytes); }
    bool decommit(void* part, std::size_t bytes) noexcept override { return pages_.decommit(part, bytes); }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    bool is_armed = false;
    std::uint64_t wait_ns = 0;

private:
    tenure::page_source& pages_ = tenure::page_source::process();
};

/// Frees 8 MiB, so that the thread exists.
void start_thread(heap& tended) {
    std::vector<void*> blocks;
    for (int each = 0; each < 16'000; ++each) {
        blocks.push_back(tended.allocate(512));
        std::memset(blocks.back(), 1, 512);
    }
    for (void* const block : blocks) tended.deallocate(block);
}

[[nodiscard]] bool has_started() {
    for (int each = 0; each < 2000 && !tenure::detail::is_background_running(); ++each)
        tenure::platform::sleep_ns(millisecond);
    tenure::platform::sleep_ns(5 * millisecond); // it now sleeps, or works
    return tenure::detail::is_background_running();
}

/// In a process of its own. Returns   zero if `work` returns true there, and in the child that the handler forks.
template<class Work>
int answer_of(Work&& work) {
    const pid_t process = ::fork();
    if (process == 0) {
        ::alarm(30); // when it hangs
        tenure::set_option(tenure::option::heap_purge_delay_ms, 40);
        ::signal(SIGUSR1, &fork_in_handler);
        const bool is_good = work();
        if (forked == 0) std::_Exit(is_good ? 0 : 1);
        int status = 0;
        if (forked < 0 || ::waitpid(forked, &status, 0) < 0) std::_Exit(2);
        std::_Exit(!is_good ? 3 : status == 0 ? 0 : 4);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class fork_in_handler_beside_the_thread : public testing::Test {
protected:
    void SetUp() override {
        if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizers take no threads along into a fork";
    }
};

TEST_F(fork_in_handler_beside_the_thread, may_interrupt_a_heap) {
    EXPECT_EQ(answer_of([] {
                  start_thread(heap::process());
                  if (!has_started()) return false;
                  raising_source source;
                  heap own({}, source);
                  source.is_armed = true;
                  void* const block = own.allocate(100);
                  own.deallocate(block);
                  own.trim();
                  start_thread(heap::process()); // the child's, too
                  return block != nullptr && own.valid() && has_started();
              }),
              0);
}

TEST_F(fork_in_handler_beside_the_thread, may_interrupt_a_shared_pool) {
    EXPECT_EQ(answer_of([] {
                  start_thread(heap::process());
                  if (!has_started()) return false;
                  raising_source source;
                  tenure::shared_block_pool pool(64, 16, source);
                  source.is_armed = true;
                  void* const block = pool.allocate();
                  pool.deallocate(block);
                  return block != nullptr && pool.valid() && pool.size() == 0;
              }),
              0);
}

TEST_F(fork_in_handler_beside_the_thread, may_interrupt_a_shared_group) {
    EXPECT_EQ(answer_of([] {
                  start_thread(heap::process());
                  if (!has_started()) return false;
                  raising_source source;
                  tenure::affinity_group group("group", {.threads = tenure::sharing::any_thread}, source);
                  source.is_armed = true;
                  void* const block = group.allocate(40);
                  group.deallocate(block);
                  return block != nullptr && group.valid();
              }),
              0);
}

// The thread holds locks of the heap and waits for the one that this thread holds: the child frees the former.
TEST_F(fork_in_handler_beside_the_thread, may_interrupt_the_lock_that_it_waits_for) {
    EXPECT_EQ(answer_of([] {
                  raising_source source;
                  heap own({.purge_delay_ns = 20 * millisecond}, source);
                  start_thread(own);
                  if (!has_started()) return false;
                  source.wait_ns = 200 * millisecond;
                  source.is_armed = true;
                  void* const block = own.allocate(std::size_t{64} << 20);
                  std::memset(block, 1, std::size_t{64} << 20);
                  own.deallocate(block);
                  own.trim();
                  start_thread(own);
                  return own.valid() && has_started();
              }),
              0);
}

TEST_F(fork_in_handler_beside_the_thread, may_interrupt_what_it_likes_again_and_again) {
    EXPECT_EQ(answer_of([] {
                  raising_source source;
                  heap own({.purge_delay_ns = 20 * millisecond}, source);
                  for (int each = 0; each < 20; ++each) {
                      start_thread(own);
                      source.is_armed = true;
                      source.wait_ns = static_cast<std::uint64_t>(each) * millisecond;
                      void* const block = own.allocate(std::size_t{40} << 20);
                      own.deallocate(block);
                      own.trim();
                      int status = 0;
                      if (forked == 0) return own.valid();
                      if (::waitpid(forked, &status, 0) < 0 || status != 0) return false;
                  }
                  forked = ::fork(); // for answer_of()
                  return own.valid();
              }),
              0);
}

}
