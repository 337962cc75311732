// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/sanitizer.hpp>

#include <cstring>

#include <tenure/platform/resident.hpp>

namespace tenure::inline TENURE_ABI::platform {

// No sanitizer is known here: weak functions, by which the library would find one, do not exist.

bool has_poison() noexcept { return false; }
bool is_under_thread_sanitizer() noexcept { return false; }
void poison(const void*, std::size_t) noexcept {}
void unpoison(const void*, std::size_t) noexcept {}
bool is_poisoned(const void*, std::size_t) noexcept { return false; }
void add_leak_root(const void*, std::size_t) noexcept {}
void remove_leak_root(const void*, std::size_t) noexcept {}

std::uint64_t read_hidden(const void* word) noexcept {
    std::uint64_t read = 0;
    std::memcpy(&read, word, sizeof read);
    return read;
}

std::size_t first_other(const void* bytes, std::size_t count, unsigned char fill) noexcept {
    const auto* const from = static_cast<const unsigned char*>(bytes);
    std::size_t found = 0;
    while (found < count && from[found] == fill) ++found;
    return found;
}

std::size_t past_last_other(const void* bytes, std::size_t count, unsigned char fill) noexcept {
    const auto* const from = static_cast<const unsigned char*>(bytes);
    while (count != 0 && from[count - 1] == fill) --count;
    return count;
}

void poison_freed(void* bytes, std::size_t count) noexcept { std::memset(bytes, freed_fill, count); }

void poison_dropped(void* bytes, std::size_t count) noexcept {
    constexpr std::size_t max_filled_unseen = std::size_t{64} * 1024; // below this, filling is cheaper than asking
    if (count <= max_filled_unseen) return poison_freed(bytes, count);
    for_each_resident(bytes, count, [](void* part, std::size_t size) { std::memset(part, freed_fill, size); });
}

}
