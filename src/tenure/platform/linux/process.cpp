// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/process.hpp>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// Reads a small kernel file into `buffer`.
std::string_view read_file(const char* path, char* buffer, std::size_t capacity) noexcept {
    const no_cancel_scope scope;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const ssize_t count = ::read(file, buffer, capacity);
    ::close(file);
    return count > 0 ? std::string_view{buffer, static_cast<std::size_t>(count)} : std::string_view{};
}

std::size_t number_after(std::string_view text, std::size_t position) noexcept {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\t')) ++position;
    std::size_t value = 0;
    std::from_chars(text.data() + position, text.data() + text.size(), value);
    return value;
}

}

std::size_t resident_bytes() noexcept {
    char buffer[256];
    const std::string_view text = read_file("/proc/self/statm", buffer, sizeof buffer);
    const std::size_t second = text.find(' ');
    return second == std::string_view::npos ? 0 : number_after(text, second) * page_bytes();
}

std::size_t peak_resident_bytes() noexcept {
    constexpr std::string_view field = "VmHWM:";
    char buffer[4096];
    const std::string_view text = read_file("/proc/self/status", buffer, sizeof buffer);
    const std::size_t found = text.find(field);
    return found == std::string_view::npos ? 0 : number_after(text, found + field.size()) * 1024;
}

bool reset_peak_resident() noexcept {
    const no_cancel_scope scope;
    const int file = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool done = ::write(file, "5", 1) == 1;
    ::close(file);
    return done;
}

std::size_t resident_bytes_in(const void* range, std::size_t bytes) noexcept {
    const std::size_t page = page_bytes();
    unsigned char states[1024]; // small: threads may have 16 KiB of stack
    std::size_t count = 0;
    const std::uintptr_t first = align_down(address_of(range), page);
    const std::uintptr_t last = align_up(address_of(range) + bytes, page);
    for (std::uintptr_t at = first; at < last; at += sizeof states * page) {
        const std::size_t pages = std::min((last - at) / page, sizeof states);
        if (::mincore(pointer_at(at), pages * page, states) != 0) continue;
        for (std::size_t each = 0; each < pages; ++each) count += states[each] & 1u;
    }
    return count * page;
}

std::uint64_t random_of_process() noexcept {
    static constinit std::atomic<std::uint64_t> known{0};
    std::uint64_t number = known.load(std::memory_order_relaxed);
    if (number != 0) [[likely]]
        return number;
    // The kernel provides sixteen random bytes at exec; no system call is needed.
    const auto* const drawn = static_cast<const void*>(pointer_at(::getauxval(AT_RANDOM)));
    number = 0x5DEE'CE66'D1CE'4E5B;
    if (drawn != nullptr) std::memcpy(&number, drawn, sizeof number);
    known.store(number, std::memory_order_relaxed);
    return number;
}

}
