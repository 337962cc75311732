// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A killed run leaves recordings behind, perhaps in memory. The next run removes a folder when nobody holds its lock,
/// none of its processes is alive, and it contains nothing else.

#include "cli/subcommands/recordings_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "tenure-watch-";
constexpr std::string_view recording_suffix = ".tnw";
constexpr const char* lock_name = "lock";
constexpr std::uint64_t least_room = std::uint64_t{256} << 20U;

/// The maximum number when the system does not report it.
std::uint64_t free_bytes(const std::string& folder) {
    struct statvfs about {};
    const bool is_limited = ::statvfs(folder.c_str(), &about) == 0 && about.f_blocks != 0;
    return is_limited ? std::uint64_t{about.f_bavail} * about.f_frsize : UINT64_MAX;
}

/// Memory (/dev/shm) when it has enough room and no other place was requested: a page fault on a disk file costs the
/// thread more.
fs::path place_for_recordings(std::error_code& error) {
    const char* const asked = std::getenv("TMPDIR");
    const bool has_choice = asked == nullptr || *asked == '\0';
    if (has_choice && fs::is_directory("/dev/shm", error) && free_bytes("/dev/shm") >= 4 * least_room &&
        ::access("/dev/shm", W_OK) == 0)
        return "/dev/shm";
    const fs::path place = fs::temp_directory_path(error);
    return error ? place : fs::absolute(place, error); // the program may change its working directory
}

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The part PROCESS of PROCESS-NUMBER.tnw; empty for any other name.
std::string_view process_of(std::string_view name) {
    if (!name.ends_with(recording_suffix)) return {};
    name.remove_suffix(recording_suffix.size());
    const std::size_t dash = name.find('-');
    if (dash == std::string_view::npos || !is_digits(name.substr(0, dash)) || !is_digits(name.substr(dash + 1)))
        return {};
    return name.substr(0, dash);
}

bool lives(std::string_view number) {
    int process = 0;
    const bool fits = std::from_chars(number.data(), number.data() + number.size(), process).ec == std::errc{};
    return fits && process > 0 && (::kill(process, 0) == 0 || errno != ESRCH);
}

/// Whether a temporary_folder of our prefix could have the name.
bool is_name_of_ours(std::string_view name) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    if (!name.starts_with(prefix)) return false;
    name.remove_prefix(prefix.size());
    return name.size() == temporary_folder::random_letters && name.find_first_not_of(letters) == std::string_view::npos;
}

/// Returns   the lock file, or -1 when another process holds the lock.
int take_lock(int folder, int flags) {
    const int file = ::openat(folder, lock_name, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    ::close(file);
    return -1;
}

/// A folder that a killed run may have left. It is held open: even if its name is reused meanwhile, this folder is the
/// one inspected and emptied.
class left_over {
public:
    explicit left_over(const fs::path& path)
        : path_(path), folder_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
        if (folder_ >= 0) lock_ = take_lock(folder_, 0); // creates none: without one it is not ours
    }
    ~left_over() {
        if (lock_ >= 0) ::close(lock_);
        if (folder_ >= 0) ::close(folder_);
    }
    left_over(const left_over&) = delete;
    left_over& operator=(const left_over&) = delete;

    /// Removes the folder if it belongs to us only, nobody holds its lock, and it contains only recordings of processes
    /// that have ended.
    void remove_if_over() {
        if (lock_ < 0 || !is_ours_and_old() || !read_names()) return;
        for (const std::string& name : names_) ::unlinkat(folder_, name.c_str(), 0);
        ::rmdir(path_.c_str()); // fails unless the folder is empty
    }

private:
    [[nodiscard]] bool is_ours_and_old() const {
        struct stat about {};
        constexpr std::time_t young_seconds = 60; // a younger folder may still be under construction
        constexpr ::mode_t others = 0077;         // a temporary_folder gives access to nobody else
        return ::fstat(folder_, &about) == 0 && about.st_uid == ::geteuid() && (about.st_mode & others) == 0 &&
               std::time(nullptr) - about.st_mtime >= young_seconds;
    }

    /// Returns   whether everything in it may be removed.
    [[nodiscard]] bool read_names() {
        const int copy = ::fcntl(folder_, F_DUPFD_CLOEXEC, 0);
        DIR* const entries = copy < 0 ? nullptr : ::fdopendir(copy);
        if (entries == nullptr) {
            if (copy >= 0) ::close(copy);
            return false;
        }
        bool is_over = true;
        errno = 0;
        while (const dirent* const each = is_over ? ::readdir(entries) : nullptr) {
            const std::string name = each->d_name;
            if (name == "." || name == "..") continue;
            is_over = may_go(name);
            names_.push_back(name);
            errno = 0;
        }
        is_over = is_over && errno == 0;
        ::closedir(entries);
        return is_over;
    }

    [[nodiscard]] bool may_go(const std::string& name) const {
        struct stat about {};
        if (::fstatat(folder_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || about.st_uid != ::geteuid())
            return false;
        if (name == hook_link_name) return S_ISLNK(about.st_mode); // removes the link itself
        if (!S_ISREG(about.st_mode)) return false;
        const std::string_view process = process_of(name);
        return process.empty() ? name == lock_name || name == plan_name : !lives(process);
    }

    fs::path path_;
    int folder_;
    int lock_ = -1;
    std::vector<std::string> names_;
};

void remove_left_over(const fs::path& place) {
    std::error_code error;
    fs::directory_iterator each(place, fs::directory_options::skip_permission_denied, error);
    for (; !error && each != fs::directory_iterator(); each.increment(error)) {
        if (is_name_of_ours(each->path().filename().string())) left_over(each->path()).remove_if_over();
    }
}

}

recordings_folder::recordings_folder(const std::string& kept) {
    if (!kept.empty()) {
        keep(kept);
    } else {
        make_own();
    }
    if (refusal_.empty()) refusal_ = why_no_room();
}

recordings_folder::~recordings_folder() {
    own_ = {}; // before its lock is gone
    if (lock_ >= 0) ::close(lock_);
}

void recordings_folder::keep(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) path_ = fs::canonical(path, error).string();
    if (error) {
        refusal_ = fmt::format("cannot use the folder {} for the recordings: {}", path, error.message());
        return;
    }
    fs::directory_iterator each(path_, error);
    for (; !error && each != fs::directory_iterator(); each.increment(error)) {
        if (each->path().extension() != recording_suffix) continue;
        refusal_ = fmt::format("{} contains recordings of another run, which would be mixed with the new ones: name "
                               "another folder",
                               path);
        return;
    }
}

void recordings_folder::make_own() {
    std::error_code error;
    const fs::path place = place_for_recordings(error);
    if (!error) remove_left_over(place);
    if (!error) own_ = temporary_folder(prefix, place);
    if (!own_.is_there()) {
        refusal_ =
            fmt::format("cannot create a folder for the recordings: {}", error ? error.message() : own_.refusal());
        return;
    }
    path_ = own_.path();
    const int folder = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    lock_ = folder < 0 ? -1 : take_lock(folder, O_CREAT);
    if (lock_ < 0) refusal_ = fmt::format("{} cannot be locked: {}", path_, std::strerror(errno));
    if (folder >= 0) ::close(folder);
}

bool recordings_folder::is_full() const {
    constexpr std::uint64_t nearly_none = std::uint64_t{1} << 20U;
    return !path_.empty() && free_bytes(path_) < nearly_none;
}

// A mapped file that runs out of space kills its process, so check the free space first.
std::string recordings_folder::why_no_room() const {
    constexpr std::size_t longest_path = 400; // the hook has 512 bytes for this path and a file name
    if (path_.size() > longest_path)
        return fmt::format("the path of the recordings is longer than {} characters: use --keep DIR or TMPDIR to "
                           "choose another folder",
                           longest_path);
    constexpr std::uint64_t least_file = std::uint64_t{64} << 20U;
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least_file) {
        return fmt::format("the file size limit is {} KiB, which is too small for a recording: run `ulimit -f "
                           "unlimited` first",
                           limit.rlim_cur >> 10U);
    }
    const std::uint64_t free = free_bytes(path_);
    if (free >= least_room) return {};
    return fmt::format("{} has only {} MiB left; recordings need 256: use --keep DIR or TMPDIR to choose another "
                       "place",
                       path_, free >> 20U);
}

}
