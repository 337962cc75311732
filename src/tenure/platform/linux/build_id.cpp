// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/build_id.hpp>

#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// Reads memory of this process. The system copies, so that memory which another thread unmaps meanwhile is an error
/// and no fault. dl_iterate_phdr() would take the linker's lock, which the interrupted thread may hold. The
/// reader copies 1 KiB at a time: a file's headers and notes are nearly always in the first one.
class part_reader {
public:
    template<class T>
    [[nodiscard]] bool read(std::uintptr_t address, T* to, std::size_t count = 1) noexcept {
        auto* into = reinterpret_cast<unsigned char*>(to);
        for (std::size_t left = count * sizeof(T); left != 0;) {
            const std::uintptr_t begin = align_down(address, sizeof part_);
            if (begin != at_ && !copy(begin)) return false;
            const std::size_t count_here = std::min(left, begin + sizeof part_ - address);
            std::memcpy(into, part_ + (address - begin), count_here);
            into += count_here;
            address += count_here;
            left -= count_here;
        }
        return true;
    }

private:
    [[nodiscard]] bool copy(std::uintptr_t begin) noexcept {
        iovec here{part_, sizeof part_}, there{pointer_at(begin), sizeof part_};
        const bool is_read = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == ssize_t{sizeof part_};
        at_ = is_read ? begin : 1;
        return is_read;
    }

    std::uintptr_t at_ = 1;    // none
    unsigned char part_[1024]; // signal handlers have small stacks
};

[[nodiscard]] build_id find_in_notes(part_reader& memory, std::uintptr_t at, std::size_t bytes) noexcept {
    constexpr char owner[] = "GNU";
    constexpr std::size_t max_notes_bytes = 65'536;
    const std::uintptr_t end = at + std::min(bytes, max_notes_bytes);
    ElfW(Nhdr) note{};
    while (at < end && end - at >= sizeof note && memory.read(at, &note)) {
        if (note.n_namesz > max_notes_bytes || note.n_descsz > max_notes_bytes) break;
        const std::uintptr_t name = at + sizeof note, value = name + align_up(std::size_t{note.n_namesz}, 4);
        build_id found;
        char its_owner[sizeof owner];
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner && note.n_descsz <= build_id::max_bytes &&
            memory.read(name, its_owner, sizeof owner) && std::memcmp(its_owner, owner, sizeof owner) == 0 &&
            memory.read(value, found.bytes, note.n_descsz)) {
            found.count = note.n_descsz;
            return found;
        }
        at = value + align_up(std::size_t{note.n_descsz}, 4);
    }
    return {};
}

[[nodiscard]] build_id find(part_reader& memory, std::uintptr_t begin) noexcept {
    constexpr unsigned char this_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    constexpr unsigned max_parts = 128;
    ElfW(Ehdr) head{};
    if (!memory.read(begin, &head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != this_class || head.e_phentsize != sizeof(ElfW(Phdr)))
        return {};
    std::uintptr_t bias = begin;
    for (const bool is_for_notes : {false, true}) { // where the file lies, and then its notes
        for (unsigned index = 0; index < std::min<unsigned>(head.e_phnum, max_parts); ++index) {
            ElfW(Phdr) part{};
            if (!memory.read(begin + head.e_phoff + index * sizeof part, &part)) return {};
            if (!is_for_notes && part.p_type == PT_LOAD && part.p_offset == 0) bias = begin - part.p_vaddr;
            if (!is_for_notes || part.p_type != PT_NOTE) continue;
            const build_id found = find_in_notes(memory, bias + part.p_vaddr, part.p_filesz);
            if (found.count != 0) return found;
        }
    }
    return {};
}

}

build_id build_id_at(std::uintptr_t begin) noexcept {
    const int saved = errno;
    part_reader memory;
    const build_id found = find(memory, begin);
    errno = saved;
    return found;
}

}
