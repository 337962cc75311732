// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/clock.hpp>

#include <time.h>

#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::uint64_t monotonic_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t processor_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep_ns(std::uint64_t time_ns) noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    const timespec time{static_cast<time_t>(time_ns / second), static_cast<long>(time_ns % second)};
    const no_cancel_scope scope;
    ::nanosleep(&time, nullptr);
}

}
