// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/block_guard.hpp>

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/resident.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

[[nodiscard]] unsigned char* bytes_of(const void* block) noexcept {
    return static_cast<unsigned char*>(const_cast<void*>(block));
}

[[nodiscard]] std::uint64_t key_of(const void* block) noexcept {
    return platform::random_of_process() ^ (static_cast<std::uint64_t>(address_of(block)) * 0x9E37'79B9'7F4A'7C15);
}

/// Whether all bytes are `value`. Compares overlapping ranges: each byte with the one before it.
[[nodiscard]] bool all_are(const unsigned char* bytes, std::size_t count, unsigned char value) noexcept {
    return count == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

}

void set_guard_canary(void* block, std::size_t usable, std::size_t bytes) noexcept {
    const std::uint64_t word = bytes ^ key_of(block);
    unsigned char* const end = bytes_of(block) + usable - sizeof word;
    std::memset(bytes_of(block) + bytes, guard_fill, usable - sizeof word - bytes);
    std::memcpy(end, &word, sizeof word);
}

std::size_t guarded_bytes(const void* block, std::size_t usable) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_of(block) + usable - sizeof word, sizeof word);
    const std::uint64_t bytes = word ^ key_of(block);
    return bytes <= usable - sizeof word ? static_cast<std::size_t>(bytes) : canary_overwritten;
}

bool guard_is_whole(const void* block, std::size_t usable, std::size_t bytes) noexcept {
    return all_are(bytes_of(block) + bytes, usable - sizeof(std::uint64_t) - bytes, guard_fill);
}

void fill_freed(void* block, std::size_t usable) noexcept {
    if (usable <= max_small_bytes) {
        std::memset(block, freed_fill, usable);
        return;
    }
    platform::for_each_resident(block, usable,
                                [](void* part, std::size_t bytes) { std::memset(part, freed_fill, bytes); });
}

std::size_t first_written(const void* block, std::size_t usable) noexcept {
    const unsigned char* const bytes = bytes_of(block);
    if (all_are(bytes, usable, freed_fill)) return usable;
    std::size_t first = 0;
    while (bytes[first] == freed_fill) ++first;
    return first;
}

}
