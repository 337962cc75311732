// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Owner tags: allocations inside a tag_scope belong to a name, for statistics and leak reports.
///
/// Use it for     naming subsystems ("physics", "level loader") so that a leak report says whose block it is.
/// Cost           a scope: two thread-local stores, and a name look-up when it is given a name instead of a tag;
///                an allocation: nothing, because its thread keeps the tag ready in the word it writes anyway.
/// Limits         4094 names of 64 KiB together in a process; later ones count as "(other)".
/// Threads        tags are shared by all threads; a scope belongs to the thread that opened it.
/// Example        examples/tags.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// A registered owner name: two bytes, copied freely.
class tag {
public:
    /// No owner: what allocations outside every scope have.
    constexpr tag() noexcept = default;

    /// Finds or registers a name. The name is copied.
    /// Cost      a hash and a compare once the name is known; a lock the first time.
    TENURE_API static tag named(std::string_view name) noexcept;

    /// "(no tag)" for the default tag.
    [[nodiscard]] TENURE_API std::string_view name() const noexcept;

    [[nodiscard]] constexpr std::uint16_t id() const noexcept { return id_; }
    /// The tag with an id that id() gave. Any other number is a tag without a name, of which nothing is counted.
    [[nodiscard]] static constexpr tag from_id(std::uint16_t id) noexcept { return tag{id}; }
    /// How many there are, the default one among them: their ids are the numbers below.
    [[nodiscard]] TENURE_API static std::size_t count() noexcept;
    friend constexpr bool operator==(tag, tag) noexcept = default;

private:
    explicit constexpr tag(std::uint16_t id) noexcept : id_(id) {}
    std::uint16_t id_ = 0;
};

namespace detail {

constexpr std::uint16_t max_tags = 4096;

/// What a thread's tag is, and who wants to hear when it changes: TempJob keeps it in a ready-made header word, the
/// heap has pages for each.
struct thread_tag {
    std::uint16_t id = 0;
    void (*changed)(std::uint16_t before, std::uint16_t now) noexcept = nullptr;
    void (*heap_changed)(std::uint16_t now) noexcept = nullptr;
};
extern TENURE_API TENURE_THREAD_LOCAL thread_tag current_tag TENURE_TLS_MODEL;

TENURE_LOCAL inline void change_tag(std::uint16_t now) noexcept {
    std::uint16_t const before = current_tag.id;
    current_tag.id = now;
    if (current_tag.changed != nullptr) current_tag.changed(before, now);
    if (current_tag.heap_changed != nullptr) current_tag.heap_changed(now);
}

}

/// The calling thread's tag.
[[nodiscard]] TENURE_LOCAL inline tag current_tag() noexcept { return tag::from_id(detail::current_tag.id); }

/// Sets the calling thread's tag until the end of the scope. Scopes nest.
class [[nodiscard]] tag_scope {
public:
    TENURE_LOCAL explicit tag_scope(tag owner) noexcept : before_(detail::current_tag.id) {
        detail::change_tag(owner.id());
    }
    TENURE_LOCAL explicit tag_scope(std::string_view name) noexcept : tag_scope(tag::named(name)) {}
    TENURE_LOCAL ~tag_scope() { detail::change_tag(before_); }
    tag_scope(const tag_scope&) = delete;
    tag_scope& operator=(const tag_scope&) = delete;

private:
    std::uint16_t before_;
};

}
