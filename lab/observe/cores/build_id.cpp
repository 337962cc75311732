// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/build_id.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace tenure::lab {

namespace {

[[nodiscard]] std::string hex_of(const unsigned char* bytes, std::size_t count) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t each = 0; each < count; ++each) {
        text += digits[bytes[each] >> 4];
        text += digits[bytes[each] & 15];
    }
    return text;
}

/// The ID among the notes of a part of the file.
[[nodiscard]] std::string id_in(const elf_reader& read, std::uint64_t at, std::uint64_t bytes) {
    constexpr std::uint64_t most_bytes = 64 * 1024, most_of_id = 64;
    for (std::uint64_t left = std::min(bytes, most_bytes); left >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note{};
        if (!read(at, &note, sizeof note)) return {};
        const std::uint64_t size = sizeof note + padded_note_bytes(note.n_namesz) + padded_note_bytes(note.n_descsz);
        if (size > left) return {};
        char name[4]{};
        const bool is_gnu = note.n_namesz == sizeof name && read(at + sizeof note, name, sizeof name) &&
                            std::memcmp(name, "GNU", sizeof name) == 0;
        if (is_gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= most_of_id) {
            unsigned char id[most_of_id];
            if (!read(at + sizeof note + sizeof name, id, note.n_descsz)) return {};
            return hex_of(id, note.n_descsz);
        }
        at += size;
        left -= size;
    }
    return {};
}

}

std::string build_id_of(const elf_reader& read) {
    constexpr unsigned most_parts = 64;
    Elf64_Ehdr head{};
    if (!read(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > most_parts ||
        head.e_phoff > UINT32_MAX)
        return {};
    for (unsigned index = 0; index < head.e_phnum; ++index) {
        Elf64_Phdr part{};
        if (!read(head.e_phoff + index * sizeof part, &part, sizeof part)) return {};
        if (part.p_type != PT_NOTE || part.p_offset > UINT32_MAX) continue;
        if (std::string found = id_in(read, part.p_offset, part.p_filesz); !found.empty()) return found;
    }
    return {};
}

}
