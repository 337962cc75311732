// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/programs/recording_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/terminal.hpp"
#include "observe/access/raw_files.hpp"
#include "observe/trace/trace_packer.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

/// Inodes of raw files, and the numbers of processes that have mapped them.
using mapped_inodes = std::set<std::pair<std::uint64_t, std::uint64_t>>;

/// Adds what a process has mapped. Returns   false if it cannot be known.
bool add_mapped(const std::string& process, mapped_inodes& to) {
    const mapped_raw_files found = mapped_by(process);
    for (const std::uint64_t each : found.inodes) to.emplace(each, found.own_number);
    return !found.is_hidden();
}

/// When a process was started, in the system's clock ticks; 0: not known.
[[nodiscard]] std::uint64_t start_of(const std::string& process) {
    constexpr int fields_between = 20; // from the state, which follows the name, to the start
    std::ifstream file("/proc/" + process + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')'); // a name may contain anything
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string field;
    for (int index = 0; index < fields_between; ++index)
        if (!(fields >> field)) return 0;
    return std::strtoull(field.c_str(), nullptr, 10);
}

/// Whether a process was started before this one, so that it cannot be one that this one has recorded.
[[nodiscard]] bool is_older_than_this(const std::string& process) {
    const std::uint64_t start = start_of(process);
    return start != 0 && start < start_of("self");
}

/// Whether a process still writes to its raw file: it has the file mapped, and the number that the file tells. So have
/// neither zombies, nor a process that has run another program since, nor the children of its forks, which inherit the
/// mapping. The number alone may be another process's, or one of another namespace.
class mapped_files {
public:
    [[nodiscard]] bool contain(const std::string& path, const trace_format::file_header& header) {
        struct stat about {};
        if (::stat(path.c_str(), &about) != 0) return false;
        const std::pair<std::uint64_t, std::uint64_t> wanted{about.st_ino, header.process};
        mapped_inodes of_process;
        const std::string number = std::to_string(header.process);
        const bool has_noted_end = header.last_ticks != 0; // then all processes need not be looked at
        if (!add_mapped(number, of_process) && !has_noted_end && !is_older_than_this(number)) return true;
        return of_process.contains(wanted) || (!has_noted_end && all().contains(wanted));
    }

private:
    [[nodiscard]] const mapped_inodes& all() {
        if (all_.has_value()) return *all_;
        all_.emplace();
        visit_processes([&](const std::string& each) {
            add_mapped(each, *all_);
            return true;
        });
        return *all_;
    }

    std::optional<mapped_inodes> all_;
};

/// FILE.2, FILE.3 ... for a name that is taken.
[[nodiscard]] std::string free_name(const std::string& wanted) {
    std::error_code error;
    std::string name = wanted;
    for (int number = 2; fs::exists(fs::symlink_status(name, error)); ++number)
        name = fmt::format("{}.{}", wanted, number);
    return name;
}

[[nodiscard]] std::string reason() { return std::strerror(errno); }

/// A file, mapped to be read.
class mapped_input {
public:
    explicit mapped_input(const std::string& path) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        struct stat about {};
        if (file < 0 || ::fstat(file, &about) != 0 || about.st_size == 0) {
            error_ = file < 0 ? reason() : "it is empty";
        } else {
            bytes_ = static_cast<std::size_t>(about.st_size);
            memory_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
            if (memory_ == MAP_FAILED) error_ = reason();
            if (error_.empty()) ::madvise(memory_, bytes_, MADV_SEQUENTIAL);
        }
        if (file >= 0) ::close(file);
    }
    ~mapped_input() {
        if (memory_ != MAP_FAILED) ::munmap(memory_, bytes_);
    }
    mapped_input(const mapped_input&) = delete;
    mapped_input& operator=(const mapped_input&) = delete;

    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(memory_), bytes_}; }

private:
    void* memory_ = MAP_FAILED;
    std::size_t bytes_ = 0;
    std::string error_;
};

/// A file that is written beside its name, and gets it when it is whole.
class partial_file {
public:
    explicit partial_file(const std::string& name)
        : name_(name), partial_(name + ".partial-XXXXXX"), file_(::mkostemp(partial_.data(), O_CLOEXEC)) {
        if (file_ < 0) {
            error_ = reason();
            return;
        }
        const mode_t mask = ::umask(0); // mkostemp() gives rights to the owner alone
        ::umask(mask);
        if (::fchmod(file_, 0666 & ~mask) != 0) error_ = reason();
    }
    ~partial_file() {
        if (file_ < 0) return;
        ::close(file_);
        ::unlink(partial_.c_str());
    }
    partial_file(const partial_file&) = delete;
    partial_file& operator=(const partial_file&) = delete;

    [[nodiscard]] bool write(std::uint64_t offset, std::string_view bytes) {
        while (error_.empty() && !bytes.empty()) {
            const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) {
                error_ = reason();
                break;
            }
            offset += static_cast<std::uint64_t>(written);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return error_.empty();
    }
    /// Returns   whether it has its name.
    [[nodiscard]] bool finish() {
        if (!error_.empty()) return false;
        const int file = file_;
        file_ = -1;
        const bool is_done = ::close(file) == 0 && std::rename(partial_.c_str(), name_.c_str()) == 0;
        if (!is_done) error_ = reason();
        if (!is_done) ::unlink(partial_.c_str());
        return is_done;
    }
    [[nodiscard]] const std::string& error() const { return error_; }

private:
    std::string name_, partial_, error_;
    int file_;
};

}

std::vector<raw_file> raw_files_of(const std::string& file, std::uint64_t recording) {
    std::vector<raw_file> found;
    mapped_files mapped;
    visit_raw_files(
        file, recording, [](const std::string&) { return false; },
        [&](const std::string& path, const trace_format::file_header& header) {
            const bool is_main = path == file + std::string(raw_suffix);
            found.push_back({path, header.process, is_main, mapped.contain(path, header)});
        });
    std::sort(found.begin(), found.end(), [](const raw_file& a, const raw_file& b) {
        return a.is_main != b.is_main ? a.is_main : a.path < b.path;
    });
    return found;
}

packing pack(const raw_file& raw, std::span<const std::string> accesses) {
    const std::string wanted = raw.path.substr(0, raw.path.size() - raw_suffix.size());
    packing made{raw.is_main ? wanted : free_name(wanted), {}, {}};
    const mapped_input input(raw.path);
    if (!input.error().empty()) {
        made.error = fmt::format("{} cannot be read: {}", raw.path, input.error());
        return made;
    }
    partial_file output(followed(made.path).string());
    const packing_outcome packed = pack_trace(
        input.bytes(), [&](std::uint64_t offset, std::string_view bytes) { return output.write(offset, bytes); },
        accesses);
    made.program = fs::path(packed.program).filename().string();
    if (!packed.ok()) {
        made.error = fmt::format("{} cannot be packed: {}", raw.path, packed.error.substr(0, packed.error.size() - 1));
    } else if (!output.finish()) {
        made.error = fmt::format("{} could not be written: {}", made.path, output.error());
    } else {
        if (!packed.damage.empty()) say(fmt::format("{}: {}", made.path, packed.damage));
        ::unlink(raw.path.c_str());
    }
    return made;
}

}
