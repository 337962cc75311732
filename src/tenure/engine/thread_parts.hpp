// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parts of a shared allocator that belong to threads: a cache, or pages to allocate from, one per thread.

#include <tenure/base/config.hpp>
#include <tenure/base/linked_list.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Lists the parts of live threads and, in the child of a fork, those of the parent's other threads.
///
/// Threads   one at a time: the allocator's lock protects the lists.
/// Fork      call leave_to_child() in the child.
template<class Part>
class thread_parts {
public:
    void add(Part& part) noexcept { push_front(first_, part); }
    void remove(Part& part) noexcept { unlink(first_, part); }

    /// In the child of a fork: every part except `mine` (nullptr: the calling thread has none) becomes ownerless.
    /// Writes only links, because most children soon run another program.
    void leave_to_child(Part* mine) noexcept {
        if (mine != nullptr) unlink(first_, *mine);
        Part** end = &ownerless_;
        while (*end != nullptr) end = &(*end)->next;
        *end = first_;
        first_ = nullptr;
        if (mine != nullptr) push_front(first_, *mine);
    }

    /// Removes an ownerless part and returns it; nullptr when there is none.
    [[nodiscard]] Part* pop_ownerless() noexcept {
        Part* const part = ownerless_;
        if (part != nullptr) ownerless_ = part->next;
        return part;
    }
    void add_ownerless(Part& part) noexcept {
        part.next = ownerless_;
        ownerless_ = &part;
    }

    /// Calls `visit(part)` for the parts of live threads.
    template<class Visit>
    void for_each_owned(Visit&& visit) const {
        for_each_in(first_, visit);
    }
    /// Calls `visit(part)` for every part. A visit may free its part.
    template<class Visit>
    void for_each(Visit&& visit) const {
        for_each_in(first_, visit);
        for_each_in(ownerless_, visit);
    }

private:
    friend struct pool_layout; // for debuggers: debug_layout.hpp
    template<class Visit>
    static void for_each_in(Part* part, Visit& visit) {
        while (part != nullptr) {
            Part* const next = part->next;
            visit(*part);
            part = next;
        }
    }

    Part* first_ = nullptr;
    Part* ownerless_ = nullptr;
};

}
