// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/guarded/call_trace.hpp>

#include <algorithm>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

void call_trace::capture() noexcept {
    thread = platform::thread_id();
    constexpr std::size_t own = 2; // this function and its caller; further ones of the library may be inlined
    void* found[own + max_frames];
    const std::size_t found_count = host::walk_stack_once(found, own + max_frames);
    count = found_count - std::min(found_count, own);
    std::copy_n(found + (found_count - count), count, frames);
}

void call_trace::capture(const platform::fault& what) noexcept {
    thread = platform::thread_id();
    count = what.walk_stack(frames, max_frames);
}

void call_trace::write(const char* title) const noexcept {
    report_text text;
    host::write_report(text.text("tenure: ").text(title).text(" by thread ").number(thread).text(" at\n").view());
    host::write_stack(frames, count);
}

}
