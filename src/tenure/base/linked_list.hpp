// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Intrusive doubly linked lists: a pointer to the first element, and the links `next` and `previous` in each element.

#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

template<class T>
constexpr void push_front(T*& first, T& added) noexcept {
    added.previous = nullptr;
    added.next = first;
    if (first != nullptr) first->previous = &added;
    first = &added;
}

/// Requires  `removed` is in the list. Its own links keep their values.
template<class T>
constexpr void unlink(T*& first, T& removed) noexcept {
    if constexpr (checks::caller) {
        const T* const forth = removed.previous != nullptr ? removed.previous->next : first;
        const T* const back = removed.next != nullptr ? removed.next->previous : &removed;
        if (forth != &removed || back != &removed) [[unlikely]] {
            report_misuse("a record of the library was overwritten", &removed,
                          "Look for a write outside a block; AddressSanitizer finds the writer.");
            return;
        }
    }
    (removed.previous != nullptr ? removed.previous->next : first) = removed.next;
    if (removed.next != nullptr) removed.next->previous = removed.previous;
}

}
