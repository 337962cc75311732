// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The homes of all owners: base/owner_home.hpp. Their pages are never returned, so a late look at a home is safe.

#include <cstddef>
#include <new>

#include <tenure/base/owner_home.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// In builds without checks, a pointer that outlives its owner finds that the home has no owner, unless so many owners
// have ended since.
constexpr std::size_t rest_count = 256;

struct homes {
    platform::mutex mutex; // guards everything
    owner_home* first_ended = nullptr;
    owner_home* last_ended = nullptr;
    std::size_t ended_count = 0;
    owner_home* fresh = nullptr; // never used, up to `fresh_end`
    owner_home* fresh_end = nullptr;
};
constinit homes all{};

constexpr platform::fork_steps steps =
    platform::steps_of_lock<[](void*) noexcept -> platform::mutex& { return all.mutex; }>;
constinit platform::fork_handler fork_of_homes{platform::fork_order::leaf, nullptr, steps};

owner_home* reuse_ended() noexcept {
    owner_home* const home = all.first_ended;
    if (home == nullptr) return nullptr;
    all.first_ended = home->next;
    if (all.first_ended == nullptr) all.last_ended = nullptr;
    --all.ended_count;
    return home;
}

owner_home* find_unused() noexcept {
    // Checked builds report every late pointer, so they reuse a home only without memory for another.
    if (!checks::caller && all.ended_count > rest_count) return reuse_ended();
    if (all.fresh == all.fresh_end) {
        const std::size_t bytes = platform::page_bytes();
        auto* const page = static_cast<owner_home*>(platform::map(bytes, alignof(owner_home)));
        if (page == nullptr) return reuse_ended();
        all.fresh = page;
        all.fresh_end = page + bytes / sizeof(owner_home);
    }
    return ::new (all.fresh++) owner_home{};
}

}

owner_home* make_home(atomic<owner_home*>& place, void* owner, const char* part) noexcept {
    fork_of_homes.enlist();
    const platform::lock_guard lock(all.mutex);
    if (owner_home* const present = place.load(memory_order::relaxed); present != nullptr) return present;
    owner_home* const home = find_unused();
    if (home == nullptr) return nullptr;
    *home = {owner, part, nullptr};
    place.store(home, memory_order::release);
    return home;
}

void end_home(owner_home& home) noexcept {
    const platform::lock_guard lock(all.mutex);
    home.owner = nullptr;
    (all.last_ended != nullptr ? all.last_ended->next : all.first_ended) = &home;
    all.last_ended = &home;
    ++all.ended_count;
}

}
