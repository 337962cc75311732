// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/resident.hpp>

#include <tenure/platform/windows/system.hpp>

#include <psapi.h>

#include <algorithm>
#include <iterator>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::platform {

void visit_resident(void* range, std::size_t bytes, void (*visit)(void* context, void* part, std::size_t bytes),
                    void* context) noexcept {
    const std::size_t page = page_bytes();
    PSAPI_WORKING_SET_EX_INFORMATION pages[64];
    const std::uintptr_t begin = address_of(range), end = begin + bytes;
    std::uintptr_t first = begin; // of the current run
    const auto end_run = [&](std::uintptr_t at) {
        if (at > first) visit(context, pointer_at(first), at - first);
    };
    const std::uintptr_t last = align_up(end, page);
    for (std::uintptr_t at = align_down(begin, page); at < last;) {
        const std::size_t count = std::min((last - at) / page, std::size(pages));
        for (std::size_t each = 0; each < count; ++each) pages[each] = {pointer_at(at + each * page), {0}};
        const bool is_told =
            ::QueryWorkingSetEx(::GetCurrentProcess(), pages, static_cast<DWORD>(count * sizeof pages[0])) != 0;
        for (std::size_t each = 0; each < count; ++each, at += page) {
            if (!is_told || pages[each].VirtualAttributes.Valid != 0) continue;
            end_run(at);
            first = at + page;
        }
    }
    end_run(end);
}

}
