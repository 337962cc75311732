// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/clock.hpp>

#include <atomic>

#include <tenure/base/host.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

[[nodiscard]] std::uint64_t counts_per_second() noexcept {
    static constinit std::atomic<std::uint64_t> known{0}; // relaxed: every thread finds the same
    std::uint64_t rate = known.load(std::memory_order_relaxed);
    if (rate != 0) return rate;
    LARGE_INTEGER found{};
    ::QueryPerformanceFrequency(&found); // never fails since Windows XP
    rate = static_cast<std::uint64_t>(found.QuadPart);
    known.store(rate, std::memory_order_relaxed);
    return rate;
}

}

std::uint64_t monotonic_ns() noexcept {
    LARGE_INTEGER now{};
    ::QueryPerformanceCounter(&now);
    const auto count = static_cast<std::uint64_t>(now.QuadPart);
    const std::uint64_t rate = counts_per_second();
    return count / rate * second_ns + count % rate * second_ns / rate;
}

// Sleep() takes a millisecond at least, and 15.6 by default. Shorter times are passed by offering the processor.
void sleep_ns(std::uint64_t time_ns) noexcept {
    constexpr std::uint64_t least_ns = 2'000'000, ns_per_ms = 1'000'000;
    const kept_error kept;
    if (time_ns >= least_ns) return ::Sleep(static_cast<DWORD>(time_ns / ns_per_ms));
    const std::uint64_t begin = monotonic_ns();
    do {
        ::SwitchToThread();
    } while (monotonic_ns() - begin < time_ns);
}

std::uint64_t processor_ns() noexcept {
    constexpr std::uint64_t unit_ns = 100;
    const auto units = [](const FILETIME& time) {
        return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
    };
    FILETIME created{}, ended{}, in_kernel{}, in_user{};
    if (::GetProcessTimes(::GetCurrentProcess(), &created, &ended, &in_kernel, &in_user) == 0) return 0;
    return (units(in_kernel) + units(in_user)) * unit_ns;
}

// The system's tick count is of another clock than monotonic_ns().
std::uint64_t coarse_ns() noexcept { return monotonic_ns(); }

}

namespace tenure::inline TENURE_ABI::host {

void let_others_run(unsigned looks_before) noexcept {
    constexpr unsigned offers = 64;
    const platform::kept_error kept;
    if (looks_before < offers) {
        ::SwitchToThread();
    } else {
        ::Sleep(1);
    }
}

}
