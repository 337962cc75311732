// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The ready-made affinity groups of a process, and a base class whose `new` and `delete` use one of them.
///
/// Any thread may use the groups, and they are never destroyed. By default they record where objects begin and place
/// objects of all sizes together, in blocks of 2 MiB. Before its first object, a group can be configured by the
/// environment (TENURE_AFFINITY_BLOCK, _ALIGNMENT, _BY_SIZE, _SIZE_REQUIRED, _HUGE_PAGES, for all four groups) or by
/// affinity_group::configure(), and replaced with another allocator by affinity_group::replace_with().

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

enum class ready_made_group : std::uint8_t { objects, data, nodes, physics };

/// The groups that exist so far. They are created by their first use and never destroyed: objects of static duration
/// may be deleted after everything else.
// make_ready() releases each with its group, under a lock; ready_made() acquires it.
extern TENURE_API constinit atomic<affinity_group*> ready_made_groups[4];
[[nodiscard]] TENURE_API affinity_group& make_ready(ready_made_group which) noexcept;

TENURE_LOCAL inline affinity_group& ready_made(ready_made_group which) noexcept {
    affinity_group* const made = ready_made_groups[static_cast<std::size_t>(which)].load(memory_order::acquire);
    return made != nullptr ? *made : make_ready(which);
}

}

/// Four groups for objects that are seldom visited together, after VulkanSceneGraph's allocator affinities.
/// Threads   any.
namespace affinities {
/// Objects that fit none of the other groups, at multiples of 8.
[[nodiscard]] inline affinity_group& objects() noexcept {
    return detail::ready_made(detail::ready_made_group::objects);
}
/// Arrays and other data that nodes point to, at multiples of 16.
[[nodiscard]] inline affinity_group& data() noexcept { return detail::ready_made(detail::ready_made_group::data); }
/// Objects that a traversal visits, at multiples of 8.
[[nodiscard]] inline affinity_group& nodes() noexcept { return detail::ready_made(detail::ready_made_group::nodes); }
/// Objects of a physics engine, at multiples of 16, as PhysX requires.
[[nodiscard]] inline affinity_group& physics() noexcept {
    return detail::ready_made(detail::ready_made_group::physics);
}
}

/// Base class that places objects in a group: `class node : public affinity_object<affinities::nodes>`.
///
/// Throws std::bad_alloc when out of memory; the nothrow forms return nullptr. To delete a derived object through a
/// base pointer, the base needs a virtual destructor, as always. std::make_shared does not use the class's operators;
/// use std::allocate_shared with an stl_allocator over the group.
/// With size_on_free::required, an object whose constructor throws stays allocated and is reported, if the language
/// passes no size to its delete.
template<affinity_group& (*Group)()>
class affinity_object {
public:
    TENURE_LOCAL static void* operator new(std::size_t bytes) {
        return or_throw(Group().allocate(bytes, plain_alignment(bytes)));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes) {
        return or_throw(Group().allocate(bytes, array_alignment(bytes)));
    }
    TENURE_LOCAL static void* operator new(std::size_t bytes, std::align_val_t alignment) {
        return or_throw(Group().allocate(bytes, static_cast<std::size_t>(alignment)));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes, std::align_val_t alignment) {
        return or_throw(Group().allocate(bytes, static_cast<std::size_t>(alignment)));
    }
    TENURE_LOCAL static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
        return Group().allocate(bytes, plain_alignment(bytes));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
        return Group().allocate(bytes, array_alignment(bytes));
    }
    TENURE_LOCAL static void* operator new(std::size_t bytes, std::align_val_t alignment,
                                           const std::nothrow_t&) noexcept {
        return Group().allocate(bytes, static_cast<std::size_t>(alignment));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                             const std::nothrow_t&) noexcept {
        return Group().allocate(bytes, static_cast<std::size_t>(alignment));
    }
    TENURE_LOCAL static void* operator new(std::size_t, void* place) noexcept { return place; }
    TENURE_LOCAL static void* operator new[](std::size_t, void* place) noexcept { return place; }

    TENURE_LOCAL static void operator delete(void* object, std::size_t bytes) noexcept {
        Group().deallocate(object, bytes);
    }
    TENURE_LOCAL static void operator delete[](void* object, std::size_t bytes) noexcept {
        Group().deallocate(object, bytes);
    }
    TENURE_LOCAL static void operator delete(void* object, std::size_t bytes, std::align_val_t alignment) noexcept {
        Group().deallocate(object, bytes, static_cast<std::size_t>(alignment));
    }
    TENURE_LOCAL static void operator delete[](void* object, std::size_t bytes, std::align_val_t alignment) noexcept {
        Group().deallocate(object, bytes, static_cast<std::size_t>(alignment));
    }
    // Called when a constructor throws in a form of new for which the language passes no size. They are templates,
    // because every aligned delete would choose a plain function of this form.
    template<std::same_as<std::align_val_t> Alignment>
    TENURE_LOCAL static void operator delete(void* object, Alignment) noexcept {
        Group().deallocate(object);
    }
    template<std::same_as<std::align_val_t> Alignment>
    TENURE_LOCAL static void operator delete[](void* object, Alignment) noexcept {
        Group().deallocate(object);
    }
    TENURE_LOCAL static void operator delete(void* object, const std::nothrow_t&) noexcept {
        Group().deallocate(object);
    }
    TENURE_LOCAL static void operator delete[](void* object, const std::nothrow_t&) noexcept {
        Group().deallocate(object);
    }
    TENURE_LOCAL static void operator delete(void* object, std::align_val_t, const std::nothrow_t&) noexcept {
        Group().deallocate(object);
    }
    TENURE_LOCAL static void operator delete[](void* object, std::align_val_t, const std::nothrow_t&) noexcept {
        Group().deallocate(object);
    }
    TENURE_LOCAL static void operator delete(void*, void*) noexcept {}
    TENURE_LOCAL static void operator delete[](void*, void*) noexcept {}

protected:
    affinity_object() = default;
    affinity_object(const affinity_object&) = default;
    affinity_object& operator=(const affinity_object&) = default;
    ~affinity_object() = default;

private:
    /// The alignment that a plain `new` may expect: types that need 16 have sizes that are multiples of 16, and those
    /// that need 8 multiples of 8. The group may have an alignment of 4.
    [[nodiscard]] static constexpr std::size_t plain_alignment(std::size_t bytes) noexcept {
        if (bytes % default_alignment == 0) return default_alignment;
        return bytes % 8 == 0 ? 8 : 1;
    }
    /// The same for an array, in front of which there may be its length.
    [[nodiscard]] static constexpr std::size_t array_alignment(std::size_t bytes) noexcept {
        return bytes % default_alignment == 0 ? default_alignment : 8;
    }
    [[nodiscard]] static void* or_throw(void* object) {
        if (object == nullptr) [[unlikely]]
            throw_bad_alloc();
        return object;
    }
};

}
