// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Reads ELF headers, the first line of scripts, and the privileges of a file that stop the loader from preloading.

#include "cli/arguments/program_file.hpp"

#include <elf.h>
#include <endian.h>
#include <fmt/format.h>
#include <link.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

bool is_executable_file(const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// The interpreter of a script, "/bin/sh" for "#!/bin/sh -e"; empty for any other file.
std::string interpreter_of(const std::string& begin) {
    if (!begin.starts_with("#!")) return {};
    const std::size_t first = begin.find_first_not_of(" \t", 2);
    const std::size_t last = begin.find_first_of(" \t\n\r", first);
    return first == std::string::npos ? std::string{} : begin.substr(first, last - first);
}

template<class Header>
bool read_at(std::ifstream& file, std::uint64_t offset, Header& header) {
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    return file.gcount() == static_cast<std::streamsize>(sizeof header);
}

bool has_interpreter(std::ifstream& file, const ElfW(Ehdr) & head) {
    for (unsigned index = 0; index < head.e_phnum; ++index) {
        ElfW(Phdr) part{};
        if (!read_at(file, head.e_phoff + index * std::uint64_t{head.e_phentsize}, part)) return false;
        if (part.p_type == PT_INTERP) return true;
    }
    return false;
}

/// The machine of our own file. A preloaded library must be for the same machine as the program.
unsigned own_machine() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    ElfW(Ehdr) head{};
    return read_at(file, 0, head) ? head.e_machine : 0;
}

std::string why_not_elf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    ElfW(Ehdr) head{};
    if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return {}; // the system reports the error
    const unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (head.e_ident[EI_CLASS] != own_class || head.e_machine != own_machine()) {
        return "is for another machine type than this command and the library to preload";
    }
    if (!has_interpreter(file, head))
        return "is linked statically: it contains its own malloc, and nothing can be "
               "preloaded";
    return {};
}

/// The file offset of one of the program's virtual addresses; 0 when it is not in the file.
std::uint64_t offset_of(std::ifstream& file, const ElfW(Ehdr) & head, std::uint64_t address) {
    for (unsigned index = 0; index < head.e_phnum; ++index) {
        ElfW(Phdr) part{};
        if (!read_at(file, head.e_phoff + index * std::uint64_t{head.e_phentsize}, part)) return 0;
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
            return part.p_offset + (address - part.p_vaddr);
    }
    return 0;
}

/// Whether the kernel grants the program capabilities from its file. Inheritable ones alone add nothing to those the
/// process has.
bool grants_capabilities(const std::string& path) {
    vfs_ns_cap_data found{}; // older forms are a prefix of this one
    if (::getxattr(path.c_str(), "security.capability", &found, sizeof found) < 0) return false;
    std::uint32_t granted = le32toh(found.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE;
    for (const auto& word : found.data) granted |= word.permitted;
    return granted != 0;
}

/// The loader preloads nothing into a program that has more privileges than the user who starts it.
std::string why_not_trusted(const std::string& path, const struct stat& about) {
    const bool as_owner = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::geteuid();
    const bool as_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getegid();
    if (as_owner || as_group)
        return "runs with the privileges of another user (set-user-ID or set-group-ID), so "
               "the loader preloads nothing";
    if (::getuid() != 0 && grants_capabilities(path)) { // root has all capabilities
        return "has capabilities of its own (getcap shows them), so the loader preloads nothing";
    }
    return {};
}

}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_executable_file(name) ? name : std::string{};
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!name.empty()) {
        const std::size_t colon = rest.find(':');
        const std::string_view folder = rest.substr(0, colon);
        const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
        if (is_executable_file(candidate)) return candidate;
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    return {};
}

std::string why_not_executable(const std::string& path) {
    std::error_code error;
    if (path.find('/') == std::string::npos || !fs::exists(path, error)) return {};
    if (fs::is_directory(path, error)) return "is a folder";
    if (!fs::is_regular_file(path, error)) return "is not a file";
    return ::access(path.c_str(), X_OK) == 0 ? "" : "is not executable (use chmod +x)";
}

bool needs_library(const std::string& path, std::string_view name) {
    std::ifstream file(path, std::ios::binary);
    ElfW(Ehdr) head{};
    if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
    std::vector<std::uint64_t> needed;
    std::uint64_t names = 0;
    for (unsigned index = 0; index < head.e_phnum; ++index) {
        ElfW(Phdr) part{};
        if (!read_at(file, head.e_phoff + index * std::uint64_t{head.e_phentsize}, part)) return false;
        if (part.p_type != PT_DYNAMIC) continue;
        ElfW(Dyn) entry{};
        for (std::uint64_t at = 0; at + sizeof entry <= part.p_filesz; at += sizeof entry) {
            if (!read_at(file, part.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
            if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
            if (entry.d_tag == DT_STRTAB) names = entry.d_un.d_ptr;
        }
    }
    const std::uint64_t begin = offset_of(file, head, names);
    for (const std::uint64_t each : needed) {
        std::string found(name.size(), '\0');
        file.clear();
        file.seekg(static_cast<std::streamoff>(begin + each));
        file.read(found.data(), static_cast<std::streamsize>(found.size()));
        if (begin != 0 && found == name) return true;
    }
    return false;
}

std::string why_not_preloadable(const std::string& path) {
    std::string inspected = path;
    struct stat about {};
    constexpr int max_interpreters = 4; // the kernel's limit
    for (int depth = 0; depth < max_interpreters; ++depth) {
        if (::stat(inspected.c_str(), &about) != 0) return fmt::format("needs {}, which does not exist", inspected);
        std::string begin(256, '\0');
        std::ifstream file(inspected, std::ios::binary);
        file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
        const std::string interpreter = interpreter_of(begin);
        if (interpreter.empty()) break;
        inspected = interpreter;
    }
    std::string reason = why_not_trusted(inspected, about); // the kernel ignores the privileges of a script file
    if (reason.empty()) reason = why_not_elf(inspected);
    return reason.empty() || inspected == path ? reason : fmt::format("is a script of {}, which {}", inspected, reason);
}

}
