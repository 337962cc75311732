// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/attached.hpp"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "report/read_file.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_library_bytes = std::uint64_t{256} << 20U;

/// A file of /proc has no size, so it is read to its end.
[[nodiscard]] std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template<class T>
[[nodiscard]] bool read_at(std::string_view bytes, std::uint64_t at, T& to) {
    if (at > bytes.size() || bytes.size() - at < sizeof to) return false;
    std::memcpy(&to, bytes.data() + at, sizeof to);
    return true;
}

/// A string that ends with a zero. Moves `text` behind it.
[[nodiscard]] std::string_view next_word(std::string_view& text) {
    const std::size_t end = text.find('\0');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return word;
}

/// The address of the semaphore of tenure:requests in one section of notes.
[[nodiscard]] std::optional<std::uint64_t> requests_in(std::string_view notes) {
    const auto rounded = [](std::uint64_t bytes) { return (bytes + 3) / 4 * 4; };
    std::uint64_t at = 0;
    Elf64_Nhdr note{};
    while (read_at(notes, at, note)) {
        const std::uint64_t text = at + sizeof note + rounded(note.n_namesz);
        Elf64_Addr addresses[3]{};
        if (read_at(notes, text, addresses) && text + note.n_descsz <= notes.size() &&
            note.n_descsz > sizeof addresses) {
            std::string_view words = notes.substr(text + sizeof addresses, note.n_descsz - sizeof addresses);
            if (next_word(words) == "tenure" && next_word(words) == "requests") return addresses[2];
        }
        at = text + rounded(note.n_descsz);
    }
    return std::nullopt;
}

/// The same for a file.
[[nodiscard]] std::optional<std::uint64_t> requests_of(std::string_view file) {
    Elf64_Ehdr head{};
    if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
    for (unsigned index = 0; index < head.e_shnum; ++index) {
        Elf64_Shdr section{};
        if (!read_at(file, head.e_shoff + index * sizeof section, section)) return std::nullopt;
        if (section.sh_type != SHT_NOTE || section.sh_offset > file.size() ||
            section.sh_size > file.size() - section.sh_offset)
            continue;
        if (const auto found = requests_in(file.substr(section.sh_offset, section.sh_size))) return found;
    }
    return std::nullopt;
}

}

attached_process::attached_process(int process) : process_(process) {
    std::error_code error;
    if (!fs::exists(fmt::format("/proc/{}", process), error)) {
        refusal_ = fmt::format("there is no process {}", process);
    } else if (find_requests()) {
        find_folder();
    }
}

bool attached_process::find_requests() {
    std::istringstream maps(text_of(fmt::format("/proc/{}/maps", process_)));
    bool has_maps = false;
    for (std::string line; std::getline(maps, line);) {
        has_maps = true;
        const std::size_t path = line.find('/');
        if (path == std::string::npos || line.find("libtenure_malloc", path) == std::string::npos) continue;
        // The first mapping of a library begins with its head: at the address that all others count from.
        const std::uint64_t base = std::strtoull(line.c_str(), nullptr, 16);
        const file_text library =
            read_file(fmt::format("/proc/{}/root{}", process_, line.substr(path)), max_library_bytes);
        const auto offset = library.ok() ? requests_of(library.text) : std::nullopt;
        if (!offset.has_value()) {
            refusal_ = fmt::format("{} of process {} {}", line.substr(path), process_,
                                   library.ok() ? "is of a release that cannot be asked" : library.error);
            return false;
        }
        requests_ = base + *offset;
        return true;
    }
    refusal_ =
        has_maps ? fmt::format("process {} does not run under the drop-in malloc: start it with `tenure run`", process_)
                 : fmt::format("process {} cannot be examined: only those who may debug it can ask it", process_);
    return false;
}

void attached_process::find_folder() {
    constexpr std::string_view variable = "TENURE_PROFILE_DIR=";
    const std::string root = fmt::format("/proc/{}/root", process_), here = fmt::format("/proc/{}/cwd", process_);
    folder_ = here;
    const std::string whole = text_of(fmt::format("/proc/{}/environ", process_));
    std::string_view rest = whole;
    while (!rest.empty()) {
        const std::string_view each = next_word(rest);
        if (!each.starts_with(variable) || each.size() == variable.size()) continue;
        const std::string named{each.substr(variable.size())};
        folder_ = named.front() == '/' ? root + named : here + "/" + named;
        return;
    }
}

std::vector<std::string> attached_process::files() const {
    const std::string middle = fmt::format(".{}.", process_);
    std::vector<std::string> found;
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(folder_, error)) {
        const std::string name = each.path().filename().string();
        const bool is_asked = name.ends_with(".heapprofile") && !name.ends_with(".peak.heapprofile");
        if (is_asked && name.find(middle) != std::string::npos) found.push_back(each.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool attached_process::ask(request what) {
    std::fstream memory(fmt::format("/proc/{}/mem", process_), std::ios::in | std::ios::out | std::ios::binary);
    std::uint16_t value = 0;
    memory.seekg(static_cast<std::streamoff>(requests_));
    memory.read(reinterpret_cast<char*>(&value), sizeof value);
    value = static_cast<std::uint16_t>(value | static_cast<std::uint16_t>(what));
    memory.seekp(static_cast<std::streamoff>(requests_));
    memory.write(reinterpret_cast<const char*>(&value), sizeof value);
    memory.flush();
    if (memory) return true;
    refusal_ = fmt::format("process {} cannot be asked: {}. Run this as the user who may debug it (root, or with "
                           "kernel.yama.ptrace_scope=0)",
                           process_, std::strerror(errno));
    return false;
}

bool attached_process::is_served_within(std::chrono::milliseconds time) const {
    constexpr std::chrono::milliseconds between_looks{20};
    const auto until = std::chrono::steady_clock::now() + time;
    while (true) {
        std::ifstream memory(fmt::format("/proc/{}/mem", process_), std::ios::binary);
        std::uint16_t value = 1;
        memory.seekg(static_cast<std::streamoff>(requests_));
        if (!memory.read(reinterpret_cast<char*>(&value), sizeof value)) return false;
        if (value == 0) return true;
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(between_looks);
    }
}

}
