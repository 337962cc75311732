// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What checked builds look at in a group: the guards between objects.

#include <tenure/affinity/affinity_group.hpp>

#include <tenure/affinity/detail/affinity_guards.hpp>

namespace tenure::inline TENURE_ABI {

/// Looks at the guard behind an object, and notes who was written past.
/// Returns   the size that the object was allocated with; zero if it is not known.
std::size_t affinity_group::check_guard(unsigned char* object) noexcept {
    const std::size_t whole_bytes = bits_.object_bytes(object);
    const detail::affinity_look look = detail::look_at_affinity_guard(object, whole_bytes);
    if (look.found == detail::affinity_finding::overrun)
        misuse_.add("an object of an affinity group was overrun: memory past its end was overwritten", object,
                    "Look for a write past the end of this object; AddressSanitizer stops the program at the write.");
    else if (look.found == detail::affinity_finding::front_of_next)
        misuse_.add("memory in front of an object of an affinity group was overwritten", object + whole_bytes,
                    "Look for a write in front of this object; AddressSanitizer stops the program at the write.");
    return look.bytes;
}

/// The same for the object in front of an object, if one follows the other in a page.
void affinity_group::check_guard_in_front(const unsigned char* object) noexcept {
    unsigned char* const begin = bits_.begin_of(bits_.page_of(object));
    for (unsigned char* at = begin + (object - begin); at != begin;) {
        at -= bits_.granule_bytes();
        if (bits_.is_free(at)) return;
        if (!bits_.is_start(at)) continue;
        static_cast<void>(check_guard(at));
        return;
    }
}

}
