// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Reads /proc, uname and the compiler's macros.

#include "bench/harness/machine/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>

#include <tenure/base/config.hpp>

#include "bench/harness/machine/build_info.hpp"
#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/mallocs/c_library/c_library.hpp"

namespace tenure::lab {

namespace {

std::string trimmed(std::string text) {
    constexpr const char* blanks = " \t\n\"";
    text.erase(0, std::min(text.find_first_not_of(blanks), text.size()));
    const std::size_t last = text.find_last_not_of(blanks);
    if (last != std::string::npos) text.resize(last + 1);
    return text;
}

/// The value after `key` and one of ":=" in a file of lines.
std::string line_value(const char* path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t separator = line.find_first_of(":=");
        if (separator == std::string::npos || trimmed(line.substr(0, separator)) != key) continue;
        return trimmed(line.substr(separator + 1));
    }
    return {};
}

/// "always [madvise] never" becomes "madvise".
std::string huge_page_setting() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string line;
    std::getline(file, line);
    const std::size_t begin = line.find('['), end = line.find(']');
    if (begin == std::string::npos || end == std::string::npos) return "not available";
    return "transparent: " + line.substr(begin + 1, end - begin - 1);
}

std::string kernel_name() {
    utsname names{};
    return ::uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.release) : std::string{};
}

}

machine_info describe_machine() {
    machine_info made;
    made.cpu = line_value("/proc/cpuinfo", "model name");
    made.kernel = kernel_name();
    made.system = line_value("/etc/os-release", "PRETTY_NAME");
    made.c_library = c_library_name();
    made.huge_pages = huge_page_setting();
    made.cores = static_cast<std::uint32_t>(allowed_cpus().size());
    made.memory_bytes =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    made.compiler = build_info::compiler();
    made.flags = build_info::flags();
    made.build_type = build_info::type();
    made.commit = build_info::commit();
    return made;
}

std::string library_version() {
    return fmt::format("{}.{}.{}", TENURE_VERSION_MAJOR, TENURE_VERSION_MINOR, TENURE_VERSION_PATCH);
}

std::string own_version() { return fmt::format("{}, checks {}", library_version(), checks::level); }

std::string timestamp() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::vector<std::string> allocator_environment() {
    constexpr std::array<std::string_view, 7> prefixes{"MALLOC_", "GLIBC_TUNABLES", "MIMALLOC_",  "TCMALLOC_",
                                                       "TBB_",    "JE_MALLOC_",     "HEAPPROFILE"};
    std::vector<std::string> found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        for (std::string_view prefix : prefixes) {
            if (text.starts_with(prefix)) found.emplace_back(text);
        }
    }
    return found;
}

}
