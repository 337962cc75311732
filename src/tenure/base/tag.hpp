// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Owner tags: allocations inside a tag_scope are counted for a name, in statistics and leak reports.
///
/// Use it for     naming subsystems ("physics", "level loader"), so that a leak report names the owner of a block.
/// Cost           a scope: four thread-local stores at each end, without a call as long as the thread opens scopes of
///                one tag after another; a name look-up if it gets a name instead of a tag. An allocation: nothing,
///                because the thread keeps the tag in a word that it writes anyway.
/// Limits         4094 names with 64 KiB of text in a process; later names count as "(other)".
/// Threads        all threads share the tags; a scope belongs to the thread that opened it.
/// Example        examples/tags.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// A registered owner name: two bytes, copied freely.
class tag {
public:
    /// No owner: the tag of allocations outside every scope.
    constexpr tag() noexcept = default;

    /// Finds or registers a name. The name is copied.
    /// Cost      a hash and a compare once the name is known; a lock the first time.
    TENURE_API static tag named(std::string_view name) noexcept;

    /// The same as named(): tag("physics").
    [[nodiscard]] explicit tag(std::string_view name) noexcept : tag(named(name)) {}

    /// "(no tag)" for the default tag.
    [[nodiscard]] TENURE_API std::string_view name() const noexcept;

    [[nodiscard]] constexpr std::uint16_t id() const noexcept { return id_; }
    /// The tag with an id from id(). Any other number is a tag without a name, for which nothing is counted.
    [[nodiscard]] static constexpr tag from_id(std::uint16_t id) noexcept { return {by_id{}, id}; }
    /// The number of tags, including the default one. Valid ids are below it.
    [[nodiscard]] TENURE_API static std::size_t count() noexcept;
    friend constexpr bool operator==(tag, tag) noexcept = default;

private:
    struct by_id {};
    constexpr tag(by_id, std::uint16_t id) noexcept : id_(id) {}
    std::uint16_t id_ = 0;
};

namespace detail {

constexpr std::uint16_t max_tags = 4096;

/// Where a header word of TempJob holds the tag.
constexpr unsigned tag_shift_in_word = 32;
constexpr std::uint64_t tag_mask_in_word = std::uint64_t{0xFFFF} << tag_shift_in_word;

/// A thread's tag, and what a change of it must change as well: TempJob keeps the tag in a prepared header word, the
/// heap has a cache for each tag, and Temp's bytes are counted for the tag until the change. A pointer is nullptr while
/// the thread has not used the part.
struct thread_tag {
    std::uint16_t id = 0;
    std::uint16_t memo_id = 0;     ///< the tag of memo_cache
    std::uint32_t open_scopes = 0; ///< counted in checked builds
    void* memo_cache = nullptr;    ///< the heap's cache for the tag set last
    void** heap_cache = nullptr;   ///< the cache in use. Compilers let a void* alias every pointer
    std::uint64_t* job_word = nullptr;
    const std::uintptr_t* temp_cursor = nullptr;
    std::uintptr_t* tagged_from = nullptr; ///< Temp's bytes up to here are counted
    void (*count_temp)(std::uint16_t id) noexcept = nullptr;
    /// Counts the second stack of Temp; nullptr while the thread has not used one.
    void (*count_second)(std::uint16_t id) noexcept = nullptr;
    void (*heap_changed)(std::uint16_t now) noexcept = nullptr; ///< finds the cache and sets the memo
};
TENURE_DECLARE_THREAD_LOCAL(thread_tag, this_thread_tag)

/// Sets the tag for Temp and TempJob.
TENURE_LOCAL inline void change_tag_of_lifetimes(thread_tag& thread, std::uint16_t now) noexcept {
    const std::uint16_t before = thread.id;
    thread.id = now;
    if (thread.job_word == nullptr) return;
    *thread.job_word = (*thread.job_word & ~tag_mask_in_word) | std::uint64_t{now} << tag_shift_in_word;
    const std::uintptr_t cursor = *thread.temp_cursor;
    if (before != 0 && cursor != *thread.tagged_from) [[unlikely]]
        thread.count_temp(before);
    *thread.tagged_from = cursor;
    if (thread.count_second != nullptr) [[unlikely]]
        thread.count_second(before);
}

/// A scope's thread and nesting depth; known in checked builds only.
class known_place {
public:
    explicit known_place(thread_tag& thread) noexcept : thread_(&thread), depth_(++thread.open_scopes) {}
    /// Whether the scope that ends now is the innermost one of this thread. Reports it otherwise.
    [[nodiscard]] TENURE_LOCAL bool end(thread_tag& thread) const noexcept {
        if (thread_ != &thread || depth_ != thread.open_scopes) [[unlikely]]
            return end_elsewhere(thread);
        --thread.open_scopes;
        return true;
    }

private:
    /// Returns   whether the tag from before the scope is to be restored.
    TENURE_API TENURE_COLD bool end_elsewhere(thread_tag& thread) const noexcept;

    const thread_tag* thread_;
    std::uint32_t depth_;
};
struct any_place {
    constexpr explicit any_place(const thread_tag&) noexcept {}
    [[nodiscard]] static constexpr bool end(const thread_tag&) noexcept { return true; }
};
using scope_place = std::conditional_t<checks::caller, known_place, any_place>;

TENURE_LOCAL inline void change_tag(std::uint16_t now) noexcept {
    thread_tag& thread = this_thread_tag();
    change_tag_of_lifetimes(thread, now);
    if (thread.heap_cache == nullptr) return;
    if (thread.memo_id == now && thread.memo_cache != nullptr) [[likely]] {
        *thread.heap_cache = thread.memo_cache;
    } else {
        thread.heap_changed(now);
    }
}

}

/// The calling thread's tag.
[[nodiscard]] TENURE_LOCAL inline tag current_tag() noexcept { return tag::from_id(detail::this_thread_tag().id); }

/// Sets the calling thread's tag until the end of the scope. Scopes nest and end in reverse order, on the thread where
/// they began. Checked builds report a scope that ends on another thread, and leave the tags of both as they are. They
/// report one that ends before a scope inside it, and end both: the tag is the one from before the outer scope. Builds
/// without checks set the tag from before the scope that ends, even if that tag's own scope has ended: the thread may
/// keep it.
class [[nodiscard]] tag_scope {
public:
    [[nodiscard]] TENURE_LOCAL explicit tag_scope(tag owner) noexcept
        : before_(detail::this_thread_tag().id), place_(detail::this_thread_tag()),
          cache_before_(detail::this_thread_tag().heap_cache != nullptr ? *detail::this_thread_tag().heap_cache
                                                                        : nullptr) {
        detail::change_tag(owner.id());
    }
    [[nodiscard]] TENURE_LOCAL explicit tag_scope(std::string_view name) noexcept : tag_scope(tag::named(name)) {}
    TENURE_LOCAL ~tag_scope() {
        detail::thread_tag& thread = detail::this_thread_tag();
        if (!place_.end(thread)) return;
        if (thread.heap_cache == nullptr || cache_before_ == nullptr) [[unlikely]] {
            detail::change_tag(before_);
        } else {
            detail::change_tag_of_lifetimes(thread, before_);
            *thread.heap_cache = cache_before_;
        }
    }
    tag_scope(const tag_scope&) = delete;
    tag_scope& operator=(const tag_scope&) = delete;

private:
    std::uint16_t before_;
    [[no_unique_address]] detail::scope_place place_;
    void* cache_before_; // of the heap; nullptr if the thread had none
};

}
