// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The head of an ELF file, the first line of a script, and the rights of a file that make the loader careful.

#include "cli/program_file.hpp"

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

/// "#!/bin/sh -e" is the script of /bin/sh; empty for what is no script.
std::string interpreter_of(const std::string& begin) {
    if (!begin.starts_with("#!")) return {};
    std::size_t const first = begin.find_first_not_of(" \t", 2);
    std::size_t const last = begin.find_first_of(" \t\n\r", first);
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

/// Of our own file: what may be preloaded into the program must be of its machine.
unsigned own_machine() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    ElfW(Ehdr) head{};
    return read_at(file, 0, head) ? head.e_machine : 0;
}

std::string why_not_elf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    ElfW(Ehdr) head{};
    if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {}; // the system will say
    unsigned char const own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (head.e_ident[EI_CLASS] != own_class || head.e_machine != own_machine()) {
        return "is of another machine than this command, and so is not of the library that would be preloaded";
    }
    if (!has_interpreter(file, head)) return "is linked statically: its malloc is in it, and nothing can be preloaded";
    return {};
}

/// Where in the file an address of the program's own numbering lies; 0: nowhere.
std::uint64_t offset_of(std::ifstream& file, const ElfW(Ehdr) & head, std::uint64_t address) {
    for (unsigned index = 0; index < head.e_phnum; ++index) {
        ElfW(Phdr) part{};
        if (!read_at(file, head.e_phoff + index * std::uint64_t{head.e_phentsize}, part)) return 0;
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
            return part.p_offset + (address - part.p_vaddr);
    }
    return 0;
}

/// Whether the kernel gives the program capabilities from its file. Inheritable ones alone add nothing to what the
/// process has.
bool grants_capabilities(const std::string& path) {
    vfs_ns_cap_data found{}; // older forms are its begin
    if (::getxattr(path.c_str(), "security.capability", &found, sizeof found) < 0) return false;
    std::uint32_t granted = le32toh(found.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE;
    for (auto const& word : found.data) granted |= word.permitted;
    return granted != 0;
}

/// The loader preloads nothing into a program that has more rights than who starts it.
std::string why_not_trusted(const std::string& path, const struct stat& about) {
    bool const as_owner = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::geteuid();
    bool const as_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getegid();
    if (as_owner || as_group) return "runs with the rights of another user, for which the loader preloads nothing";
    if (::getuid() != 0 && grants_capabilities(path)) { // root has them all
        return "has capabilities of its own (getcap shows them), for which the loader preloads nothing";
    }
    return {};
}

}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_executable_file(name) ? name : std::string{};
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!name.empty()) {
        std::size_t const colon = rest.find(':');
        std::string_view const folder = rest.substr(0, colon);
        std::string const candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
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
    if (!fs::is_regular_file(path, error)) return "is no file";
    return ::access(path.c_str(), X_OK) == 0 ? "" : "may not be executed (chmod +x would say that it may)";
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
    std::uint64_t const begin = offset_of(file, head, names);
    for (std::uint64_t const each : needed) {
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
    constexpr int max_interpreters = 4; // as deep as the kernel goes
    for (int depth = 0; depth < max_interpreters; ++depth) {
        if (::stat(inspected.c_str(), &about) != 0) return fmt::format("needs {}, which is not there", inspected);
        std::string begin(256, '\0');
        std::ifstream file(inspected, std::ios::binary);
        file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
        std::string const interpreter = interpreter_of(begin);
        if (interpreter.empty()) break;
        inspected = interpreter;
    }
    std::string reason = why_not_trusted(inspected, about); // a script's own rights count for nothing
    if (reason.empty()) reason = why_not_elf(inspected);
    return reason.empty() || inspected == path ? reason : fmt::format("is a script of {}, which {}", inspected, reason);
}

}
