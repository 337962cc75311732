// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/posix/elf_symbols.hpp>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/no_cancel.hpp>

// The loader knows only the functions that a file exports. The table of the linker has all of them, unless the file was
// stripped. It is not loaded, so the file is mapped. What a damaged file says is not believed: every range is checked.

namespace tenure::inline TENURE_ABI::platform {

namespace {

using file_head = ElfW(Ehdr);
using section_head = ElfW(Shdr);
using symbol_entry = ElfW(Sym);

}

elf_symbols::~elf_symbols() { close(); }

void elf_symbols::close() noexcept {
    if (file_ != nullptr) ::munmap(const_cast<unsigned char*>(file_), align_up(file_bytes_, page_bytes()));
    file_ = nullptr;
    symbol_count_ = 0;
}

const void* elf_symbols::bytes_at(std::uint64_t offset, std::uint64_t count) const noexcept {
    return offset <= file_bytes_ && count <= file_bytes_ - offset ? file_ + offset : nullptr;
}

void elf_symbols::open(const char* path) noexcept {
    close();
    const no_cancel_scope scope;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat found {};
    void* memory = MAP_FAILED;
    if (::fstat(file, &found) == 0 && found.st_size > 0)
        memory = ::mmap(nullptr, static_cast<std::size_t>(found.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) return;
    file_ = static_cast<const unsigned char*>(memory);
    file_bytes_ = static_cast<std::size_t>(found.st_size);
    find_tables();
}

void elf_symbols::find_tables() noexcept {
    const auto* const head = static_cast<const file_head*>(bytes_at(0, sizeof(file_head)));
    if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return;
    if (head->e_shentsize != sizeof(section_head) || head->e_shoff % alignof(section_head) != 0) return;
    const std::size_t count = head->e_shnum;
    const auto* const sections =
        static_cast<const section_head*>(bytes_at(head->e_shoff, count * sizeof(section_head)));
    if (sections == nullptr) return;
    for (const std::uint32_t kind : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
        for (std::size_t index = 0; index < count; ++index) {
            const section_head& table = sections[index];
            if (table.sh_type != kind || table.sh_link >= count) continue;
            if (table.sh_offset % alignof(symbol_entry) != 0) continue;
            const section_head& names = sections[table.sh_link];
            symbols_ = bytes_at(table.sh_offset, table.sh_size);
            names_ = static_cast<const char*>(bytes_at(names.sh_offset, names.sh_size));
            if (symbols_ == nullptr || names_ == nullptr) continue;
            symbol_count_ = table.sh_size / sizeof(symbol_entry);
            names_bytes_ = names.sh_size;
            has_all_ = kind == SHT_SYMTAB;
            return;
        }
    }
}

elf_symbols::symbol elf_symbols::find(std::uint64_t address) const noexcept {
    const auto* const symbols = static_cast<const symbol_entry*>(symbols_);
    for (std::size_t index = 0; index < symbol_count_; ++index) {
        const symbol_entry& each = symbols[index];
        constexpr unsigned kind_mask = 15;
        if ((each.st_info & kind_mask) != STT_FUNC || each.st_shndx == SHN_UNDEF) continue;
        if (address - each.st_value >= each.st_size || each.st_name >= names_bytes_) continue;
        return {{names_ + each.st_name, ::strnlen(names_ + each.st_name, names_bytes_ - each.st_name)},
                address - each.st_value};
    }
    return {};
}

}
