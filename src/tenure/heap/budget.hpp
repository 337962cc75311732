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
///                A tag with one: O(threads x sizes) there, with a lock. Allocations from the cache and those without a
///                tag: nothing.
/// Exact          to what a thread's cache of the tag holds: a cache is filled with one half of its room, and blocks in
///                it are handed out without a question. reallocate() that grows a block in place does not ask, however
///                much it grows.
/// Threads        any. Threads that ask at the same moment may together exceed the limit by their requests.
/// Example        examples/budgets.cpp

#include <cstdint>

#include <tenure/base/budget_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>

namespace tenure::inline TENURE_ABI {

/// Sets a tag's budget; `budget{}` removes it. The handler is called without a lock held: at a refusal it may free
/// blocks of the tag, and the request is then tried once more. While it runs, no other event of the budget is told.
/// Returns   false for the default tag, which has no budget.
TENURE_API bool set_budget(tag owner, const budget& limits) noexcept;

/// The budget as it was set; `budget{}` for a tag without one.
[[nodiscard]] TENURE_API budget budget_of(tag owner) noexcept;

/// How many requests the tag's limit has met since the process began, whether the handler made room or not.
[[nodiscard]] TENURE_API std::uint64_t refusals_of(tag owner) noexcept;

namespace detail {
/// Whether the tag's budget allows the request; tells the handler. Call it without a lock.
[[nodiscard]] bool budget_allows(std::uint16_t id, std::size_t bytes) noexcept;
}

}
