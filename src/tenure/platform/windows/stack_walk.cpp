// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <tenure/base/align.hpp>
#include <tenure/platform/caller.hpp>
#include <tenure/platform/readable.hpp>
#include <tenure/platform/windows/stack_walk.hpp>

namespace tenure::inline TENURE_ABI {

namespace platform {

namespace {

/// Reads a word of the stack. What was found readable is remembered.
[[nodiscard]] bool read_word(std::uintptr_t at, host::readable_span& known, std::uintptr_t& word) noexcept {
    constexpr std::uintptr_t page = 4096;
    if (at % sizeof word != 0) return false;
    if (at < known.begin || at + sizeof word > known.end) {
        if (!is_readable(pointer_at(at), sizeof word)) return false;
        known = {align_down(at, page), align_down(at, page) + page};
    }
    word = *static_cast<const std::uintptr_t*>(pointer_at(at));
    return true;
}

/// Whether the unwinder may read around the stack pointer: the frame's registers are below its caller's stack pointer.
[[nodiscard]] bool is_stack_readable(std::uintptr_t stack, host::readable_span& known) noexcept {
    std::uintptr_t word = 0;
    return read_word(stack, known, word);
}

}

std::size_t walk_from(CONTEXT& at, void** frames, std::size_t capacity, std::size_t skipped, host::readable_span& known,
                      std::uintptr_t* places) noexcept {
    std::size_t count = 0;
    const kept_error kept;
    while (count < capacity) {
        if (skipped != 0) {
            --skipped;
        } else {
            if (places != nullptr) places[count] = at.Rsp - sizeof(std::uintptr_t);
            frames[count++] = pointer_at(at.Rip);
        }
        // A call may be the last instruction of its function.
        const DWORD64 position = at.Rip - 1, stack = at.Rsp;
        DWORD64 image = 0;
        RUNTIME_FUNCTION* const function = ::RtlLookupFunctionEntry(position, &image, nullptr);
        if (function == nullptr || !is_stack_readable(at.Rsp, known)) break;
        void* data = nullptr;
        DWORD64 frame = 0;
        ::RtlVirtualUnwind(UNW_FLAG_NHANDLER, image, at.Rip, function, &at, &data, &frame, nullptr);
        if (at.Rip == 0 || at.Rsp <= stack) break;
    }
    return count;
}

bool find_caller_rule(std::uintptr_t, caller_rule&) noexcept { return false; }

}

namespace host {

// One frame is left out: this function's own.

TENURE_NOINLINE std::size_t walk_stack(void** frames, std::size_t capacity) noexcept {
    CONTEXT here;
    ::RtlCaptureContext(&here);
    readable_span known;
    return platform::walk_from(here, frames, capacity, 1, known, nullptr);
}

TENURE_NOINLINE std::size_t walk_stack_once(void** frames, std::size_t capacity) noexcept {
    CONTEXT here;
    ::RtlCaptureContext(&here);
    readable_span known;
    return platform::walk_from(here, frames, capacity, 1, known, nullptr);
}

TENURE_NOINLINE std::size_t walk_stack(void** frames, std::size_t capacity, readable_span& known,
                                       std::uintptr_t* places) noexcept {
    CONTEXT here;
    ::RtlCaptureContext(&here);
    return platform::walk_from(here, frames, capacity, 1, known, places);
}

}

}
