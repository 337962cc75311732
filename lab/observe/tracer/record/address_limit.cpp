// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/address_limit.hpp"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>

#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/output_file.hpp>

namespace tenure::lab::tracer {

namespace {

// Not in the state of the process: a fork's child inherits the mappings.
constinit std::atomic<std::uint64_t> taken{0};
constinit std::atomic<std::uint64_t> next_look_ns{0};

/// The addresses that the process has mapped; 0: not known.
[[nodiscard]] std::uint64_t mapped_bytes() noexcept {
    char part[256];
    std::uint64_t pages = 0;
    bool is_first = true;
    const auto take = [&](std::string_view text) noexcept {
        if (is_first) std::from_chars(text.data(), text.data() + text.size(), pages);
        is_first = false;
    };
    const bool is_read = platform::read_in_parts(
        "/proc/self/statm", part, sizeof part,
        [](void* context, std::string_view text) noexcept { (*static_cast<decltype(take)*>(context))(text); },
        const_cast<void*>(static_cast<const void*>(&take)));
    return is_read ? pages * platform::page_bytes() : 0;
}

/// How much the recorder may have in all.
[[nodiscard]] std::uint64_t allowance(std::uint64_t limit) noexcept {
    constexpr std::uint64_t share = 4;
    const std::uint64_t mapped = mapped_bytes(), own = taken.load(std::memory_order_relaxed);
    const std::uint64_t of_program = mapped > own ? mapped - own : 0;
    return limit > of_program ? (limit - of_program) / share : 0;
}

}

bool may_take_addresses(std::size_t bytes) noexcept {
    constexpr std::uint64_t pause_ns = 10'000'000; // else each event would look
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        const std::uint64_t now = platform::monotonic_ns();
        bool is_refused = now < next_look_ns.load(std::memory_order_relaxed);
        if (!is_refused && taken.load(std::memory_order_relaxed) + bytes > allowance(limit.rlim_cur)) {
            is_refused = true;
            next_look_ns.store(now + pause_ns, std::memory_order_relaxed);
        }
        if (is_refused) {
            errno = ENOMEM;
            return false;
        }
    }
    taken.fetch_add(bytes, std::memory_order_relaxed);
    return true;
}

void return_addresses(std::size_t bytes) noexcept { taken.fetch_sub(bytes, std::memory_order_relaxed); }

}
