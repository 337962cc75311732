// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/import/loaded_segments.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace tenure::lab {

namespace {

/// The loaded segments of a file; empty if it is no 64-bit ELF file.
[[nodiscard]] std::vector<Elf64_Phdr> segments_of(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
    const bool is_known = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                          header.e_phentsize == sizeof(Elf64_Phdr);
    if (!is_known) return {};
    std::vector<Elf64_Phdr> found(header.e_phnum);
    const auto bytes = static_cast<std::streamsize>(found.size() * sizeof(Elf64_Phdr));
    file.seekg(static_cast<std::streamoff>(header.e_phoff));
    if (!file.read(reinterpret_cast<char*>(found.data()), bytes)) return {};
    std::erase_if(found, [](const Elf64_Phdr& each) { return each.p_type != PT_LOAD; });
    return found;
}

}

void find_file_offsets(std::vector<trace_mapping>& mappings) {
    std::map<std::string, std::vector<Elf64_Phdr>> files;
    std::erase_if(mappings, [&](trace_mapping& each) {
        if (!each.path.starts_with('/')) return false;
        const auto [file, is_new] = files.try_emplace(each.path);
        if (is_new) file->second = segments_of(each.path);
        const std::vector<Elf64_Phdr>& segments = file->second;
        const auto found = std::find_if(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
            return segment.p_vaddr == each.file_offset && segment.p_memsz == each.end - each.begin;
        });
        if (found == segments.end()) return !segments.empty();
        each.file_offset = found->p_offset;
        return false;
    });
}

}
