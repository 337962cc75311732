// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/read_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace tenure::lab {

namespace {

file_text refused(int error) { return {{}, fmt::format("cannot be read: {}", std::generic_category().message(error))}; }

file_text too_large(std::uint64_t max_bytes) {
    return {{}, fmt::format("is larger than {} MiB, the maximum", max_bytes >> 20U)};
}

/// Reads the whole file. A file may grow while it is read, so the limit is checked against what was read.
file_text read_all(int file, std::uint64_t expected_bytes, std::uint64_t max_bytes) {
    constexpr std::size_t step = std::size_t{1} << 20U;
    file_text found;
    found.text.reserve(static_cast<std::size_t>(expected_bytes) + 1);
    for (;;) {
        const std::size_t before = found.text.size();
        found.text.resize(before + std::min(step, static_cast<std::size_t>(max_bytes + 1 - before)));
        const ssize_t got = ::read(file, found.text.data() + before, found.text.size() - before);
        const int error = errno;
        found.text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && error == EINTR) continue;
        if (got < 0) return refused(error);
        if (found.text.size() > max_bytes) return too_large(max_bytes);
        if (got == 0) return found;
    }
}

}

file_text read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
    const int file =
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); // opening a pipe would wait for a writer
    if (file < 0) return refused(errno);
    struct stat about {};
    file_text found;
    if (::fstat(file, &about) != 0) {
        found = refused(errno);
    } else if (S_ISDIR(about.st_mode)) {
        found.error = "is a directory, not a file";
    } else if (!S_ISREG(about.st_mode)) {
        found.error = "is not a regular file";
    } else if (static_cast<std::uint64_t>(about.st_size) > max_bytes) {
        found = too_large(max_bytes);
    } else {
        found = read_all(file, static_cast<std::uint64_t>(about.st_size), max_bytes);
    }
    ::close(file);
    return found;
}

}
