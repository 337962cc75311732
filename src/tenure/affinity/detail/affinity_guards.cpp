// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_guards.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t number_bytes = sizeof(std::uint32_t);
constexpr std::size_t number_from_end = 12;

[[nodiscard]] bool has_guard(std::size_t whole_bytes) noexcept { return whole_bytes < affinity_max_in_page_bytes; }

void write_number(unsigned char* end, std::size_t guard_bytes) noexcept {
    const auto number = static_cast<std::uint32_t>(guard_bytes);
    platform::unpoison(end - number_from_end, number_bytes);
    std::memcpy(end - number_from_end, &number, number_bytes);
}

[[nodiscard]] std::size_t read_number(unsigned char* end) noexcept {
    std::uint32_t number = 0;
    platform::unpoison(end - number_from_end, number_bytes);
    std::memcpy(&number, end - number_from_end, number_bytes);
    return number;
}

}

void set_affinity_guard(unsigned char* object, std::size_t bytes, std::size_t whole_bytes) noexcept {
    if (!has_guard(whole_bytes)) return;
    unsigned char* const guard = object + std::max<std::size_t>(bytes, 1);
    unsigned char* const end = object + whole_bytes;
    platform::unpoison(guard, static_cast<std::size_t>(end - guard));
    std::memset(guard, tail_guard_fill, static_cast<std::size_t>(end - guard));
    write_number(end, static_cast<std::size_t>(end - guard));
    platform::poison(guard, static_cast<std::size_t>(end - guard));
}

affinity_look look_at_affinity_guard(unsigned char* object, std::size_t whole_bytes) noexcept {
    if (!has_guard(whole_bytes)) return {affinity_finding::whole, 0};
    unsigned char* const end = object + whole_bytes;
    const std::size_t number = read_number(end);
    const bool is_number = number >= tail_guard_bytes && number < whole_bytes;
    const std::size_t guard_bytes = is_number ? number : tail_guard_bytes;
    unsigned char* const begin = end - guard_bytes;
    const std::size_t in_front = guard_bytes - number_from_end, behind = number_from_end - number_bytes;
    const bool front_is_whole = platform::first_other(begin, in_front, tail_guard_fill) == in_front;
    const bool end_is_whole = platform::past_last_other(end - behind, behind, tail_guard_fill) == 0;
    const std::size_t bytes = whole_bytes - guard_bytes;
    platform::poison(begin, guard_bytes);
    if (is_number && front_is_whole && end_is_whole) return {affinity_finding::whole, bytes};
    set_affinity_guard(object, bytes, whole_bytes);
    const bool is_from_next = front_is_whole && !end_is_whole;
    return {is_from_next ? affinity_finding::front_of_next : affinity_finding::overrun, is_number ? bytes : 0};
}

}
