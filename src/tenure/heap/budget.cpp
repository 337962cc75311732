// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/budget.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::atomic<bool> detail::has_budgets{false};

namespace {

using detail::budget_call;
using detail::tag_budget_values;

/// Zero bytes are a tag without a budget. What a handler is called with is read as one: see values_of().
struct tag_budget {
    // A sequence lock. The values are released one by one after the odd version, and acquired: a reader that sees one
    // of them sees that the version has changed. Loads of a single value are relaxed. The flags and the count are
    // relaxed, too: an exchange elects who tells, and nothing else is read by them.
    std::atomic<std::uint32_t> version;          // odd while the values are written
    std::atomic<bool> is_over;                   // the threshold was told
    std::atomic<bool> is_telling;                // the handler runs
    std::atomic<std::size_t> below_no_limit;     // SIZE_MAX less the limit
    std::atomic<std::size_t> below_no_threshold; // SIZE_MAX less the threshold
    std::atomic<decltype(budget_call::call)> call;
    std::atomic<decltype(budget_call::function)> function;
    std::atomic<void*> context;
    std::atomic<std::uint64_t> refusals;

    [[nodiscard]] std::size_t limit() const noexcept {
        return SIZE_MAX - below_no_limit.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t threshold() const noexcept {
        return SIZE_MAX - below_no_threshold.load(std::memory_order_relaxed);
    }
};
TENURE_BEHIND_OTHERS(9) constinit tag_budget budgets[detail::max_tags]{};
constinit platform::mutex writing{};

/// A reader of several words that a writer changes together: it reads again if a writer came in between.
tag_budget_values values_of(const tag_budget& of) noexcept {
    for (unsigned look = 0;; ++look) {
        const std::uint32_t before = of.version.load(std::memory_order_acquire);
        const tag_budget_values read{SIZE_MAX - of.below_no_limit.load(std::memory_order_acquire),
                                     SIZE_MAX - of.below_no_threshold.load(std::memory_order_acquire),
                                     {of.call.load(std::memory_order_acquire),
                                      of.function.load(std::memory_order_acquire),
                                      of.context.load(std::memory_order_acquire)}};
        // The loads above are acquires, so the one below comes after them.
        if (before % 2 == 0 && of.version.load(std::memory_order_relaxed) == before) return read;
        host::let_others_run(look);
    }
}

void call_plain(const budget_event& event, const budget_call& with) noexcept {
    reinterpret_cast<budget_handler>(with.function)(event, with.context); // NOLINT: set_budget() has cast it
}

/// Returns   whether the handler was called.
bool tell(std::uint16_t id, budget_event::kind what, std::size_t used, std::size_t bytes) noexcept {
    tag_budget& of = budgets[id];
    if (of.is_telling.exchange(true, std::memory_order_acquire)) return false;
    const tag_budget_values now = values_of(of);
    const bool has_handler = now.handler.call != nullptr;
    if (has_handler)
        now.handler.call({what, tag::from_id(id).name(), used, bytes, now.threshold_bytes, now.limit_bytes},
                         now.handler);
    of.is_telling.store(false, std::memory_order_release);
    return has_handler;
}

/// The exact look, where blocks in the caches of threads decide. Returns   whether the request may go on.
TENURE_COLD bool allows_close(std::uint16_t id, std::size_t bytes, std::size_t counted,
                              detail::thread_cache* cache) noexcept {
    tag_budget& of = budgets[id];
    detail::heap_core& core = detail::process_core();
    core.return_cached(cache, id);
    std::size_t used = core.usage_of_tag(id).live_bytes;
    const auto allows = [&]() noexcept { return counted <= of.limit() && used <= of.limit() - counted; };
    if (!allows()) {
        of.refusals.fetch_add(1, std::memory_order_relaxed);
        if (!tell(id, budget_event::kind::refusal, used, bytes)) return false;
        core.return_cached(cache, id);
        used = core.usage_of_tag(id).live_bytes;
        if (!allows()) return false;
    }
    if (used + counted > of.threshold() && !of.is_over.exchange(true))
        tell(id, budget_event::kind::threshold, used + counted, bytes);
    return true;
}

}

platform::mutex& detail::budgets_mutex() noexcept { return writing; }

bool detail::set_tag_budget(tag owner, const tag_budget_values& to) noexcept {
    if (owner.id() == 0 || owner.id() >= max_tags) {
        if constexpr (checks::caller)
            report_argument("set_budget", "the id of the tag", owner.id(), "A budget is for a tag with a name.");
        return false;
    }
    tag_budget& of = budgets[owner.id()];
    const platform::lock_guard lock(writing);
    const std::uint32_t version = of.version.load(std::memory_order_relaxed);
    of.version.store(version + 1, std::memory_order_relaxed);
    // A reader that sees one of the values below sees the odd version as well.
    of.below_no_limit.store(SIZE_MAX - to.limit_bytes, std::memory_order_release);
    of.below_no_threshold.store(SIZE_MAX - to.threshold_bytes, std::memory_order_release);
    of.call.store(to.handler.call, std::memory_order_release);
    of.function.store(to.handler.function, std::memory_order_release);
    of.context.store(to.handler.context, std::memory_order_release);
    of.is_over.store(false, std::memory_order_relaxed);
    of.version.store(version + 2, std::memory_order_release);
    has_budgets.store(true, std::memory_order_relaxed);
    return true;
}

tag_budget_values detail::tag_budget_of(tag owner) noexcept {
    return owner.id() < max_tags ? values_of(budgets[owner.id()]) : tag_budget_values{};
}

bool set_budget(tag owner, const budget& limits) noexcept {
    detail::tag_budget_values to{limits.limit_bytes, limits.threshold_bytes, {}};
    if (limits.handler != nullptr)
        to.handler = {&call_plain, reinterpret_cast<void (*)()>(limits.handler), limits.context}; // NOLINT: as above
    return detail::set_tag_budget(owner, to);
}

budget budget_of(tag owner) noexcept {
    const detail::tag_budget_values set = detail::tag_budget_of(owner);
    if (set.handler.call != &call_plain) return {set.limit_bytes, set.threshold_bytes, nullptr, nullptr};
    return {set.limit_bytes, set.threshold_bytes,
            reinterpret_cast<budget_handler>(set.handler.function), // NOLINT: as above
            set.handler.context};
}

std::uint64_t refusals_of(tag owner) noexcept {
    return owner.id() < detail::max_tags ? budgets[owner.id()].refusals.load(std::memory_order_relaxed) : 0;
}

bool detail::has_budget(std::uint16_t id) noexcept {
    if (!has_budgets.load(std::memory_order_relaxed) || id == 0 || id >= max_tags) return false;
    const tag_budget& of = budgets[id];
    return (of.below_no_limit.load(std::memory_order_relaxed) |
            of.below_no_threshold.load(std::memory_order_relaxed)) != 0;
}

// What the tag holds, in use or in caches, is known without a look at the caches, and is never less than its use. So
// only a request that it would take past the limit or the threshold needs that look.
bool detail::budget_allows(std::uint16_t id, std::size_t bytes, std::size_t counted, thread_cache* cache) noexcept {
    tag_budget& of = budgets[id];
    const std::size_t limit = of.limit(), threshold = of.threshold();
    const std::size_t held = process_core().held_by_tag(id, cache);
    const bool is_over = of.is_over.load(std::memory_order_relaxed);
    const bool is_below = counted <= threshold && held <= threshold - counted;
    if (is_below && is_over) of.is_over.store(false, std::memory_order_relaxed);
    if (counted <= limit && held <= limit - counted && (is_below || is_over)) [[likely]]
        return true;
    return allows_close(id, bytes, counted, cache);
}

std::size_t detail::cacheable_bytes(const thread_cache& cache) noexcept {
    const tag_budget& of = budgets[cache.tag];
    const std::size_t limit = of.limit(), threshold = of.threshold();
    const std::size_t held = process_core().held_by_tag(cache.tag, &cache);
    const std::size_t to_limit = limit - std::min(limit, held);
    return held < threshold ? std::min(to_limit, threshold - held) : to_limit;
}

}
