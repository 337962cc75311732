// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <atomic>

#include <tenure/base/hooks.hpp>

#include <tenure/base/options.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::atomic<const allocation_hooks*> detail::installed_hooks{nullptr};

void set_hooks(const allocation_hooks* hooks) noexcept {
    const bool has_blocks = hooks != nullptr && (hooks->block_begin != nullptr || hooks->block_end != nullptr);
    if (has_blocks) static_cast<void>(set_option(option::passthrough, all_parts));
    detail::installed_hooks.store(hooks, std::memory_order_release);
}

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
