// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// by_thread: objects that belong to threads, found by their thread.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// T has the members `const void* thread`, an address in its thread's thread-local storage, and `T* next_by_thread` and
/// `T* previous_by_thread`. Threads   one at a time.
template<class T>
class by_thread {
public:
    void add(T& added) noexcept {
        T*& first = list_of(added.thread);
        added.previous_by_thread = nullptr;
        added.next_by_thread = first;
        if (first != nullptr) first->previous_by_thread = &added;
        first = &added;
    }
    void remove(T& removed) noexcept {
        T* const previous = removed.previous_by_thread;
        (previous != nullptr ? previous->next_by_thread : list_of(removed.thread)) = removed.next_by_thread;
        if (removed.next_by_thread != nullptr) removed.next_by_thread->previous_by_thread = previous;
    }
    /// One object of the thread; nullptr when it has none.
    [[nodiscard]] T* find(const void* thread) noexcept {
        T* found = list_of(thread);
        while (found != nullptr && found->thread != thread) found = found->next_by_thread;
        return found;
    }
    /// Removes all objects except the one that find() returns: for the child of a fork, which has one thread.
    void keep_only(const void* thread) noexcept {
        T* const kept = find(thread);
        for (T*& first : lists_)
            if (first != nullptr) first = nullptr; // written only if needed: pages stay shared with the parent
        if (kept != nullptr) add(*kept);
    }

private:
    static constexpr unsigned list_bits = 6;

    /// The thread-local storage of two threads is usually at least a stack apart.
    [[nodiscard]] T*& list_of(const void* thread) noexcept {
        return lists_[(address_of(thread) >> 12) * 0x9E37'79B9'7F4A'7C15 >> (64 - list_bits)];
    }

    T* lists_[std::size_t{1} << list_bits]{};
};

}
