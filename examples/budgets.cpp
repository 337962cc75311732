// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Budgets of a subsystem within the process heap, and of a heap of its own.

#include <cstdio>

#include <tenure/base/budget_source.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct events {
    int thresholds = 0;
    int refusals = 0;
};

void hear(const tenure::budget_event& event, void* context) noexcept {
    auto& heard = *static_cast<events*>(context);
    const bool is_refusal = event.what == tenure::budget_event::kind::refusal;
    ++(is_refusal ? heard.refusals : heard.thresholds);
    std::printf("%.*s: %s\n", static_cast<int>(event.name.size()), event.name.data(),
                is_refusal ? "the limit refuses a request" : "past the threshold");
}

/// The subsystem's allocations are counted for its tag.
bool budget_by_tag() {
    const tenure::tag loader = tenure::tag::named("level loader");
    events heard;
    if (!tenure::set_budget(loader, {8 * mebibyte, 6 * mebibyte, hear, &heard})) return false;
    const tenure::tag_scope owner(loader);
    void* textures[10]{};
    std::size_t count = 0;
    while (count < 10 && (textures[count] = tenure::heap::process().allocate(mebibyte)) != nullptr) ++count;
    for (void* each : textures) tenure::heap::process().deallocate(each);
    tenure::set_budget(loader, {});
    return count < 10 && heard.thresholds == 1 && heard.refusals == 1;
}

/// Every allocator over the source shares the budget.
bool budget_of_a_heap() {
    events heard;
    tenure::budget_source source("physics", {64 * mebibyte, 48 * mebibyte, hear, &heard},
                                 tenure::page_source::process());
    tenure::heap physics({.name = "physics"}, source);
    void* const block = physics.allocate(50 * mebibyte);
    void* const more = physics.allocate(50 * mebibyte);
    physics.deallocate(block);
    return block != nullptr && more == nullptr && heard.thresholds == 1 && heard.refusals == 1;
}

}

int main() {
    // In passthrough the blocks come from malloc, which knows no budgets.
    if (tenure::passthrough_enabled(tenure::part::heap)) return 0;
    return budget_by_tag() && budget_of_a_heap() ? 0 : 1;
}
