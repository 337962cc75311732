// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A run that was killed leaves recordings, in memory perhaps: the next one finds that nobody holds their lock, and
/// that none of their processes lives.

#include "cli/recordings_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "tenure-watch-";
constexpr std::string_view lock_name = "lock";
constexpr std::string_view recording_suffix = ".tnw";
constexpr std::uint64_t least_room = std::uint64_t{256} << 20U;

/// As many as one may wish where nobody says.
std::uint64_t free_bytes(const std::string& folder) {
    struct statvfs about {};
    bool const is_limited = ::statvfs(folder.c_str(), &about) == 0 && about.f_blocks != 0;
    return is_limited ? std::uint64_t{about.f_bavail} * about.f_frsize : UINT64_MAX;
}

/// Memory, if there is much of it and nobody asks for another place: a page of a file on a disk costs a thread more.
fs::path place_for_recordings(std::error_code& error) {
    const char* const asked = std::getenv("TMPDIR");
    bool const has_choice = asked == nullptr || *asked == '\0';
    if (has_choice && fs::is_directory("/dev/shm", error) && free_bytes("/dev/shm") >= 4 * least_room &&
        ::access("/dev/shm", W_OK) == 0)
        return "/dev/shm";
    fs::path const place = fs::temp_directory_path(error);
    return error ? place : fs::absolute(place, error); // the program may go elsewhere
}

bool is_recording(const fs::path& file) { return file.extension() == recording_suffix; }

/// Of a recording's name, PROCESS-NUMBER.tnw.
bool lives(const fs::path& file) {
    int const process = std::atoi(file.filename().c_str());
    return process > 0 && (::kill(process, 0) == 0 || errno != ESRCH);
}

int take_lock(const fs::path& folder) {
    int const file = ::open((folder / lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    ::close(file);
    return -1;
}

/// Whether a folder is ours, has a lock that nobody holds, and recordings of processes that are gone.
bool is_left_over(const fs::path& folder) {
    struct stat about {};
    if (::lstat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid()) return false;
    std::error_code error;
    if (!fs::exists(folder / lock_name, error)) return false;
    constexpr std::time_t young_seconds = 60; // one that is only being made
    if (std::time(nullptr) - about.st_mtime < young_seconds) return false;
    int const lock = take_lock(folder);
    if (lock < 0) return false;
    bool is_over = true;
    for (auto const& each : fs::directory_iterator(folder, error)) {
        if (is_recording(each.path()) && lives(each.path())) is_over = false;
    }
    ::close(lock);
    return is_over && !error;
}

void remove_left_over(const fs::path& place) {
    std::error_code error;
    for (auto const& each : fs::directory_iterator(place, fs::directory_options::skip_permission_denied, error)) {
        if (each.path().filename().string().starts_with(prefix) && is_left_over(each.path())) {
            fs::remove_all(each.path(), error);
        }
    }
}

}

recordings_folder::recordings_folder(const std::string& kept) : is_kept_(!kept.empty()) {
    if (is_kept_) {
        keep(kept);
    } else {
        make_own();
    }
    if (refusal_.empty()) refusal_ = why_no_room();
}

recordings_folder::~recordings_folder() {
    std::error_code error;
    if (!is_kept_ && !path_.empty()) fs::remove_all(path_, error);
    if (lock_ >= 0) ::close(lock_);
}

void recordings_folder::keep(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) path_ = fs::canonical(path, error).string();
    if (error) {
        refusal_ = fmt::format("there is no folder {} for the recordings: {}", path, error.message());
        return;
    }
    for (auto const& each : fs::directory_iterator(path_, error)) {
        if (!is_recording(each.path())) continue;
        refusal_ =
            fmt::format("{} has recordings of another run, with which these would be mixed: name another folder", path);
        return;
    }
}

void recordings_folder::make_own() {
    std::error_code error;
    fs::path const place = place_for_recordings(error);
    if (!error) remove_left_over(place);
    std::string name = (place / (std::string{prefix} + "XXXXXX")).string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
        refusal_ = fmt::format("there is no folder for the recordings: {}",
                               error ? error.message() : std::string{std::strerror(errno)});
        return;
    }
    path_ = name;
    lock_ = take_lock(path_);
    if (lock_ < 0) refusal_ = fmt::format("{} cannot be locked: {}", path_, std::strerror(errno));
}

bool recordings_folder::is_full() const {
    constexpr std::uint64_t nearly_none = std::uint64_t{1} << 20U;
    return !path_.empty() && free_bytes(path_) < nearly_none;
}

// A mapped file that has no room left ends its process: said before.
std::string recordings_folder::why_no_room() const {
    constexpr std::size_t longest_path = 400; // with a name behind it the hook has room for 512
    if (path_.size() > longest_path)
        return fmt::format("the path of the recordings is longer than {} letters: --keep DIR or TMPDIR name another",
                           longest_path);
    constexpr std::uint64_t least_file = std::uint64_t{64} << 20U;
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least_file) {
        return fmt::format("files may have {} KiB here, a recording needs more: ulimit -f unlimited",
                           limit.rlim_cur >> 10U);
    }
    std::uint64_t const free = free_bytes(path_);
    if (free >= least_room) return {};
    return fmt::format("{} has only {} MiB left, recordings need 256: --keep DIR or TMPDIR name another place", path_,
                       free >> 20U);
}

}
