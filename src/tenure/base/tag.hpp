// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Owner tags: allocations inside a tag_scope are counted for a name, in statistics and leak reports.
///
/// Use it for     naming subsystems ("physics", "level loader"), so that a leak report names the owner of a block.
/// Cost           a scope: two thread-local stores, plus a name look-up if it gets a name instead of a tag. An
///                allocation: nothing, because the thread keeps the tag in a word that it writes anyway.
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

    /// "(no tag)" for the default tag.
    [[nodiscard]] TENURE_API std::string_view name() const noexcept;

    [[nodiscard]] constexpr std::uint16_t id() const noexcept { return id_; }
    /// The tag with an id from id(). Any other number is a tag without a name, for which nothing is counted.
    [[nodiscard]] static constexpr tag from_id(std::uint16_t id) noexcept { return tag{id}; }
    /// The number of tags, including the default one. Valid ids are below it.
    [[nodiscard]] TENURE_API static std::size_t count() noexcept;
    friend constexpr bool operator==(tag, tag) noexcept = default;

private:
    explicit constexpr tag(std::uint16_t id) noexcept : id_(id) {}
    std::uint16_t id_ = 0;
};

namespace detail {

constexpr std::uint16_t max_tags = 4096;

/// A thread's tag, and the functions to call when it changes: TempJob keeps the tag in a prepared header word, the heap
/// has separate pages for each tag.
struct thread_tag {
    std::uint16_t id = 0;
    void (*changed)(std::uint16_t before, std::uint16_t now) noexcept = nullptr;
    void (*heap_changed)(std::uint16_t now) noexcept = nullptr;
};
extern TENURE_API TENURE_THREAD_LOCAL thread_tag current_tag TENURE_TLS_MODEL;

/// The thread on which a scope began; known in checked builds only.
struct known_thread {
    const void* address;
    [[nodiscard]] bool is(const void* thread) const noexcept { return address == thread; }
};
struct any_thread {
    constexpr explicit any_thread(const void*) noexcept {}
    [[nodiscard]] static constexpr bool is(const void*) noexcept { return true; }
};
using scope_thread = std::conditional_t<checks::caller, known_thread, any_thread>;

/// Reports a tag_scope that ended on another thread.
TENURE_API TENURE_COLD void report_tag_scope_of_other_thread() noexcept;

TENURE_LOCAL inline void change_tag(std::uint16_t now) noexcept {
    const std::uint16_t before = current_tag.id;
    current_tag.id = now;
    if (current_tag.changed != nullptr) current_tag.changed(before, now);
    if (current_tag.heap_changed != nullptr) current_tag.heap_changed(now);
}

}

/// The calling thread's tag.
[[nodiscard]] TENURE_LOCAL inline tag current_tag() noexcept { return tag::from_id(detail::current_tag.id); }

/// Sets the calling thread's tag until the end of the scope. Scopes nest. A scope ends on the thread where it began;
/// checked builds report another thread, and leave the tags of both as they are.
class [[nodiscard]] tag_scope {
public:
    TENURE_LOCAL explicit tag_scope(tag owner) noexcept
        : before_(detail::current_tag.id), thread_{&detail::current_tag} {
        detail::change_tag(owner.id());
    }
    TENURE_LOCAL explicit tag_scope(std::string_view name) noexcept : tag_scope(tag::named(name)) {}
    TENURE_LOCAL ~tag_scope() {
        if constexpr (checks::caller) {
            if (!thread_.is(&detail::current_tag)) {
                detail::report_tag_scope_of_other_thread();
                return;
            }
        }
        detail::change_tag(before_);
    }
    tag_scope(const tag_scope&) = delete;
    tag_scope& operator=(const tag_scope&) = delete;

private:
    std::uint16_t before_;
    [[no_unique_address]] detail::scope_thread thread_;
};

}
