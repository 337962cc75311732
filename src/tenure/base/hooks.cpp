// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/hooks.hpp>

#include <atomic>

namespace tenure::inline TENURE_ABI {

constinit detail::atomic<const allocation_hooks*> detail::installed_hooks{nullptr};
constinit detail::atomic<void (*)() noexcept> detail::follow_block_hooks{nullptr};

namespace {
TENURE_OWN_THREAD_LOCAL(int, sources_untold) // how many calls of a heap to its source go on
}

void set_hooks(const allocation_hooks* hooks) noexcept {
    detail::installed_hooks.store(hooks, std::memory_order_release);
    const auto follow = detail::follow_block_hooks.load(std::memory_order_acquire);
    if (follow != nullptr && detail::tells_blocks()) follow();
}

bool detail::has_block_hooks() noexcept {
    const allocation_hooks* const hooks = installed_hooks.load(std::memory_order_acquire);
    return hooks != nullptr && (hooks->block_begin != nullptr || hooks->block_end != nullptr);
}

void detail::untold_source::change(int by) noexcept { sources_untold() += by; }
bool detail::untold_source::is_told() noexcept { return sources_untold() == 0; }

void detail::hooked_call::begin(std::string_view what, std::size_t bytes) noexcept {
    what_ = what;
    if (hooks_->call_begin != nullptr) hooks_->call_begin(what, bytes, hooks_->context);
}

void detail::hooked_call::end() const noexcept {
    if (hooks_->call_end != nullptr) hooks_->call_end(what_, hooks_->context);
}

void detail::tell_block_begin(const void* block, std::size_t bytes) noexcept {
    const allocation_hooks* const hooks = installed_hooks.load(std::memory_order_acquire);
    if (hooks == nullptr || hooks->block_begin == nullptr || block == nullptr) return;
    hooks->block_begin(block, bytes, hooks->context);
}

void detail::tell_block_end(const void* block) noexcept {
    const allocation_hooks* const hooks = installed_hooks.load(std::memory_order_acquire);
    if (hooks == nullptr || hooks->block_end == nullptr || block == nullptr) return;
    hooks->block_end(block, hooks->context);
}

}
