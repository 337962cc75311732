// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Budgets by owner tag: a subsystem's share of the process heap, with a handler at a threshold and a refusal at the
/// limit.
///
/// Use it for     "the level loader gets 200 MiB": open a tag_scope in the subsystem, and set its tag's budget.
/// Not for        memory of an allocator of your own: base/budget_source.hpp. The whole process: option
///                heap_limit_bytes.
/// Counted        live blocks of the process heap under the tag, rounded up, as in usage_of(): make(), persistent,
///                tn_malloc. Not Temp and TempJob, which end by themselves.
/// Cost           a tag without a budget: one load whenever its thread cache is empty or a block is larger than 32 KiB.
///                A tag with one: a few loads more there, 10 ns for a block of 16 KiB and nothing measurable for 64
///                bytes. Close to the threshold or the limit, while what threads have cached decides: O(threads x
///                sizes), with locks. Allocations from the cache and those without a tag: nothing.
/// Exact          on one thread. Blocks in the caches of other threads do not count until they are handed out, and
///                then without a question: together they may exceed the limit by what they had cached when the tag
///                came close to it or freed since, at most 32 KiB per thread and size. A refill takes no more than is
///                left.
/// Threads        any. Threads that ask at the same moment may together exceed the limit by their requests.
/// Example        examples/budgets.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/budget_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI {

/// Sets a tag's budget; `budget{}` removes it. The handler is called without a lock held: at a refusal it may free
/// blocks of the tag, and the request is then tried once more. While it runs, no other event of the budget is told.
/// A handler is always called with its own context. The one before may still be running on another thread when this
/// returns.
/// Returns   false for the default tag, which has no budget.
TENURE_API bool set_budget(tag owner, const budget& limits) noexcept;

/// The budget as it was set; `budget{}` for a tag without one. A handler that was set in C is not shown.
[[nodiscard]] TENURE_API budget budget_of(tag owner) noexcept;

/// How many requests the tag's limit has met since the process began, whether the handler made room or not.
[[nodiscard]] TENURE_API std::uint64_t refusals_of(tag owner) noexcept;

namespace detail {

struct thread_cache;

/// A handler in any language, and how it is called.
struct budget_call {
    void (*call)(const budget_event& event, const budget_call& with) noexcept = nullptr; ///< nullptr: no handler
    void (*function)() = nullptr;
    void* context = nullptr;
};
struct tag_budget_values {
    std::size_t limit_bytes = SIZE_MAX;
    std::size_t threshold_bytes = SIZE_MAX;
    budget_call handler;
};
bool set_tag_budget(tag owner, const tag_budget_values& to) noexcept;
[[nodiscard]] tag_budget_values tag_budget_of(tag owner) noexcept;

/// Whether any tag ever had a budget.
// Relaxed: a thread that is told of a budget reads true; what a budget says is read by values_of().
extern TENURE_API constinit atomic<bool> has_budgets;
/// Whether the tag has one.
[[nodiscard]] bool has_budget(std::uint16_t id) noexcept;

/// Whether the tag's budget allows the request; tells the handler. `counted` is what the request adds to the tag's use.
/// `cache` is that of the calling thread, or nullptr. Call it without a lock.
[[nodiscard]] bool budget_allows(std::uint16_t id, std::size_t bytes, std::size_t counted,
                                 thread_cache* cache) noexcept;
/// How many bytes of free blocks a thread may take into its cache of the tag.
[[nodiscard]] std::size_t cacheable_bytes(const thread_cache& cache) noexcept;

/// Held while a budget is written, and during a fork. No other lock is taken under it.
[[nodiscard]] platform::mutex& budgets_mutex() noexcept;

}

}
