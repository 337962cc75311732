// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Reads /proc/self using only a buffer on the stack.

#include "bench/harness/machine/memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <tenure/platform/process.hpp>

namespace tenure::lab {

namespace {

using file_text = std::array<char, 8192>;

std::string_view read_file(const char* path, file_text& buffer) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::size_t filled = 0;
    for (;;) {
        const ssize_t count = ::read(file, buffer.data() + filled, buffer.size() - filled);
        if (count <= 0) break;
        filled += static_cast<std::size_t>(count);
    }
    ::close(file);
    return {buffer.data(), filled};
}

/// The bytes in "Field:    123 kB".
std::size_t field_bytes(std::string_view text, std::string_view field) {
    std::size_t place = text.find(field);
    if (place == std::string_view::npos) return 0;
    place = text.find_first_of("0123456789", place + field.size());
    std::size_t kibibytes = 0;
    if (place != std::string_view::npos) std::from_chars(text.data() + place, text.data() + text.size(), kibibytes);
    return kibibytes * 1024;
}

/// The limit of the control group, or SIZE_MAX.
std::size_t group_limit() {
    file_text buffer;
    const std::string_view text = read_file("/proc/self/cgroup", buffer);
    constexpr std::string_view prefix = "0::";
    if (!text.starts_with(prefix)) return SIZE_MAX;
    std::array<char, 1024> path{};
    const std::string_view folder = text.substr(prefix.size(), text.find('\n') - prefix.size());
    std::snprintf(path.data(), path.size(), "/sys/fs/cgroup%.*s/memory.max", static_cast<int>(folder.size()),
                  folder.data());
    file_text limit_text;
    const std::string_view limit = read_file(path.data(), limit_text);
    std::size_t bytes = SIZE_MAX; // it says "max" when there is none
    std::from_chars(limit.data(), limit.data() + limit.size(), bytes);
    return bytes;
}

std::size_t file_pages() {
    file_text buffer;
    return field_bytes(read_file("/proc/self/status", buffer), "RssFile:");
}

double mebibytes_above(std::size_t bytes, std::size_t base) {
    return bytes > base ? static_cast<double>(bytes - base) / (1024.0 * 1024.0) : 0.0;
}

}

memory_reading read_memory() {
    file_text buffer;
    const std::string_view text = read_file("/proc/self/smaps_rollup", buffer);
    const std::size_t anonymous = field_bytes(text, "\nAnonymous:");
    const std::size_t lazy = field_bytes(text, "\nLazyFree:");
    return {anonymous > lazy ? anonymous - lazy : 0, field_bytes(text, "\nAnonHugePages:")};
}

std::size_t available_memory_bytes() {
    file_text buffer;
    return std::min(field_bytes(read_file("/proc/meminfo", buffer), "MemAvailable:"), group_limit());
}

memory_meter::memory_meter()
    : base_(read_memory().resident), base_files_(file_pages()), peak_works_(platform::reset_peak_resident()) {}

double memory_meter::resident_mib() const { return mebibytes_above(read_memory().resident, base_); }

double memory_meter::peak_mib() const {
    constexpr std::size_t kernel_error = std::size_t{1} << 20;
    const std::size_t now = read_memory().resident;
    if (!peak_works_) return mebibytes_above(now, base_);
    const std::size_t mark = platform::peak_resident_bytes();
    const std::size_t files = std::max(file_pages(), base_files_);
    const std::size_t mark_private = mark > files ? mark - files : 0;
    return mebibytes_above(mark_private > now + kernel_error ? mark_private : now, base_);
}

double memory_meter::huge_mib() const { return static_cast<double>(read_memory().huge) / (1024.0 * 1024.0); }

}
