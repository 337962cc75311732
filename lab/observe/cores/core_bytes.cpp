// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace tenure::lab {

namespace {

class bytes_of_file final : public core_bytes {
public:
    bytes_of_file(int file, std::uint64_t size) : file_(file), size_(size) {}
    ~bytes_of_file() override { ::close(file_); }
    bytes_of_file(const bytes_of_file&) = delete;
    bytes_of_file& operator=(const bytes_of_file&) = delete;

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] bool read(std::uint64_t at, void* to, std::size_t count) const override {
        if (at > size_ || count > size_ - at) return false;
        auto* next = static_cast<char*>(to);
        while (count != 0) {
            const ssize_t got = ::pread(file_, next, count, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false; // also a file that was shortened meanwhile
            next += got;
            at += static_cast<std::uint64_t>(got);
            count -= static_cast<std::size_t>(got);
        }
        return true;
    }
    [[nodiscard]] std::uint64_t next_data(std::uint64_t at) const override {
        const off_t found = ::lseek(file_, static_cast<off_t>(at), SEEK_DATA);
        if (found >= 0) return static_cast<std::uint64_t>(found);
        return errno == ENXIO ? std::max(at, size_) : at; // ENXIO: nothing but a hole; others: no such calls here
    }

private:
    int file_;
    std::uint64_t size_;
};

class bytes_of_text final : public core_bytes {
public:
    explicit bytes_of_text(std::string text) : text_(std::move(text)) {}

    [[nodiscard]] std::uint64_t size() const override { return text_.size(); }
    [[nodiscard]] bool read(std::uint64_t at, void* to, std::size_t count) const override {
        if (at > text_.size() || count > text_.size() - at) return false;
        if (count != 0) std::memcpy(to, text_.data() + at, count);
        return true;
    }

private:
    std::string text_;
};

[[nodiscard]] opened_bytes refused(int error) {
    return {nullptr, "cannot be read: " + std::generic_category().message(error)};
}

}

opened_bytes open_bytes(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return refused(errno);
    struct stat about {};
    opened_bytes found;
    if (::fstat(file, &about) != 0) {
        found = refused(errno);
    } else if (!S_ISREG(about.st_mode)) {
        found.error = S_ISDIR(about.st_mode) ? "is a directory, not a file" : "is not a regular file";
    } else {
        found.bytes = std::make_unique<bytes_of_file>(file, static_cast<std::uint64_t>(about.st_size));
        return found;
    }
    ::close(file);
    return found;
}

std::unique_ptr<core_bytes> bytes_of(std::string text) { return std::make_unique<bytes_of_text>(std::move(text)); }

}
