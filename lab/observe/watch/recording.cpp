// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <tenure/platform/clock.hpp>

#include "report/letters.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }
constexpr std::size_t head_bytes = rounded(sizeof(hook::process_head)), area_bytes = rounded(sizeof(hook::thread_area));

/// The length of a tick in ns, from both clocks at two moments on the same machine.
double length_of_tick(const hook::process_head& head) {
    std::uint64_t last_ns = head.last_ns, last_ticks = head.last_ticks;
    if (last_ns <= head.first_ns) {
        last_ns = platform::monotonic_ns();
        last_ticks = __builtin_ia32_rdtsc();
    }
    if (last_ns <= head.first_ns || last_ticks <= head.first_ticks) return 1; // from another machine or another boot
    return static_cast<double>(last_ns - head.first_ns) / static_cast<double>(last_ticks - head.first_ticks);
}

// Room for about a hundred thousand threads; a larger file can only consist of holes.
constexpr std::uint64_t max_file_bytes = std::uint64_t{1} << 40U;

/// A count that indexes `most` records. It is clamped, because the process may still run, or may be another user's and
/// write anything.
std::uint32_t count_of(const std::uint32_t& count, std::uint32_t most) {
    return std::min(__atomic_load_n(&count, __ATOMIC_ACQUIRE), most);
}

/// Whether the counts and indices of the area are in range: a file may be damaged.
bool is_whole(const hook::thread_area& area) {
    bool good = area.first != 0 && area.nodes >= 1 && area.nodes <= hook::max_nodes &&
                area.stack_words <= hook::max_stack_words && area.sites <= hook::max_sites &&
                area.intervals <= hook::max_intervals && area.waits <= hook::max_waits;
    for (std::uint32_t index = 1; good && index < count_of(area.nodes, hook::max_nodes); ++index) {
        good = area.node[index].parent < index && area.node[index].region < hook::max_regions;
    }
    return good;
}

/// A file that closes itself.
class open_file {
public:
    open_file(const std::filesystem::path& path, int flags)
        // O_NONBLOCK: opening a pipe would wait for its other end.
        : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    ~open_file() {
        if (number_ >= 0) ::close(number_);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

/// Whether only this user can truncate the file while it is mapped. Reading a truncated mapping raises SIGBUS.
bool is_ours_alone(const struct stat& about) {
    return about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Limit for data that is copied; holes are skipped. Other users' files may consist of holes only.
constexpr std::uint64_t max_copy_bytes = std::uint64_t{4} << 30U;

/// Copies the file into memory of our own, as far as it has data.
/// Returns   MAP_FAILED when it has too much data, or when out of memory.
void* copy_of(int file, std::uint64_t bytes) {
    void* const copy =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED) return copy;
    std::uint64_t copied = 0;
    for (off_t at = 0; at < static_cast<off_t>(bytes);) {
        const off_t begin = ::lseek(file, at, SEEK_DATA);
        if (begin < 0 || begin >= static_cast<off_t>(bytes)) break;
        const off_t hole = ::lseek(file, begin, SEEK_HOLE);
        const off_t end = std::min(hole < 0 ? static_cast<off_t>(bytes) : hole, static_cast<off_t>(bytes));
        for (at = begin; at < end;) {
            constexpr off_t max_at_once = off_t{1} << 20U;
            const auto wanted = static_cast<std::size_t>(std::min(end - at, max_at_once));
            const ssize_t got = copied > max_copy_bytes ? -1 : ::pread(file, static_cast<char*>(copy) + at, wanted, at);
            if (got == 0) return copy; // truncated meanwhile
            if (got < 0) {
                ::munmap(copy, bytes);
                return MAP_FAILED;
            }
            at += got;
            copied += static_cast<std::uint64_t>(got);
        }
    }
    return copy;
}

bool is_recording_of_now(const hook::process_head& head) {
    return head.magic == hook::file_magic && head.version == hook::file_version;
}

}

std::unique_ptr<recording> recording::open(const std::filesystem::path& path, std::string& why) {
    const open_file file(path, O_RDONLY);
    struct stat about {};
    if (file.number() < 0 || ::fstat(file.number(), &about) != 0) {
        why = std::strerror(errno);
        return nullptr;
    }
    if (!S_ISREG(about.st_mode)) {
        why = "it is not a regular file";
        return nullptr;
    }
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    if (bytes > max_file_bytes) {
        why = fmt::format("it has {} GiB; a recording has 1024 at most", bytes >> 30U);
        return nullptr;
    }
    void* mapped = MAP_FAILED;
    if (bytes >= head_bytes) {
        mapped = is_ours_alone(about) ? ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.number(), 0)
                                      : copy_of(file.number(), bytes);
    }
    if (mapped == MAP_FAILED) {
        why = "it is not a whole recording";
        return nullptr;
    }
    std::unique_ptr<recording> made(new recording);
    made->mapped_ = mapped;
    made->bytes_ = bytes;
    made->head_ = static_cast<const hook::process_head*>(mapped);
    const hook::process_head& head = *made->head_;
    if (!is_recording_of_now(head) || head.modules > hook::max_modules) {
        why = "it is not a recording of this version";
        return nullptr;
    }
    made->ns_per_tick_ = length_of_tick(head);
    made->last_ticks_ = std::max(head.first_ticks, head.last_ticks);
    if (head.end_signal != 0) made->last_ticks_ = std::max(made->last_ticks_, head.end_ticks);
    for (std::size_t offset = head_bytes; bytes - offset >= area_bytes; offset += area_bytes) {
        const auto* const area = reinterpret_cast<const hook::thread_area*>(static_cast<const char*>(mapped) + offset);
        if (!is_whole(*area)) continue; // the thread was killed while it created it
        made->threads_.push_back(area);
        made->last_ticks_ = std::max({made->last_ticks_, area->last, area->latest});
    }
    return made;
}

recording::~recording() {
    if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
}

std::string_view recording::program() const {
    const std::string_view path{head_->program, ::strnlen(head_->program, sizeof head_->program)};
    return path;
}

std::span<const hook::node_record> recording::nodes(const hook::thread_area& thread) {
    return {thread.node, std::max(count_of(thread.nodes, hook::max_nodes), 1U)};
}
std::span<const hook::site_record> recording::sites(const hook::thread_area& thread) {
    return {thread.site, count_of(thread.sites, hook::max_sites)};
}
std::span<const hook::interval_record> recording::intervals(const hook::thread_area& thread) {
    return {thread.interval, count_of(thread.intervals, hook::max_intervals)};
}
std::span<const hook::wait_record> recording::waits(const hook::thread_area& thread) {
    return {thread.wait, count_of(thread.waits, hook::max_waits)};
}

std::vector<std::uint64_t> recording::frames(const hook::thread_area& thread, std::uint32_t stack) const {
    const std::uint32_t words = count_of(thread.stack_words, hook::max_stack_words);
    if (stack == 0 || stack >= words) return {};
    const std::uint64_t count = __atomic_load_n(&thread.stack[stack], __ATOMIC_RELAXED);
    if (count > hook::max_frames || count >= words - stack) return {};
    return {thread.stack + stack + 1, thread.stack + stack + 1 + count};
}

recording::placed recording::place_of(std::uint64_t frame) const {
    const std::uint64_t number = frame >> hook::module_shift;
    if (number == 0 || number > count_of(head_->modules, hook::max_modules)) return {{}, frame};
    const hook::module_record& module = head_->module[number - 1];
    constexpr std::uint64_t offset_bits = (std::uint64_t{1} << hook::module_shift) - 1;
    return {{module.path, ::strnlen(module.path, sizeof module.path)}, frame & offset_bits};
}

std::uint64_t recording::frame_of(std::uint64_t address) const {
    for (std::uint32_t index = 0; index < count_of(head_->modules, hook::max_modules); ++index) {
        const hook::module_record& each = head_->module[index];
        if (address >= each.first && address < each.last) {
            return (std::uint64_t{index} + 1) << hook::module_shift | (address - each.base);
        }
    }
    return address;
}

namespace {

/// The last recording of a process, which may have executed several programs. Empty when there is none.
std::filesystem::path last_recording(const std::filesystem::path& folder, std::uint32_t process) {
    constexpr std::uint32_t max_numbers = 10'000; // maximum number that the hook creates
    std::filesystem::path last;
    for (std::uint32_t number = 0; number < max_numbers; ++number) {
        const std::filesystem::path file = folder / fmt::format("{}-{}.tnw", process, number);
        std::error_code error;
        if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) break;
        last = file;
    }
    return last;
}

}

void note_seen_end(const std::filesystem::path& folder, const seen_end& end) {
    const std::filesystem::path last = last_recording(folder, end.process);
    if (last.empty()) return;
    // Others may be able to write to the folder (--keep), so a link is not followed.
    const open_file file(last, O_RDWR | O_NOFOLLOW);
    struct stat about {};
    if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return;
    const bool is_ours = S_ISREG(about.st_mode) && about.st_nlink == 1 && about.st_uid == ::geteuid();
    if (!is_ours || static_cast<std::uint64_t>(about.st_size) < head_bytes) return;
    void* const mapped = ::mmap(nullptr, head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (mapped == MAP_FAILED) return;
    auto& head = *static_cast<hook::process_head*>(mapped);
    if (is_recording_of_now(head) && head.process == end.process) {
        head.end_signal = static_cast<std::uint32_t>(end.signal);
        head.has_end_code = end.signal == 0 ? 1 : 0;
        head.end_code = static_cast<std::uint32_t>(end.code);
        head.end_ticks = end.ticks;
    }
    ::munmap(mapped, head_bytes);
}

std::vector<std::unique_ptr<recording>> recordings_of(const std::filesystem::path& folder,
                                                      std::vector<std::string>& notices) {
    std::vector<std::unique_ptr<recording>> found;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::filesystem::path file = entry->path();
        if (file.extension() != ".tnw") continue;
        std::string why;
        if (auto each = recording::open(file, why)) {
            found.push_back(std::move(each));
        } else {
            notices.push_back(fmt::format("{} is left out: {}", printable(file.filename().string()), why));
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
        return left->process().first_ticks < right->process().first_ticks;
    });
    return found;
}

}
