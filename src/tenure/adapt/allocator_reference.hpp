// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How adaptors refer to their allocator: by pointer, or by nothing at all if the allocator type is stateless. A
/// deleter refers to an allocator that can move by its home, which does not: base/owner_home.hpp.

#include <concepts>
#include <type_traits>

#include <tenure/base/allocator.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// For an allocator with state: a pointer. Requires  the allocator outlives every copy.
template<allocator A>
class allocator_reference {
public:
    allocator_reference(A& referred) noexcept : referred_(&referred) {} // NOLINT: implicit, as a reference is
    [[nodiscard]] A& get() const noexcept { return *referred_; }
    /// Whether the allocator is still there; if not, it was reported.
    [[nodiscard]] constexpr bool check_present() const noexcept { return true; }
    friend bool operator==(const allocator_reference&, const allocator_reference&) noexcept = default;

private:
    A* referred_;
};

/// The same in checked builds, for an allocator that can move: it also knows the allocator's home, and so notices that
/// the allocator left the address.
template<allocator A>
requires(checks::caller&& has_home<A>) class allocator_reference<A> {
public:
    allocator_reference(A& referred) noexcept // NOLINT: implicit, as a reference is
        : referred_(&referred), home_(referred.unmoved_home()), former_(home_ != nullptr ? home_->owner : nullptr) {}
    [[nodiscard]] A& get() const noexcept { return *referred_; }
    [[nodiscard]] bool check_present() const noexcept {
        if (home_ == nullptr || home_->owner == former_) return true;
        home_->report_left(former_);
        return false;
    }
    friend bool operator==(const allocator_reference& left, const allocator_reference& right) noexcept {
        return left.referred_ == right.referred_;
    }

private:
    A* referred_;
    const owner_home* home_; ///< nullptr if there was no memory for one
    const void* former_;
};

/// For temp, temp_job and other stateless allocators: empty, because every object is the same allocator.
template<allocator A>
requires std::is_empty_v<A> && std::default_initializable<A>
class allocator_reference<A> {
public:
    allocator_reference() noexcept = default;
    allocator_reference(A&) noexcept {} // NOLINT: implicit, as a reference is
    [[nodiscard]] A get() const noexcept { return {}; }
    [[nodiscard]] constexpr bool check_present() const noexcept { return true; }
    friend bool operator==(const allocator_reference&, const allocator_reference&) noexcept { return true; }
};

template<class A>
concept stateless_allocator = allocator<A> && std::is_empty_v<A> && std::default_initializable<A>;

struct no_reference {
    constexpr no_reference() noexcept = default;
    constexpr explicit no_reference(const void*) noexcept {}
};

/// How a deleter refers to its allocator: by pointer, or by nothing if that has no state. A deleter without an
/// allocator is that of an empty pointer.
template<allocator A>
class deleter_reference {
public:
    constexpr deleter_reference() noexcept = default;
    deleter_reference(A& from) noexcept : from_(&from) {} // NOLINT: implicit, as a reference is
    /// Whether objects may be made with this deleter.
    [[nodiscard]] static constexpr bool is_usable() noexcept { return true; }
    /// Calls `free(allocator)`, where an object is destroyed.
    template<class Free>
    TENURE_LOCAL void use(const void* object, Free&& free) const noexcept {
        if constexpr (stateless_allocator<A>) {
            A from{};
            free(from);
        } else {
            if (checks::caller && from_ == nullptr) [[unlikely]]
                return report_without_owner(object);
            free(*from_);
        }
    }

private:
    [[no_unique_address]] std::conditional_t<stateless_allocator<A>, no_reference, A*> from_{};
};

/// For an allocator that can move: a pointer to its home, which says where it is.
template<allocator A>
requires(has_home<A>) class deleter_reference<A> {
public:
    constexpr deleter_reference() noexcept = default;
    deleter_reference(A& from) noexcept : home_(from.unmoved_home()) {} // NOLINT: implicit, as a reference is
    /// False when there is no memory for the home.
    [[nodiscard]] bool is_usable() const noexcept { return home_ != nullptr; }
    /// After the allocator's end its memory is gone, also that of `object`: checked builds report it, others do
    /// nothing.
    template<class Free>
    TENURE_LOCAL void use(const void* object, Free&& free) const noexcept {
        if (home_ == nullptr) [[unlikely]]
            return checks::caller ? report_without_owner(object) : void();
        auto* const from = static_cast<typename A::home_owner*>(home_->owner);
        if (from == nullptr) [[unlikely]]
            return checks::caller ? home_->report_outlived(object) : void();
        free(*from);
    }

private:
    owner_home* home_ = nullptr;
};

}
