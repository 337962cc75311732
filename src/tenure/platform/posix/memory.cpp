// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr int private_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Where the last mapping of a larger alignment begins; 0 if there is none, or if the addresses below it were taken.
// Relaxed: a hint for the system.
constinit std::atomic<std::uintptr_t> last_mapped{0};

/// For address limits (ulimit -v) that leave no room to over-allocate: maps exactly `bytes`. Tries multiples of the
/// alignment near the address that the system chooses, then near the last address found this way.
void* map_exactly(std::size_t bytes, std::size_t alignment, int protection) noexcept {
    static constinit std::atomic<std::uintptr_t> last_found{0}; // relaxed: a hint for the system
    constexpr int max_tries = 16;
    void* const chosen = ::mmap(nullptr, bytes, protection, private_flags, -1, 0);
    if (chosen == MAP_FAILED) return nullptr;
    if (is_aligned(chosen, alignment)) return chosen;
    unreserve(chosen, bytes);
    for (const std::uintptr_t around : {address_of(chosen), last_found.load(std::memory_order_relaxed)}) {
        std::uintptr_t wanted = align_up(around, alignment);
        for (int tries = 0; tries < max_tries && wanted != 0; ++tries, wanted -= alignment) {
            void* const mapped = ::mmap(pointer_at(wanted), bytes, protection, private_flags, -1, 0);
            if (mapped == MAP_FAILED) return nullptr;
            if (is_aligned(mapped, alignment)) { // the hint was taken, or the address is aligned by chance
                last_found.store(address_of(mapped), std::memory_order_relaxed);
                return mapped;
            }
            unreserve(mapped, bytes);
        }
    }
    return nullptr;
}

/// Where to look for addresses at large alignments first: below this library. The distance leaves room between them, so
/// that a mapping can be extended in place for a while: the system fills that room from its upper end.
std::uintptr_t first_wanted() noexcept {
    constexpr std::uintptr_t distance = std::uintptr_t{256} << 20, least = std::uintptr_t{1} << 40;
    const std::uintptr_t here = address_of(&last_mapped);
    return here > least ? here - distance : 0; // low addresses: an executable at a fixed place
}

/// Maps below the last mapping, where addresses are often free: one system call. If they are taken, the system shows
/// with its own choice where others are free. Returns nullptr if neither is aligned.
void* map_below_last(std::size_t bytes, std::size_t alignment, int protection) noexcept {
    std::uintptr_t wanted = last_mapped.load(std::memory_order_relaxed);
    if (wanted == 0) wanted = first_wanted();
    if (wanted <= bytes) return nullptr;
    wanted -= bytes;
    for (int tries = 0; tries < 2; ++tries) {
        wanted = align_down(wanted, alignment);
        void* const mapped = ::mmap(pointer_at(wanted), bytes, protection, private_flags, -1, 0);
        if (mapped == MAP_FAILED) break;
        if (is_aligned(mapped, alignment)) {
            last_mapped.store(address_of(mapped), std::memory_order_relaxed);
            return mapped;
        }
        unreserve(mapped, bytes);
        wanted = address_of(mapped);
    }
    last_mapped.store(0, std::memory_order_relaxed);
    return nullptr;
}

/// Maps more than requested and unmaps both ends, so that the rest is aligned.
void* map_aligned(std::size_t bytes, std::size_t alignment, int protection) noexcept {
    const std::size_t page = page_bytes();
    const std::size_t extra = alignment > page ? alignment - page : 0;
    if (bytes == 0 || bytes > max_object_bytes - extra) return nullptr;
    if (extra != 0) {
        if (void* const mapped = map_below_last(bytes, alignment, protection); mapped != nullptr) return mapped;
    }
    void* const mapped = ::mmap(nullptr, bytes + extra, protection, private_flags, -1, 0);
    if (mapped == MAP_FAILED) return extra != 0 ? map_exactly(bytes, alignment, protection) : nullptr;
    if (extra == 0) return mapped;
    const std::uintptr_t begin = address_of(mapped);
    const std::uintptr_t first = align_up(begin, alignment);
    const std::size_t front = first - begin;
    if (front != 0) unreserve(mapped, front);
    if (extra != front) unreserve(pointer_at(first + bytes), extra - front);
    last_mapped.store(first, std::memory_order_relaxed);
    return pointer_at(first);
}

// At the limit of mappings (vm.max_map_count) the kernel cannot unmap the middle of a mapping, which would split it in
// two. Such a range is decommitted, and its addresses wait here until the kernel can unmap them. There is no lock, so
// the child of a fork finds none taken.
struct waiting_range {
    static constexpr std::uintptr_t none = 0, changing = 1;
    // Sequentially consistent, on a rare path: `changing` is a lock of the bytes.
    std::atomic<std::uintptr_t> begin{none};
    std::size_t bytes = 0; ///< owned by the thread that has set `begin` to `changing`
};
struct waiting_ranges {
    std::atomic<std::size_t> count{0}; // relaxed loads: a range that is missed waits for the next call
    waiting_range ranges[256]{};
};
TENURE_BEHIND_OTHERS(9) constinit waiting_ranges waiting{};

/// Queues a range. Ranges past the capacity stay mapped, without pages.
void let_wait(void* range, std::size_t bytes) noexcept {
    // The child of a fork copies the list and unmaps its ranges, so it must have this range, and not another mapping
    // there.
    if (!include_in_fork(range, bytes)) return;
    for (waiting_range& each : waiting.ranges) {
        std::uintptr_t expected = waiting_range::none;
        if (!each.begin.compare_exchange_strong(expected, waiting_range::changing)) continue;
        each.bytes = bytes;
        each.begin.store(address_of(range));
        waiting.count.fetch_add(1);
        return;
    }
}

/// Unmaps the waiting ranges, up to the first one that fails again.
TENURE_COLD void unmap_waiting() noexcept {
    for (waiting_range& each : waiting.ranges) {
        std::uintptr_t begin = each.begin.load();
        if (begin == waiting_range::none || begin == waiting_range::changing) continue;
        if (!each.begin.compare_exchange_strong(begin, waiting_range::changing)) continue;
        const bool is_unmapped = ::munmap(pointer_at(begin), each.bytes) == 0;
        each.begin.store(is_unmapped ? waiting_range::none : begin);
        if (!is_unmapped) return;
        waiting.count.fetch_sub(1);
    }
}

}

std::size_t address_limit_bytes() noexcept {
    struct ::rlimit limit {};
    const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? static_cast<std::size_t>(limit.rlim_cur) : SIZE_MAX;
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept { return map_aligned(bytes, alignment, PROT_NONE); }

void* map(std::size_t bytes, std::size_t alignment) noexcept {
    return map_aligned(bytes, alignment, PROT_READ | PROT_WRITE);
}

void unreserve(void* range, std::size_t bytes) noexcept {
    if (::munmap(range, bytes) != 0) {
        if (errno != ENOMEM) return; // not a valid range
        decommit(range, bytes);
        let_wait(range, bytes);
        return;
    }
    // There is one mapping less now: a range that failed before may succeed.
    if (waiting.count.load(std::memory_order_relaxed) != 0) [[unlikely]]
        unmap_waiting();
}

bool seal(void* pages, std::size_t bytes) noexcept {
    const bool is_given_back = decommit(pages, bytes); // fails if the program has locked its memory
    return ::mprotect(pages, bytes, PROT_NONE) == 0 && is_given_back;
}

bool forbid(void* pages, std::size_t bytes) noexcept { return ::mprotect(pages, bytes, PROT_NONE) == 0; }

bool commit(void* pages, std::size_t bytes) noexcept { return ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0; }

}
