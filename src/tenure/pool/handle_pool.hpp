// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// handle_pool: objects of one type that are named by handles of 8 bytes with generations.
///
/// Use it for     entities, components and resources that others refer to for longer than they are sure to live: a
///                handle to a destroyed object is stale, also after its slot has a new object.
/// Not for        objects that only their owner refers to: pool/pool.hpp takes no room for generations. Buffers that
///                threads hold and release: handle/handle_table.hpp.
/// Memory from    the operating system: addresses for `max_count` objects are reserved at the first one, and committed
///                in doubling steps. Objects never move.
/// Cost           construct and destroy O(1) plus the constructor and destructor; a construction may read a bit per
///                4096 slots. get O(1): two compares and one load. A traversal reads a bit per slot.
/// Overhead       4.25 bytes per slot, apart from the objects; a handle is 8 bytes. Checked builds: at least 16 bytes
///                between objects.
/// Threads        one thread at a time. Others may call get() while none constructs, destroys or moves the pool.
///                Checked builds report calls that overlap.
/// Fork           usable in the child, unless another thread was using it at the time of the fork.
/// When full      at `max_count` objects, or out of memory, construct returns a null handle and changes nothing.
/// Example        examples/handle_pool.cpp
///
/// A construction takes the free slot with the lowest address, so objects stay close together, and a traversal visits
/// them in the order of addresses. A slot is used for 2^31 objects; then it stays empty, so no handle becomes valid
/// again.
///
/// A handle of another pool is refused like a stale one, also if that pool is gone or was replaced by assignment:
/// generations of each pool begin at a point of their own. This is certain for P pools (that ever had an object in the
/// process, at most 50 million) while no slot was used for more than 400 million / P objects. After that it is only
/// likely: a foreign handle would need the index and the generation of a live object by chance. Not detected are
/// handles of another run of the program, or of another copy of the library, whose pools begin at the same points.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/pool/detail/handle_slots.hpp>

namespace tenure::inline TENURE_ABI {

/// Names an object of a handle_pool<T>. The default is the null handle, which names no object. Copied freely.
template<class T>
struct pool_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;

    [[nodiscard]] explicit constexpr operator bool() const noexcept { return generation != 0; }
    friend constexpr bool operator==(pool_handle, pool_handle) noexcept = default;

    /// As one number, for physics engines, scripts and files; zero for the null handle.
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return (std::uint64_t{generation} << 32) | index; }
    [[nodiscard]] static constexpr pool_handle from_bits(std::uint64_t bits) noexcept {
        return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
    }
};
static_assert(sizeof(pool_handle<int>) == 8 && std::is_trivially_copyable_v<pool_handle<int>>);

/// What a traversal of a handle_pool is compared with.
struct end_of_objects {};

template<class T>
class handle_pool {
    template<bool IsConst>
    class position;

public:
    using value_type = T;
    using handle = pool_handle<T>;
    using iterator = position<false>;
    using const_iterator = position<true>;

    /// Reserves nothing until the first object. At most 2^32 objects; with a larger maximum every construction fails.
    [[nodiscard]] explicit handle_pool(std::size_t max_count) noexcept : slots_(sizeof(T), alignof(T), max_count) {
        if constexpr (checks::caller) detail::name_holder(&slots_, detail::signature_of<T>());
    }
    /// Destroys the live objects, also those that destructors construct meanwhile, and releases all memory.
    ~handle_pool() {
        if constexpr (!std::is_trivially_destructible_v<T>) destroy_living();
    }
    /// The objects stay where they are, and their handles are valid in this pool. The other pool is empty afterwards.
    /// Handles of the objects that this pool had before are stale.
    [[nodiscard]] handle_pool(handle_pool&&) noexcept = default;
    handle_pool& operator=(handle_pool&& other) noexcept {
        if (this != &other) {
            destroy_living();
            slots_ = std::move(other.slots_);
        }
        return *this;
    }

    /// Constructs an object. Its handle is valid from the end of the constructor on: until then handle_of() and
    /// traversals do not find it. The constructor may use the pool.
    /// Returns   the null handle when full or out of memory.
    /// Fails     when the constructor throws: the slot is free again.
    template<class... Arguments>
    [[nodiscard]] handle
    construct(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        const auto call = slots_.begin_call();
        if (!call) return {};
        const std::size_t index = slots_.take();
        if (index == detail::handle_slots::no_slot) [[unlikely]]
            return {};
        if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
            ::new (static_cast<void*>(place(index))) T(std::forward<Arguments>(arguments)...);
        } else {
            taken_slot guard{slots_, index};
            ::new (static_cast<void*>(place(index))) T(std::forward<Arguments>(arguments)...);
            guard.index = detail::handle_slots::no_slot;
        }
        slots_.make_live(index);
        return handle_at(index);
    }

    /// Destroys an object. Its handle is stale from the beginning of the destructor on, and its slot is used again only
    /// after the end. The destructor may use the pool: objects may destroy each other.
    /// Returns   false, and does nothing, if the handle is null, stale or of another pool.
    bool destroy(handle which) noexcept {
        const auto call = slots_.begin_call();
        if (!call || !is_live(which)) return false;
        destroy_at(which.index);
        return true;
    }

    /// Returns   the object; nullptr if the handle is null, stale or of another pool. Accepts any bits.
    [[nodiscard]] T* get(handle which) noexcept {
        return slots_.is_live(which.index, which.generation) ? place(which.index) : nullptr;
    }
    [[nodiscard]] const T* get(handle which) const noexcept { return const_cast<handle_pool*>(this)->get(which); }
    [[nodiscard]] bool is_live(handle which) const noexcept { return slots_.is_live(which.index, which.generation); }
    /// The handle of a live object. Requires  `object` is in this pool; the null handle if it is not.
    [[nodiscard]] handle handle_of(const T* object) const noexcept {
        if (!slots_.contains(object)) return {};
        const handle found = handle_at((address_of(object) - slots_.objects()) / stride());
        return is_live(found) ? found : handle{};
    }

    /// Destroys the live objects; their handles become stale. Those that destructors construct meanwhile may stay. The
    /// memory stays.
    void clear() noexcept {
        if (const auto call = slots_.begin_call()) destroy_each();
    }
    /// Returns whole OS pages without objects to the system. Returns   their bytes, touched or not. Cost      a bit
    /// per slot, and a system call per hole.
    std::size_t trim() noexcept { return slots_.trim(); }

    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t max_size() const noexcept { return slots_.max_count(); }
    [[nodiscard]] bool owns(const void* pointer) const noexcept { return slots_.contains(pointer); }
    [[nodiscard]] bool valid() const noexcept { return slots_.valid(); }

    /// The live objects in the order of addresses. An object may be destroyed while an iterator is at it; one that is
    /// constructed meanwhile may be visited or not.
    [[nodiscard]] iterator begin() noexcept { return iterator(*this); }
    [[nodiscard]] const_iterator begin() const noexcept { return const_iterator(*this); }
    [[nodiscard]] end_of_objects end() const noexcept { return {}; }

    /// Calls `visit(handle, T&)` for every live object, lowest address first. A visit may destroy objects.
    template<class Visit>
    void for_each(Visit&& visit) {
        for (auto at = slots_.first_live(); at.left != 0; slots_.go_on(at))
            visit(handle_at(at.index()), *place(at.index()));
    }

private:
    /// Frees the slot unless its object was constructed.
    struct taken_slot {
        detail::handle_slots& from;
        std::size_t index;
        ~taken_slot() {
            if (index != detail::handle_slots::no_slot) from.give_unused(index);
        }
    };

    [[nodiscard]] T* place(std::size_t index) const noexcept {
        return static_cast<T*>(pointer_at(slots_.objects() + index * stride()));
    }
    [[nodiscard]] std::size_t stride() const noexcept {
        if constexpr (checks::caller) return slots_.stride();
        return sizeof(T);
    }
    [[nodiscard]] handle handle_at(std::size_t index) const noexcept {
        return {static_cast<std::uint32_t>(index), slots_.generation_of(index)};
    }
    void destroy_at(std::size_t index) noexcept {
        slots_.make_stale(index);
        place(index)->~T();
        slots_.give(index);
    }
    void destroy_each() noexcept {
        for (auto at = slots_.first_live(); at.left != 0; slots_.go_on(at)) destroy_at(at.index());
    }
    void destroy_living() noexcept {
        while (!empty()) destroy_each();
    }

    detail::handle_slots slots_;
};

template<class T>
template<bool IsConst>
class handle_pool<T>::position {
    using of_pool = std::conditional_t<IsConst, const handle_pool, handle_pool>;

public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<IsConst, const T&, T&>;

    [[nodiscard]] reference operator*() const noexcept { return *pool_->place(at_.index()); }
    [[nodiscard]] auto operator->() const noexcept { return &**this; }
    position& operator++() noexcept {
        pool_->slots_.go_on(at_);
        return *this;
    }
    void operator++(int) noexcept { ++*this; }
    [[nodiscard]] friend bool operator==(const position& at, end_of_objects) noexcept { return at.is_at_end(); }
    /// The handle of the object at which it is.
    [[nodiscard]] pool_handle<T> handle() const noexcept { return pool_->handle_at(at_.index()); }

private:
    friend handle_pool;
    explicit position(of_pool& of) noexcept : pool_(&of), at_(of.slots_.first_live()) {}
    [[nodiscard]] bool is_at_end() const noexcept { return at_.left == 0; }

    of_pool* pool_;
    detail::handle_slots::walk at_;
};

}
