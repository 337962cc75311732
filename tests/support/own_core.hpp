// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A core file of the process that calls: what it has written to, and the data of its own file.

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace support {

/// Parts of a core file, put together to one.
class core_maker {
public:
    core_maker() { head_.e_machine = EM_X86_64; }

    Elf64_Ehdr& head() { return head_; }
    /// Memory with these contents; what `memory_bytes` says more has none.
    void add_memory(std::uint64_t address, const std::string& contents, std::uint64_t memory_bytes = 0,
                    std::uint32_t rights = PF_R | PF_W) {
        Elf64_Phdr part{};
        part.p_type = PT_LOAD;
        part.p_flags = rights;
        part.p_vaddr = address;
        part.p_filesz = contents.size();
        part.p_memsz = memory_bytes == 0 ? contents.size() : memory_bytes;
        add(part, contents);
    }
    void add_note(std::uint32_t kind, const std::string& contents) {
        const Elf64_Nhdr note{5, static_cast<std::uint32_t>(contents.size()), kind};
        std::string text(reinterpret_cast<const char*>(&note), sizeof note);
        text.append("CORE\0\0\0\0", 8).append(contents);
        text.append((4 - text.size() % 4) % 4, '\0');
        Elf64_Phdr part{};
        part.p_type = PT_NOTE;
        part.p_filesz = text.size();
        add(part, text);
    }
    void add_mapped_file(std::uint64_t begin, std::uint64_t end, std::uint64_t offset, const std::string& path) {
        for (const std::uint64_t each : {begin, end, offset}) append(mappings_, each);
        paths_ += path + '\0';
        ++mapping_count_;
    }
    void set_program(std::uint32_t process, const std::string& arguments) {
        constexpr std::size_t process_at = 24, name_at = 40, words_at = 56, all_bytes = 136;
        std::string note(all_bytes, '\0');
        std::memcpy(note.data() + process_at, &process, sizeof process);
        note.replace(name_at, 4, "name");
        note.replace(words_at, arguments.size(), arguments);
        note.resize(all_bytes);
        add_note(NT_PRPSINFO, note);
    }

    [[nodiscard]] std::string finished() {
        std::string list;
        append(list, mapping_count_);
        append(list, 1); // the unit of offsets
        add_note(NT_FILE, list + mappings_ + paths_);
        std::memcpy(head_.e_ident, ELFMAG, SELFMAG);
        if (head_.e_ident[EI_CLASS] == 0) head_.e_ident[EI_CLASS] = ELFCLASS64;
        if (head_.e_ident[EI_DATA] == 0) head_.e_ident[EI_DATA] = ELFDATA2LSB;
        if (head_.e_type == 0) head_.e_type = ET_CORE;
        head_.e_phoff = sizeof head_;
        head_.e_phentsize = sizeof(Elf64_Phdr);
        head_.e_phnum = static_cast<std::uint16_t>(parts_.size());
        std::string text(reinterpret_cast<const char*>(&head_), sizeof head_);
        const std::size_t begin = sizeof head_ + parts_.size() * sizeof(Elf64_Phdr);
        for (Elf64_Phdr& each : parts_) {
            each.p_offset += begin;
            text.append(reinterpret_cast<const char*>(&each), sizeof each);
        }
        return text + contents_;
    }

private:
    void add(Elf64_Phdr part, const std::string& contents) {
        part.p_offset = contents_.size();
        parts_.push_back(part);
        contents_ += contents;
    }
    static void append(std::string& to, std::uint64_t number) {
        to.append(reinterpret_cast<const char*>(&number), sizeof number);
    }

    Elf64_Ehdr head_{};
    std::vector<Elf64_Phdr> parts_;
    std::string contents_, mappings_, paths_;
    std::uint64_t mapping_count_ = 0;
};

/// Adds the pages of a mapping that are not all zeros, with short gaps, so that records are whole.
inline void add_touched(core_maker& to, int memory, std::uint64_t begin, std::uint64_t end) {
    constexpr std::size_t page_bytes = 4096, longest_gap = 512 * page_bytes; // records of checked builds
    std::string run, page(page_bytes, '\0');
    std::uint64_t run_begin = begin;
    std::size_t gap = 0;
    const std::string zeros(page_bytes, '\0');
    const auto finish = [&] {
        run.resize(run.size() - gap);
        if (!run.empty()) to.add_memory(run_begin, run);
        run.clear();
        gap = 0;
    };
    for (std::uint64_t at = begin; at < end; at += page_bytes) {
        const bool is_read = ::pread(memory, page.data(), page_bytes, static_cast<off_t>(at)) == page_bytes;
        const bool is_touched = is_read && page != zeros;
        if (run.empty() && !is_touched) continue;
        if (run.empty()) run_begin = at;
        gap = is_touched ? 0 : gap + page_bytes;
        run += is_read ? page : zeros;
        if (!is_read || gap > longest_gap) finish();
    }
    finish();
}

/// `has(begin, end)` says which memory without a file it contains, beside the data of the own file.
template<class Has>
[[nodiscard]] std::string core_of_this_process(Has has) {
    constexpr std::uint64_t largest = std::uint64_t{64} << 20; // not the shadow memory of a sanitizer
    core_maker made;
    made.set_program(static_cast<std::uint32_t>(::getpid()), "own_program --with words");
    char own[4096]{};
    static_cast<void>(::readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    std::FILE* const maps = std::fopen("/proc/self/maps", "re");
    std::uint64_t last_end = 0;
    char line[8192];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long begin = 0, end = 0, offset = 0;
        char rights[5]{}, path[4096]{};
        if (std::sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095[^\n]", &begin, &end, rights, &offset, path) < 4) continue;
        // A mapping that grew while this read is listed once more, with its new part.
        if (begin < last_end) continue;
        last_end = end;
        const bool is_own = std::strcmp(path, own) == 0;
        if (path[0] == '/') made.add_mapped_file(begin, end, offset, path);
        const bool is_kept = (path[0] == 0 && has(begin, end)) || (is_own && (rights[1] == 'w' || rights[2] != 'x'));
        if (is_kept && rights[0] == 'r' && end - begin <= largest) add_touched(made, memory, begin, end);
    }
    std::fclose(maps);
    ::close(memory);
    return made.finished();
}
[[nodiscard]] inline std::string core_of_this_process() {
    return core_of_this_process([](std::uint64_t, std::uint64_t) { return true; });
}

}
