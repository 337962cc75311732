// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// owner_home: where an owner of memory is now. Owners move, and what refers to them stays: a tenure::unique keeps the
/// address of its owner's home, which does not move, and each move of the owner writes the new address into it.
///
/// An owner gets its home with its first unique pointer; in checked builds also with its first container. The homes are
/// the process's, 170 to an OS page. A home stays readable after its owner's end. It is used again after 256 others
/// have ended; in checked builds only when there is no memory for another.

#include <concepts>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct owner_home {
    void* owner;      ///< nullptr after its end
    const char* part; ///< "pool", for reports
    owner_home* next; ///< the next unused one

    /// Reports an object that a unique pointer frees after its owner's end.
    TENURE_API TENURE_COLD void report_outlived(const void* object) const noexcept;
    /// Reports a container that uses its allocator, once at `former`, after the allocator's move or end.
    TENURE_API TENURE_COLD void report_left(const void* former) const noexcept;
};

/// Reports an object of a unique pointer that has no owner: made by its default constructor, and then given the object.
TENURE_API TENURE_COLD void report_without_owner(const void* object) noexcept;

/// The home of the owner whose link is `place`, made if it has none. Returns   nullptr when out of memory.
/// Cost      a lock, and now and then an OS page. Threads   any. platform/ defines it and end_home().
[[nodiscard]] TENURE_API owner_home* make_home(atomic<owner_home*>& place, void* owner, const char* part) noexcept;
TENURE_API void end_home(owner_home& home) noexcept;

/// An owner's link to its home: a member.
class owner_link {
public:
    constexpr owner_link() noexcept = default;
    constexpr owner_link(const owner_link&) noexcept {} // a copy is of another owner
    owner_link& operator=(const owner_link&) = delete;
    ~owner_link() {
        if (owner_home* const home = home_.load(memory_order::relaxed); home != nullptr) [[unlikely]]
            end_home(*home);
    }

    [[nodiscard]] owner_home* of(void* owner, const char* part) noexcept {
        owner_home* const home = home_.load(memory_order::acquire); // make_home() releases it with its contents
        return home != nullptr ? home : make_home(home_, owner, part);
    }
    /// The owner that has this link is now at `owner`. Requires  no other thread uses it meanwhile.
    void moved_to(void* owner) noexcept {
        if (owner_home* const home = home_.load(memory_order::relaxed); home != nullptr) home->owner = owner;
    }
    /// Takes over the home of an owner that moves to `owner`. Requires  this link has none.
    void take(owner_link& other, void* owner) noexcept {
        home_.store(other.home_.exchange(nullptr, memory_order::relaxed), memory_order::relaxed);
        moved_to(owner);
    }

private:
    // Released with its contents, of() acquires; relaxed where no other thread may use the owner.
    atomic<owner_home*> home_{nullptr};
};

/// An allocator that has a home. `home_owner` is the type behind owner_home::owner.
template<class A>
concept has_home = requires(A& a) {
    typename A::home_owner;
    { a.unmoved_home() }
    noexcept->std::same_as<owner_home*>;
};

}
