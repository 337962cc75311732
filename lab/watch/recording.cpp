// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "watch/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <tenure/platform/clock.hpp>

namespace tenure::lab {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }
constexpr std::size_t head_bytes = rounded(sizeof(hook::process_head)), area_bytes = rounded(sizeof(hook::thread_area));

/// Both clocks at two moments of the same machine.
double length_of_tick(const hook::process_head& head) {
    std::uint64_t last_ns = head.last_ns, last_ticks = head.last_ticks;
    if (last_ns <= head.first_ns) {
        last_ns = platform::monotonic_ns();
        last_ticks = __builtin_ia32_rdtsc();
    }
    if (last_ns <= head.first_ns || last_ticks <= head.first_ticks)
        return 1; // of another machine, or another start of it
    return static_cast<double>(last_ns - head.first_ns) / static_cast<double>(last_ticks - head.first_ticks);
}

/// Whether counts that index the area are within it: a file may be damaged.
bool is_whole(const hook::thread_area& area) {
    bool good = area.first != 0 && area.nodes >= 1 && area.nodes <= hook::most_nodes &&
                area.stack_words <= hook::most_stack_words && area.sites <= hook::most_sites &&
                area.intervals <= hook::most_intervals && area.waits <= hook::most_waits;
    for (std::uint32_t index = 1; good && index < area.nodes; ++index) {
        good = area.node[index].parent < index && area.node[index].region < hook::most_regions;
    }
    return good;
}

}

std::unique_ptr<recording> recording::open(const std::filesystem::path& file, std::string& why) {
    int const number = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) {
        why = std::strerror(errno);
        return nullptr;
    }
    struct stat about {};
    bool const known = ::fstat(number, &about) == 0;
    auto const bytes = known ? static_cast<std::size_t>(about.st_size) : 0;
    void* const mapped = bytes < head_bytes ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, number, 0);
    ::close(number);
    if (mapped == MAP_FAILED) {
        why = "it is not a whole recording";
        return nullptr;
    }
    std::unique_ptr<recording> made(new recording);
    made->mapped_ = mapped;
    made->bytes_ = bytes;
    made->head_ = static_cast<const hook::process_head*>(mapped);
    const hook::process_head& head = *made->head_;
    if (head.magic != hook::file_magic || head.version != hook::file_version || head.modules > hook::most_modules) {
        why = "it is not a recording of this version";
        return nullptr;
    }
    made->ns_per_tick_ = length_of_tick(head);
    made->last_ticks_ = std::max(head.first_ticks, head.last_ticks);
    if (head.end_signal != 0) made->last_ticks_ = std::max(made->last_ticks_, head.end_ticks);
    for (std::size_t offset = head_bytes; offset + area_bytes <= bytes; offset += area_bytes) {
        auto const* const area = reinterpret_cast<const hook::thread_area*>(static_cast<const char*>(mapped) + offset);
        if (!is_whole(*area)) continue; // its thread was killed while it made it
        made->threads_.push_back(area);
        made->last_ticks_ = std::max({made->last_ticks_, area->last, area->latest});
    }
    return made;
}

recording::~recording() {
    if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
}

std::string_view recording::program() const {
    std::string_view const path{head_->program, ::strnlen(head_->program, sizeof head_->program)};
    return path;
}

std::vector<std::uint64_t> recording::frames(const hook::thread_area& thread, std::uint32_t stack) const {
    if (stack == 0 || stack >= thread.stack_words) return {};
    std::uint64_t const count = thread.stack[stack];
    if (count > hook::most_frames || stack + 1 + count > thread.stack_words) return {};
    return {thread.stack + stack + 1, thread.stack + stack + 1 + count};
}

recording::placed recording::place_of(std::uint64_t frame) const {
    std::uint64_t const number = frame >> hook::module_shift;
    if (number == 0 || number > head_->modules) return {{}, frame};
    const hook::module_record& module = head_->module[number - 1];
    constexpr std::uint64_t offset_bits = (std::uint64_t{1} << hook::module_shift) - 1;
    return {{module.path, ::strnlen(module.path, sizeof module.path)}, frame & offset_bits};
}

std::uint64_t recording::frame_of(std::uint64_t address) const {
    for (std::uint32_t index = 0; index < head_->modules; ++index) {
        const hook::module_record& each = head_->module[index];
        if (address >= each.first && address < each.last) {
            return (std::uint64_t{index} + 1) << hook::module_shift | (address - each.base);
        }
    }
    return address;
}

void note_seen_end(const std::filesystem::path& folder, const seen_end& end) {
    // A process that became another program has several files.
    std::filesystem::path last;
    for (std::uint32_t number = 0;; ++number) {
        std::filesystem::path const file = folder / fmt::format("{}-{}.tnw", end.process, number);
        std::error_code error;
        if (!std::filesystem::exists(file, error)) break;
        last = file;
    }
    if (last.empty()) return;
    int const number = ::open(last.c_str(), O_RDWR | O_CLOEXEC);
    if (number < 0) return;
    struct stat about {};
    bool const is_whole = ::fstat(number, &about) == 0 && static_cast<std::size_t>(about.st_size) >= head_bytes;
    void* const mapped =
        is_whole ? ::mmap(nullptr, head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0) : MAP_FAILED;
    ::close(number);
    if (mapped == MAP_FAILED) return;
    auto& head = *static_cast<hook::process_head*>(mapped);
    head.end_signal = static_cast<std::uint32_t>(end.signal);
    head.has_end_code = end.signal == 0 ? 1 : 0;
    head.end_code = static_cast<std::uint32_t>(end.code);
    head.end_ticks = end.ticks;
    ::munmap(mapped, head_bytes);
}

std::vector<std::unique_ptr<recording>> recordings_of(const std::filesystem::path& folder,
                                                      std::vector<std::string>& notices) {
    std::vector<std::unique_ptr<recording>> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".tnw") continue;
        std::string why;
        if (auto each = recording::open(entry.path(), why)) {
            found.push_back(std::move(each));
        } else {
            notices.push_back(fmt::format("{} is left out: {}", entry.path().filename().string(), why));
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
        return left->process().first_ticks < right->process().first_ticks;
    });
    return found;
}

}
