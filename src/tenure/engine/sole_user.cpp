// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/sole_user.hpp>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {
// A program that hands an object over at every call would wait every time.
constexpr std::uint32_t max_waits = 64;
// Each yields the processor: on one processor the other thread runs meanwhile, on several it has a microsecond to call.
constexpr unsigned yields = 4;
}

void checked_sole_user::change_thread(std::uint64_t now) noexcept {
    const bool is_first = latest_.load(memory_order::relaxed) == 0;
    latest_.store(now, memory_order::relaxed);
    latest_id_.store(static_cast<std::uint32_t>(platform::thread_id()), memory_order::relaxed);
    const std::uint32_t count = wait_count_.load(memory_order::relaxed);
    if (is_first || count == max_waits) return;
    wait_count_.store(count + 1, memory_order::relaxed);
    for (unsigned look = 0; look < yields; ++look) host::let_others_run(0);
}

bool checked_sole_user::report(const sole_use& use, const void* object) const noexcept {
    const std::uint64_t mine = platform::thread_id();
    const std::uint32_t other = latest_id_.load(memory_order::relaxed);
    report_text text;
    text.text("two threads use one ").text(use.part).text(" at the same time: ").address(object);
    text.text(". Thread ").number(mine).text(" called it during a call of ");
    if (other != mine)
        text.text("thread ").number(other);
    else
        text.text("another thread");
    text.text(". ").text(use.advice);
    tenure::report(report_kind::misuse, text.view());
    return false;
}

}
