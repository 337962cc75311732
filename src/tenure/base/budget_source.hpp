// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// budget_source: a block source that limits what one allocator, or several together, acquire. It tells a handler at a
/// threshold, and refuses at the limit.
///
/// Use it for     the budget of a heap, an arena, a pool, a group or frame_memory: pass the source to them. Budgets of
///                a subsystem within the process heap are by tag: heap/budget.hpp.
/// Events         the threshold and the peak are of bytes that the source has returned. A request that the source
///                behind refuses tells nothing. An allocator over the source may ask it several times for one request,
///                for fewer bytes or after it returned free memory: that is one refusal, and none if the request
///                succeeds in the end. Its figures are those of the last question.
/// Cost           a few atomic operations per block of the source, which are rare.
/// Threads        as the source behind it.
/// Example        examples/budgets.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// What a budget tells its handler.
struct budget_event {
    enum class kind : std::uint8_t {
        threshold, ///< the threshold is exceeded; told again only after the use has fallen below it
        refusal,   ///< the request would exceed the limit
    };
    kind what = kind::threshold;
    std::string_view name;           ///< of the budget or tag
    std::size_t used_bytes = 0;      ///< threshold: with the request; refusal: without
    std::size_t requested_bytes = 0; ///< by the request that led to the event
    std::size_t threshold_bytes = 0;
    std::size_t limit_bytes = 0;
};

/// Called on the thread of the request. A handler of a budget_source must not use the allocator over the source, whose
/// lock may be held.
using budget_handler = void (*)(const budget_event&, void* context) noexcept;

struct budget {
    std::size_t limit_bytes = SIZE_MAX;     ///< requests that would exceed it fail
    std::size_t threshold_bytes = SIZE_MAX; ///< the handler is told when the use exceeds it
    budget_handler handler = nullptr;
    void* context = nullptr;
};

class budget_source;

namespace detail {

/// The calling thread's attempt, and its latest refusal: that one was for the fewest bytes.
struct attempt_state {
    std::size_t depth = 0;
    budget_source* refused_by = nullptr;
    std::size_t used_bytes = 0;
    std::size_t requested_bytes = 0;
};
TENURE_DECLARE_THREAD_LOCAL(attempt_state, this_attempt)

/// A request of the program, for which an allocator may ask its source several times: for a smaller segment, or again
/// after it returned free memory. Place it around the calls to the source. A budget_source tells one refusal per
/// attempt, and none if the attempt succeeds. Attempts nest on a thread; the outermost counts.
class allocation_attempt {
public:
    allocation_attempt() noexcept { ++this_attempt().depth; }
    ~allocation_attempt() {
        if (--this_attempt().depth == 0 && this_attempt().refused_by != nullptr) [[unlikely]]
            tell();
    }
    allocation_attempt(const allocation_attempt&) = delete;
    allocation_attempt& operator=(const allocation_attempt&) = delete;

    /// What was refused so far is not told.
    void succeeded() noexcept {
        if (this_attempt().depth == 1) this_attempt().refused_by = nullptr;
    }

private:
    TENURE_API TENURE_COLD static void tell() noexcept;
};

}

class TENURE_API budget_source final : public block_source {
public:
    /// Requires  `behind` and the text of `name` outlive this source.
    [[nodiscard]] explicit budget_source(std::string_view name, budget limits, block_source& behind) noexcept
        : behind_(behind), name_(name), limits_(limits) {}

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override;
    [[nodiscard]] bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    [[nodiscard]] void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                              std::size_t alignment) noexcept override;
    bool shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    bool decommit(void* part, std::size_t bytes) noexcept override { return behind_.decommit(part, bytes); }
    [[nodiscard]] sharing threads() const noexcept override { return behind_.threads(); }
    [[nodiscard]] bool is_zeroed() const noexcept override { return behind_.is_zeroed(); }
    /// Also at most the limit, so that allocators choose segments that fit.
    [[nodiscard]] std::size_t max_bytes() const noexcept override;

    [[nodiscard]] std::size_t used_bytes() const noexcept {
        return confirmed_bytes_.load(detail::memory_order::relaxed);
    }
    [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_.load(detail::memory_order::relaxed); }
    /// Requests of the program, as the handler is told.
    [[nodiscard]] std::uint64_t refused_count() const noexcept {
        return refused_count_.load(detail::memory_order::relaxed);
    }

private:
    friend class detail::allocation_attempt;

    [[nodiscard]] bool charge(std::size_t bytes) noexcept;
    void refund(std::size_t bytes) noexcept;
    void confirm(std::size_t bytes) noexcept;
    void forget(std::size_t bytes) noexcept;
    void refuse(std::size_t used, std::size_t requested) noexcept;
    void tell(budget_event::kind what, std::size_t used, std::size_t requested) const noexcept;

    block_source& behind_;
    std::string_view name_;
    budget limits_;
    // Counters: relaxed, nothing else is read by them. A compare-exchange keeps used_bytes_ within the limit.
    detail::atomic<std::size_t> used_bytes_{0};      // with what is being acquired
    detail::atomic<std::size_t> confirmed_bytes_{0}; // without
    detail::atomic<std::size_t> peak_bytes_{0};
    detail::atomic<std::uint64_t> refused_count_{0};
};

}
