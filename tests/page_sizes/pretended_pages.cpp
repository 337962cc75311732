// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A system with larger OS pages, for a test executable on one with pages of 4 KiB: TENURE_TEST_PAGE_BYTES says how
/// large. It is linked in place of the library's page_bytes(), and in front of the C library's calls for mappings.
///
/// As on such a system, mappings begin at multiples of the page and have whole pages. A call with a part of a page ends
/// the process: the system would refuse it, or round it up and reach into the memory behind. Not pretended: the first
/// touch of a page still makes 4 KiB resident.

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace {

using tenure::address_of;
using tenure::align_up;
using tenure::pointer_at;

constexpr std::size_t real_page = 4096;

[[nodiscard]] std::size_t page() {
    static std::atomic<std::size_t> known{0}; // not a guarded static: the first call is before main() begins
    std::size_t bytes = known.load(std::memory_order_relaxed);
    if (bytes != 0) return bytes;
    const char* const text = std::getenv("TENURE_TEST_PAGE_BYTES");
    bytes = text == nullptr ? real_page : std::strtoul(text, nullptr, 10);
    if (!tenure::is_power_of_two(bytes) || bytes < real_page) std::abort();
    known.store(bytes, std::memory_order_relaxed);
    return bytes;
}

[[noreturn]] void refuse(const char* call, const void* range, std::size_t bytes) {
    std::array<char, 160> text{};
    const int count = std::snprintf(text.data(), text.size(), "%s of %zu bytes at %p: no whole OS pages of %zu bytes\n",
                                    call, bytes, range, page());
    (void)!::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(std::max(count, 0)));
    std::abort();
}

void expect_pages(const char* call, const void* range, std::size_t bytes) {
    if (address_of(range) % page() != 0 || bytes % page() != 0) refuse(call, range, bytes);
}

/// The last mappings that end within a page, as files do: they are unmapped as they were mapped.
struct odd_mapping {
    std::atomic<void*> begin{nullptr};
    std::atomic<std::size_t> bytes{0};
};
std::array<odd_mapping, 64> odd_mappings;
std::atomic<std::size_t> next_odd{0};

void* note_odd(void* begin, std::size_t bytes) {
    if (bytes % page() == 0) return begin;
    odd_mapping& noted = odd_mappings[next_odd.fetch_add(1) % odd_mappings.size()];
    noted.begin = begin;
    noted.bytes = bytes;
    return begin;
}
[[nodiscard]] bool is_odd(const void* begin, std::size_t bytes) {
    return std::ranges::any_of(odd_mappings,
                               [&](const odd_mapping& each) { return each.begin == begin && each.bytes == bytes; });
}

[[nodiscard]] void* raw_map(void* wanted, std::size_t bytes, int rights, int flags, int file, off_t offset) {
    return pointer_at(static_cast<std::uintptr_t>(::syscall(SYS_mmap, wanted, bytes, rights, flags, file, offset)));
}
void raw_unmap(std::uintptr_t begin, std::uintptr_t end) {
    if (begin < end) ::syscall(SYS_munmap, begin, end - begin);
}

/// Maps at a multiple of the page, wherever there is room.
[[nodiscard]] void* map_anywhere(std::size_t bytes, int rights, int flags, int file, off_t offset) {
    const std::size_t extra = page() - real_page;
    void* const room = raw_map(nullptr, bytes + extra, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return room;
    const std::uintptr_t begin = address_of(room), first = align_up(begin, page());
    raw_unmap(begin, first);
    raw_unmap(first + bytes, begin + bytes + extra);
    void* const mapped = raw_map(pointer_at(first), bytes, rights, flags | MAP_FIXED, file, offset);
    if (mapped == MAP_FAILED) {
        const int refusal = errno;
        raw_unmap(first, first + bytes);
        errno = refusal;
    }
    return mapped;
}

}

std::size_t tenure::platform::page_bytes() noexcept { return page(); }

extern "C" {

int getpagesize() noexcept { return static_cast<int>(page()); } // of GoogleTest

void* mmap(void* wanted, std::size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
    if (page() == real_page) return raw_map(wanted, bytes, rights, flags, file, offset);
    if (bytes == 0 || bytes > SIZE_MAX / 2) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    const bool is_fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
    if (is_fixed) expect_pages("mmap", wanted, static_cast<std::size_t>(offset));
    if (is_fixed || (wanted != nullptr && tenure::is_aligned(wanted, page()))) {
        void* const mapped = raw_map(wanted, align_up(bytes, page()), rights, flags, file, offset);
        if (is_fixed || mapped == MAP_FAILED || tenure::is_aligned(mapped, page())) return note_odd(mapped, bytes);
        raw_unmap(address_of(mapped), address_of(mapped) + align_up(bytes, page()));
    }
    return note_odd(map_anywhere(align_up(bytes, page()), rights, flags, file, offset), bytes);
}

int munmap(void* range, std::size_t bytes) noexcept {
    if (!is_odd(range, bytes)) expect_pages("munmap", range, bytes);
    return static_cast<int>(::syscall(SYS_munmap, range, align_up(bytes, page())));
}

int mprotect(void* range, std::size_t bytes, int rights) noexcept {
    expect_pages("mprotect", range, bytes);
    return static_cast<int>(::syscall(SYS_mprotect, range, bytes, rights));
}

int madvise(void* range, std::size_t bytes, int advice) noexcept {
    constexpr int populate_write = 23; // up to a byte, and not to the end of its page
    expect_pages("madvise", range, advice == populate_write ? 0 : bytes);
    return static_cast<int>(::syscall(SYS_madvise, range, bytes, advice));
}

void* mremap(void* range, std::size_t old_bytes, std::size_t new_bytes, int flags, ...) noexcept {
    std::va_list more;
    va_start(more, flags);
    void* place = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
    va_end(more);
    expect_pages("mremap", range, old_bytes);
    expect_pages("mremap", place, new_bytes);
    const auto raw_remap = [&](std::size_t from_bytes, std::size_t to_bytes, int how, void* to) {
        return pointer_at(static_cast<std::uintptr_t>(::syscall(SYS_mremap, range, from_bytes, to_bytes, how, to)));
    };
    if (page() == real_page || (flags & MREMAP_MAYMOVE) == 0 || place != nullptr)
        return raw_remap(old_bytes, new_bytes, flags, place);
    void* const in_place = raw_remap(old_bytes, new_bytes, flags & ~MREMAP_MAYMOVE, nullptr);
    if (in_place != MAP_FAILED) return in_place;
    place = map_anywhere(new_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return place;
    void* const moved = raw_remap(old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (moved == MAP_FAILED) raw_unmap(address_of(place), address_of(place) + new_bytes);
    return moved;
}

/// A page is resident if a part of it is.
int mincore(void* range, std::size_t bytes, unsigned char* states) noexcept {
    if (!tenure::is_aligned(range, page())) refuse("mincore", range, bytes);
    std::array<unsigned char, 16> parts{};
    if (page() / real_page > parts.size()) std::abort();
    for (std::size_t at = 0; at < bytes; at += page(), ++states) {
        if (::syscall(SYS_mincore, address_of(range) + at, page(), parts.data()) != 0) return -1;
        *states = 0;
        for (std::size_t part = 0; part < page() / real_page; ++part)
            *states = static_cast<unsigned char>(*states | parts[part]);
    }
    return 0;
}
}
