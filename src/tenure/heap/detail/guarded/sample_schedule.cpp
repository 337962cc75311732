// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/guarded/sample_schedule.hpp>

#include <atomic>

#include <tenure/base/options.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::detail {

std::uint64_t sample_schedule::random() noexcept {
    // After Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). The time makes the children
    // of a fork differ.
    // Relaxed: each call adds, so each gets another number.
    static constinit std::atomic<std::uint64_t> last{0};
    std::uint64_t draw = last.fetch_add(0x9E37'79B9'7F4A'7C15, std::memory_order_relaxed);
    draw += platform::random_of_process() + platform::monotonic_ns();
    draw = (draw ^ (draw >> 30)) * 0xBF58'476D'1CE4'E5B9;
    draw = (draw ^ (draw >> 27)) * 0x94D0'49BB'1331'11EB;
    return draw ^ (draw >> 31);
}

std::int64_t sample_schedule::draw(std::size_t guarded_count) noexcept {
    const std::uint64_t mean = option_value(option::heap_guard_bytes);
    if (mean == 0) return bytes_until_look;
    if (mean < least_mean_bytes) return 0;
    // At most 2^40 bytes, seven doublings, and 45 times the mean in the rarest draw.
    const double bytes = static_cast<double>(mean) * sampling::minus_log(random() | 1);
    return (static_cast<std::int64_t>(bytes) << (guarded_count / 8)) + 1;
}

bool sample_schedule::is_on() noexcept { return option_value(option::heap_guard_bytes) != 0; }

bool sample_schedule::is_rested() noexcept {
    constexpr std::uint64_t until_next_look_ns = 4'000'000;
    if (option_value(option::heap_guard_bytes) < least_mean_bytes) return true;
    const std::uint64_t now_ns = platform::coarse_ns();
    if (now_ns < rested_at_ns_.load(std::memory_order_relaxed)) return false;
    // In the child of a fork, processor time begins at zero: the difference is then huge, and the rest is over.
    const std::uint64_t rested_ns = platform::processor_ns() - rest_began_processor_ns_.load(std::memory_order_relaxed);
    if (rested_ns >= rest_ns_.load(std::memory_order_relaxed)) return true;
    rested_at_ns_.store(now_ns + until_next_look_ns, std::memory_order_relaxed);
    return false;
}

void sample_schedule::begin_rest(std::size_t pages) noexcept {
    // The stacks of the allocation and the free, the system calls of both, and a fault for each page: measured with
    // cold caches, as after a pause. At once after another, a sample takes 12 us.
    constexpr std::uint64_t ns_per_sample = 70'000, ns_per_page = 1'600, times = 400;
    const std::uint64_t rest_ns = times * (ns_per_sample + pages * ns_per_page);
    rested_at_ns_.store(platform::coarse_ns() + rest_ns, std::memory_order_relaxed);
    rest_began_processor_ns_.store(platform::processor_ns(), std::memory_order_relaxed);
    rest_ns_.store(rest_ns, std::memory_order_relaxed);
}

}
