// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/resident.hpp>

#include <sys/mman.h>

#include <algorithm>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::platform {

void visit_resident(void* range, std::size_t bytes, void (*visit)(void* context, void* part, std::size_t bytes),
                    void* context) noexcept {
    const std::size_t page = page_bytes();
    unsigned char states[512]; // small: threads may have 16 KiB of stack
    const std::uintptr_t begin = address_of(range), end = begin + bytes;
    std::uintptr_t first = begin; // of the current run
    const auto end_run = [&](std::uintptr_t at) {
        if (at > first) visit(context, pointer_at(first), at - first);
    };
    const std::uintptr_t last = align_up(end, page);
    for (std::uintptr_t at = align_down(begin, page); at < last;) {
        const std::size_t pages = std::min((last - at) / page, sizeof states);
        if (::mincore(pointer_at(at), pages * page, states) != 0) std::fill_n(states, pages, 1);
        for (std::size_t each = 0; each < pages; ++each, at += page) {
            if ((states[each] & 1u) != 0) continue;
            end_run(at);
            first = at + page;
        }
    }
    end_run(end);
}

}
