// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/budget_source.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace tenure::inline TENURE_ABI {

namespace detail {
TENURE_DEFINE_THREAD_LOCAL(attempt_state, this_attempt)
}

/// Counts the bytes before they are acquired, so that threads that ask at the same moment do not exceed the limit.
bool budget_source::charge(std::size_t bytes) noexcept {
    std::size_t before = used_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limits_.limit_bytes || before > limits_.limit_bytes - bytes) {
            if (auto& attempt = detail::this_attempt(); attempt.depth != 0) {
                attempt.refused_by = this;
                attempt.used_bytes = before;
                attempt.requested_bytes = bytes;
            } else {
                refuse(before, bytes);
            }
            return false;
        }
    } while (!used_bytes_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return true;
}

/// What was charged has been acquired.
void budget_source::confirm(std::size_t bytes) noexcept {
    const std::size_t now = confirmed_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (peak < now && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
    if (now - bytes <= limits_.threshold_bytes && now > limits_.threshold_bytes)
        tell(budget_event::kind::threshold, now, bytes);
}

/// What was confirmed has been released.
void budget_source::forget(std::size_t bytes) noexcept {
    confirmed_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    refund(bytes);
}

void budget_source::refund(std::size_t bytes) noexcept { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

void budget_source::tell(budget_event::kind what, std::size_t used, std::size_t requested) const noexcept {
    if (limits_.handler != nullptr)
        limits_.handler({what, name_, used, requested, limits_.threshold_bytes, limits_.limit_bytes}, limits_.context);
}

void budget_source::refuse(std::size_t used, std::size_t requested) noexcept {
    refused_count_.fetch_add(1, std::memory_order_relaxed);
    tell(budget_event::kind::refusal, used, requested);
}

void detail::allocation_attempt::tell() noexcept {
    const attempt_state refused = std::exchange(this_attempt(), {}); // first: the handler may allocate
    refused.refused_by->refuse(refused.used_bytes, refused.requested_bytes);
}

void* budget_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    if (!charge(bytes)) return nullptr;
    void* const block = behind_.acquire(bytes, alignment);
    block != nullptr ? confirm(bytes) : refund(bytes);
    return block;
}

void budget_source::release(void* block, std::size_t bytes) noexcept {
    behind_.release(block, bytes);
    forget(bytes);
}

bool budget_source::extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes <= old_bytes) return behind_.extend(block, old_bytes, new_bytes); // asks what the source can do
    if (!charge(new_bytes - old_bytes)) return false;
    const bool done = behind_.extend(block, old_bytes, new_bytes);
    done ? confirm(new_bytes - old_bytes) : refund(new_bytes - old_bytes);
    return done;
}

void* budget_source::remap(void* block, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    const std::size_t more = new_bytes > old_bytes ? new_bytes - old_bytes : 0;
    if (more != 0 && !charge(more)) return nullptr;
    void* const moved = behind_.remap(block, old_bytes, new_bytes, alignment);
    if (moved == nullptr)
        refund(more);
    else if (new_bytes < old_bytes)
        forget(old_bytes - new_bytes);
    else if (more != 0)
        confirm(more);
    return moved;
}

bool budget_source::shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (!behind_.shrink(block, old_bytes, new_bytes)) return false;
    forget(old_bytes - new_bytes);
    return true;
}

std::size_t budget_source::max_bytes() const noexcept { return std::min(behind_.max_bytes(), limits_.limit_bytes); }

}
