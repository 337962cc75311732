// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/vector_checks.hpp>

#include <tenure/base/align.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/detail/pool_leaks.hpp>

namespace tenure::inline TENURE_ABI::detail {

constinit const sole_use one_thread_in_vector{
    "stable_vector", "A stable_vector serves one thread at a time: hold a lock during every call that changes it."};

void vector_parts::enlist(std::size_t element_bytes, const char* type) const noexcept {
    static constexpr holder_kind as_holder{
        "stable_vector", sizeof(vector_parts),
        [](const void* holder) noexcept { return mixed(1, static_cast<const vector_parts*>(holder)->max_count_); },
        [](const void* holder, const holder_facts& facts, held_list& to) noexcept {
            const auto& held = *static_cast<const vector_parts*>(holder);
            // Other members may have been overwritten alone.
            const bool is_whole = held.size_ <= held.capacity_ && held.capacity_ <= held.max_count_;
            if (!is_whole) return to.add_lost("stable_vector", holder);
            add_pool(to, "stable_vector of ", facts.block_bytes, facts.type, held.size_);
        }};
    add_holder(this, as_holder, element_bytes);
    if (type != nullptr) name_holder(this, type);
}

bool vector_parts::commit(std::size_t count, std::size_t element_bytes, std::size_t alignment) noexcept {
    constexpr std::size_t guard_bytes = tail_guard_bytes; // zero without checks
    if (count > max_count_ || max_count_ > max_object_bytes / element_bytes) return false;
    const std::size_t before = range_.committed_bytes();
    if (!range_.grow(count * element_bytes + guard_bytes, max_count_ * element_bytes + guard_bytes, alignment))
        return false;
    if constexpr (checks::caller) {
        poison_vector_rest(range_.begin() + before, range_.committed_bytes() - before);
        if (before == 0) close_vector_tail(range_.begin());
    }
    capacity_ = min_of((range_.committed_bytes() - guard_bytes) / element_bytes, max_count_);
    return true;
}

void check_vector_tail(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::uintptr_t guard_end = end + tail_guard_bytes;
    if (is_tail_guard_whole(end, guard_end)) [[likely]]
        return;
    report_tail_guard("stable_vector", begin, end - begin, guard_end, behind_guard::nothing);
}

void open_vector_tail(std::uintptr_t end, std::size_t bytes) noexcept { platform::unpoison(pointer_at(end), bytes); }

void close_vector_tail(std::uintptr_t end) noexcept { set_tail_guard(end, end + tail_guard_bytes); }

void shorten_vector(std::uintptr_t end, std::size_t bytes) noexcept {
    platform::poison_dropped(pointer_at(end), bytes);
    close_vector_tail(end);
}

void poison_vector_rest(std::uintptr_t begin, std::size_t bytes) noexcept {
    platform::poison(pointer_at(begin), bytes);
}

}
