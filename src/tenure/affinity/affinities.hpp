// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The ready-made affinity groups of a process, and a base class whose `new` and `delete` use one of them.
///
/// Any thread may use the groups. They record where objects begin, and they are never destroyed. A program may set
/// their block size (TENURE_AFFINITY_BLOCK, or affinity_group::set_block_bytes() before the first object) and replace
/// any of them with its own allocator (affinity_group::replace_with()).

#include <concepts>
#include <cstddef>
#include <new>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Four groups for objects that are seldom visited together, after VulkanSceneGraph's allocator affinities.
/// Threads   any.
namespace affinities {
/// Objects that fit none of the other groups, at multiples of 8.
[[nodiscard]] TENURE_API affinity_group& objects() noexcept;
/// Arrays and other data that nodes point to, at multiples of 16.
[[nodiscard]] TENURE_API affinity_group& data() noexcept;
/// Objects that a traversal visits, at multiples of 8.
[[nodiscard]] TENURE_API affinity_group& nodes() noexcept;
/// Objects of a physics engine, at multiples of 16, as PhysX requires.
[[nodiscard]] TENURE_API affinity_group& physics() noexcept;
}

/// Base class that places objects in a group: `class node : public affinity_object<affinities::nodes>`.
///
/// Throws std::bad_alloc when out of memory; the nothrow forms return nullptr. To delete a derived object through a
/// base pointer, the base needs a virtual destructor, as always. std::make_shared does not use the class's operators;
/// use std::allocate_shared with an stl_allocator over the group.
/// Requires  the group uses size_on_free::optional: when a constructor throws, some forms of delete receive no size.
template<affinity_group& (*Group)()>
class affinity_object {
public:
    TENURE_LOCAL static void* operator new(std::size_t bytes) {
        return or_throw(Group().allocate(bytes, plain_alignment(bytes)));
    }
    TENURE_LOCAL static void* operator new[](std::size_t bytes) {
        return or_throw(Group().allocate(bytes, plain_alignment(bytes)));
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
        return Group().allocate(bytes, plain_alignment(bytes));
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
    /// The alignment that a plain `new` may expect: types that need 16 have sizes that are multiples of 16.
    [[nodiscard]] static constexpr std::size_t plain_alignment(std::size_t bytes) noexcept {
        return bytes % default_alignment == 0 ? default_alignment : 1;
    }
    [[nodiscard]] static void* or_throw(void* object) {
        if (object == nullptr) [[unlikely]]
            throw_bad_alloc();
        return object;
    }
};

}
