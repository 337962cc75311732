// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/block_guard.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>

namespace tenure::inline TENURE_ABI::detail {

namespace {

[[nodiscard]] std::size_t first_other(const unsigned char* bytes, std::size_t count) noexcept {
    std::size_t first = 0;
    while (first < count && bytes[first] == freed_fill) ++first;
    return first;
}

}

canary_keys keys_of_canaries() noexcept {
    constexpr std::size_t count = std::size(canary_keys{}.words);
    // Relaxed: are_known is released after the words, which are the same for every thread, and acquired.
    static constinit std::atomic<std::uint64_t> known[count]{};
    static constinit std::atomic<bool> are_known{false};
    canary_keys keys{};
    if (!are_known.load(std::memory_order_acquire)) [[unlikely]] {
        keys = platform::random_of_process(platform::random_use::canaries); // the same for every thread
        for (std::size_t each = 0; each < count; ++each) known[each].store(keys.words[each], std::memory_order_relaxed);
        are_known.store(true, std::memory_order_release);
    }
    for (std::size_t each = 0; each < count; ++each) keys.words[each] = known[each].load(std::memory_order_relaxed);
    return keys;
}

void fill_larger(void* block, std::size_t usable) noexcept {
    const std::size_t end = std::min(larger_end_bytes, usable / 2);
    std::memset(block, freed_fill, end);
    std::memset(bytes_from(block, usable - end), freed_fill, end);
}

std::size_t first_written(const void* block, std::size_t usable) noexcept {
    if (usable <= 2 * filled_end_bytes) return first_other(bytes_from(block, 0), usable);
    const std::size_t first = first_other(bytes_from(block, 0), filled_end_bytes);
    const std::size_t rest = usable - filled_end_bytes;
    return first != filled_end_bytes ? first : rest + first_other(bytes_from(block, rest), filled_end_bytes);
}

}
