// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// sole_user: detects two threads that call one object at the same time, where the object is for one thread at a time.
/// Arenas, pools, groups, offset allocators and stable_vectors have one in checked builds; in other builds it is empty.
///
/// A call notes its thread when it begins, and removes the note when it ends. A call that finds another thread's note,
/// or whose own note is gone when it ends, overlaps with another call. Calls that a lock separates, and an object that
/// is handed to another thread with synchronisation, are never reported: the note is written and read in the order that
/// the lock guarantees. Calls that do not overlap are not detected, although they may lack that order. To make overlap
/// likely, the first calls after a change of thread last a few microseconds longer.
///
/// The accesses are relaxed atomics: they create no order between threads, so ThreadSanitizer still sees the race.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// What a report says about the object.
struct sole_use {
    std::string_view part;   ///< "arena"
    std::string_view advice; ///< what to use instead; a sentence
};

class checked_sole_call;

class TENURE_API checked_sole_user {
public:
    constexpr checked_sole_user() noexcept = default;
    // A copy belongs to another object, which no thread has called yet.
    constexpr checked_sole_user(const checked_sole_user&) noexcept {}
    checked_sole_user& operator=(const checked_sole_user&) noexcept { return *this; }

private:
    friend class checked_sole_call;
    /// Notes a change of thread, and waits to make an overlap likely.
    TENURE_COLD void change_thread(std::uint64_t now) noexcept;
    /// Returns   false, for the caller to pass on.
    TENURE_COLD bool report(const sole_use& use, const void* object) const noexcept;

    // Relaxed: notes to find an overlap with. They order nothing, so that they hide no race from other tools.
    atomic<std::uint64_t> inside_;     ///< number of the thread whose call is in progress; zero: none
    atomic<std::uint64_t> latest_;     ///< number of the thread that called last
    atomic<std::uint32_t> latest_id_;  ///< the same thread, as the system names it
    atomic<std::uint32_t> wait_count_; ///< changes of thread that waited
};

/// A call that changes the object. A call inside another one of the same thread is allowed: for_each() calls functions
/// that free.
class TENURE_API checked_sole_call {
public:
    TENURE_LOCAL checked_sole_call(checked_sole_user& user, const sole_use& use, const void* object,
                                   bool is_locked = false) noexcept;
    TENURE_LOCAL ~checked_sole_call();
    checked_sole_call(const checked_sole_call&) = delete;
    checked_sole_call& operator=(const checked_sole_call&) = delete;

    /// Whether the call may go on. Otherwise it was reported and must change nothing.
    [[nodiscard]] explicit operator bool() const noexcept { return is_allowed_; }

private:
    checked_sole_user* user_ = nullptr; ///< set if this call made the note
    const sole_use& use_;
    const void* object_;
    bool is_allowed_ = true;
};

/// `is_locked`: a lock of the library separates the calls, so nothing is noted.
inline checked_sole_call::checked_sole_call(checked_sole_user& user, const sole_use& use, const void* object,
                                            bool is_locked) noexcept
    : use_(use), object_(object) {
    if (is_locked) return;
    const std::uint64_t mine = platform::this_thread_number();
    const std::uint64_t inside = user.inside_.load(memory_order::relaxed);
    if (inside == 0) [[likely]] {
        user_ = &user;
        user.inside_.store(mine, memory_order::relaxed);
        if (user.latest_.load(memory_order::relaxed) != mine) [[unlikely]]
            user.change_thread(mine);
    } else if (inside != mine) [[unlikely]] {
        is_allowed_ = user.report(use, object);
    }
}

inline checked_sole_call::~checked_sole_call() {
    if (user_ == nullptr) return;
    // Two calls that began at the same moment have both found no note: the later note replaced the other.
    if (user_->inside_.load(memory_order::relaxed) != platform::this_thread_number()) [[unlikely]]
        user_->report(use_, object_);
    else
        user_->inside_.store(0, memory_order::relaxed);
}

/// Replaces the two in builds without checks.
struct unchecked_sole_user {};
struct unchecked_sole_call {
    constexpr unchecked_sole_call(unchecked_sole_user&, const sole_use&, const void*, bool = false) noexcept {}
    ~unchecked_sole_call() = default;
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return true; }
};

using sole_user = std::conditional_t<checks::caller, checked_sole_user, unchecked_sole_user>;
using sole_call = std::conditional_t<checks::caller, checked_sole_call, unchecked_sole_call>;

}
