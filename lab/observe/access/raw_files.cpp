// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/access/raw_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] bool is_process_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The number that a process has in its own namespace.
[[nodiscard]] std::uint64_t number_in_namespace(const std::string& process) {
    constexpr std::string_view name = "NSpid:";
    std::ifstream file("/proc/" + process + "/status");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(name)) continue;
        return std::strtoull(line.c_str() + line.find_last_of(" \t") + 1, nullptr, 10);
    }
    return std::strtoull(process.c_str(), nullptr, 10);
}

/// Calls `visit` with each entry of a folder, until it returns false. A folder that goes away ends the walk.
template<class Visit>
void visit_folder(const fs::path& folder, Visit&& visit) {
    std::error_code error;
    fs::directory_iterator each(folder, error);
    for (; !error && each != fs::directory_iterator(); each.increment(error))
        if (!visit(each->path())) return;
}

}

void visit_raw_files(const std::string& file, std::uint64_t recording,
                     const std::function<bool(const std::string&)>& is_known,
                     const std::function<void(const std::string&, const trace_format::file_header&)>& visit) {
    const std::string begin = fs::path(file).filename().string() + ".";
    visit_folder(fs::path(file).parent_path(), [&](const fs::path& each) {
        const std::string name = each.filename().string(), path = each.string();
        trace_format::file_header header{};
        if (name.starts_with(begin) && name.ends_with(raw_suffix) && !is_known(path) && read_header(path, header) &&
            header.recording == recording)
            visit(path, header);
        return true;
    });
}

bool mapped_raw_files::is_writer(std::uint64_t inode, std::uint64_t number) const {
    return own_number == number && std::find(inodes.begin(), inodes.end(), inode) != inodes.end();
}

bool mapped_raw_files::is_hidden() const { return error == EACCES || error == EPERM; }

mapped_raw_files mapped_by(const std::string& process) {
    mapped_raw_files found;
    errno = 0;
    std::ifstream file("/proc/" + process + "/maps");
    if (!file) {
        found.error = errno == ENOENT || errno == ESRCH ? 0 : errno;
        return found;
    }
    for (std::string line; std::getline(file, line);) {
        found.is_running = true;
        if (line.find(raw_suffix) == std::string::npos) continue;
        // begin-end rights offset device inode path
        std::size_t at = 0;
        for (int field = 0; field < 4 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
        if (at == std::string::npos) continue;
        const std::uint64_t inode = std::strtoull(line.c_str() + at, nullptr, 10);
        if (std::find(found.inodes.begin(), found.inodes.end(), inode) == found.inodes.end())
            found.inodes.push_back(inode);
    }
    if (!found.inodes.empty()) found.own_number = number_in_namespace(process);
    return found;
}

void visit_processes(const std::function<bool(const std::string&)>& visit) {
    visit_folder("/proc", [&](const fs::path& each) {
        const std::string name = each.filename().string();
        return !is_process_number(name) || visit(name);
    });
}

}
