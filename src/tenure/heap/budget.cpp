// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/budget.hpp>

#include <atomic>

#include <tenure/base/check.hpp>
#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

struct tag_budget {
    std::atomic<bool> is_set;
    std::atomic<bool> is_over;    // the threshold was told
    std::atomic<bool> is_telling; // the handler runs
    std::atomic<std::size_t> limit_bytes;
    std::atomic<std::size_t> threshold_bytes;
    std::atomic<budget_handler> handler;
    std::atomic<void*> context;
    std::atomic<std::uint64_t> refusals;
};
TENURE_BEHIND_OTHERS(9) constinit tag_budget budgets[detail::max_tags]{};

/// Returns   whether the handler was called.
bool tell(tag_budget& of, budget_event event) noexcept {
    const budget_handler handler = of.handler.load(std::memory_order_acquire);
    if (handler == nullptr || of.is_telling.exchange(true, std::memory_order_acquire)) return false;
    handler(event, of.context.load(std::memory_order_relaxed));
    of.is_telling.store(false, std::memory_order_release);
    return true;
}

}

bool set_budget(tag owner, const budget& limits) noexcept {
    if (owner.id() == 0 || owner.id() >= detail::max_tags) {
        if constexpr (checks::caller)
            report_argument("set_budget", "the id of the tag", owner.id(), "A budget is for a tag with a name.");
        return false;
    }
    tag_budget& of = budgets[owner.id()];
    of.is_set.store(false, std::memory_order_relaxed);
    of.limit_bytes.store(limits.limit_bytes, std::memory_order_relaxed);
    of.threshold_bytes.store(limits.threshold_bytes, std::memory_order_relaxed);
    of.context.store(limits.context, std::memory_order_relaxed);
    of.handler.store(limits.handler, std::memory_order_release);
    of.is_over.store(false, std::memory_order_relaxed);
    const bool has_any = limits.limit_bytes != SIZE_MAX || limits.threshold_bytes != SIZE_MAX;
    of.is_set.store(has_any, std::memory_order_release);
    return true;
}

budget budget_of(tag owner) noexcept {
    if (owner.id() >= detail::max_tags) return {};
    const tag_budget& of = budgets[owner.id()];
    if (!of.is_set.load(std::memory_order_acquire)) return {};
    return {of.limit_bytes.load(std::memory_order_relaxed), of.threshold_bytes.load(std::memory_order_relaxed),
            of.handler.load(std::memory_order_acquire), of.context.load(std::memory_order_relaxed)};
}

std::uint64_t refusals_of(tag owner) noexcept {
    return owner.id() < detail::max_tags ? budgets[owner.id()].refusals.load(std::memory_order_relaxed) : 0;
}

bool detail::budget_allows(std::uint16_t id, std::size_t bytes) noexcept {
    tag_budget& of = budgets[id];
    if (!of.is_set.load(std::memory_order_acquire)) return true;
    const std::size_t limit = of.limit_bytes.load(std::memory_order_relaxed);
    const std::size_t threshold = of.threshold_bytes.load(std::memory_order_relaxed);
    const auto used_now = [id]() noexcept { return process_core().usage_of_tag(id).live_bytes; };
    std::size_t used = used_now();
    const auto allows = [&]() noexcept { return bytes <= limit && used <= limit - bytes; };
    if (!allows()) {
        of.refusals.fetch_add(1, std::memory_order_relaxed);
        const bool told =
            tell(of, {budget_event::kind::refusal, tag::from_id(id).name(), used, bytes, threshold, limit});
        if (!told) return false;
        used = used_now();
        if (!allows()) return false;
    }
    const bool is_over = used + bytes > threshold;
    if (is_over != of.is_over.load(std::memory_order_relaxed) && of.is_over.exchange(is_over) != is_over && is_over)
        tell(of, {budget_event::kind::threshold, tag::from_id(id).name(), used + bytes, bytes, threshold, limit});
    return true;
}

}
