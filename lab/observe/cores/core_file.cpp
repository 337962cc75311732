// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "observe/cores/build_id.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t os_page_bytes = 4096;
constexpr unsigned touched_word_bits = 64;

template<class Entry>
[[nodiscard]] const Entry* entry_at(const std::vector<Entry>& entries, std::uint64_t address) {
    auto after = std::upper_bound(entries.begin(), entries.end(), address,
                                  [](std::uint64_t at, const Entry& each) { return at < each.begin; });
    return after == entries.begin() ? nullptr : &*--after;
}

template<class T>
[[nodiscard]] T value_at(const std::string& bytes, std::size_t at) {
    T value{};
    if (at <= bytes.size() && sizeof value <= bytes.size() - at) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// A text that ends with a zero, or with its field.
[[nodiscard]] std::string text_at(const std::string& bytes, std::size_t at, std::size_t most) {
    if (at >= bytes.size()) return {};
    const std::string field = bytes.substr(at, most);
    return printable(field.substr(0, field.find('\0')));
}

[[nodiscard]] std::string name_of_machine(unsigned machine) {
    switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "AArch64";
    case EM_386: return "x86, 32 bits";
    case EM_ARM: return "Arm, 32 bits";
    case EM_RISCV: return "RISC-V";
    default: return fmt::format("machine {}", machine);
    }
}

void check_head(const Elf64_Ehdr& head) {
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) throw core_error("This is not a core file.");
    if (head.e_ident[EI_CLASS] != ELFCLASS64)
        throw core_error("This is a file for 32 bits; Tenure's heaps are in programs for 64 bits only.");
    if (head.e_ident[EI_DATA] != ELFDATA2LSB)
        throw core_error("This file is of a big-endian machine, for which Tenure has no heap.");
    if (head.e_type != ET_CORE)
        throw core_error("This is an ELF file, but not a core file. Give the program's own file with --program.");
    if (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64) {
        throw core_error(
            fmt::format("This core file is of another machine ({}); cores of x86-64 and AArch64 can be read.",
                        name_of_machine(head.e_machine)));
    }
    if (head.e_phentsize != sizeof(Elf64_Phdr))
        throw core_error("The file is damaged: its list of parts has entries of another size.");
}

[[nodiscard]] bool is_zero(const char* page, std::size_t count) {
    return page[0] == 0 && std::memcmp(page, page + 1, count - 1) == 0;
}

}

core_file::core_file(std::unique_ptr<core_bytes> bytes, const std::string& program, file_opener open)
    : bytes_(std::move(bytes)), open_(std::move(open)) {
    read_parts();
    if (parts_.empty()) throw core_error("The core file has no memory of the process.");
    if (!program.empty()) replace_program(program);
    read_builds();
}

void core_file::read_parts() {
    Elf64_Ehdr head{};
    if (!bytes_->read(0, &head, sizeof head)) throw core_error("This is not a core file.");
    check_head(head);
    std::uint64_t count = head.e_phnum;
    if (count == PN_XNUM) { // the number does not fit, and is in the first section's header
        Elf64_Shdr section{};
        if (!bytes_->read(head.e_shoff, &section, sizeof section))
            throw core_error("The file is damaged: the number of its parts is missing.");
        count = section.sh_info;
    }
    std::uint64_t listed_bytes = 0;
    for (std::uint64_t index = 0; index < count; ++index) {
        Elf64_Phdr part{};
        if (head.e_phoff > bytes_->size() || !bytes_->read(head.e_phoff + index * sizeof part, &part, sizeof part))
            throw core_error(fmt::format("The file ends early: it has {} bytes, and its list of {} parts goes on.",
                                         bytes_->size(), count));
        if (part.p_type != PT_LOAD && part.p_type != PT_NOTE) continue;
        if (part.p_offset > bytes_->size() || part.p_filesz > bytes_->size() - part.p_offset) {
            throw core_error(
                fmt::format("The file was cut off: it has {} bytes, and a part of {} bytes begins at {}. See "
                            "`ulimit -c`, ProcessSizeMax of systemd-coredump, and the room on the disk.",
                            bytes_->size(), part.p_filesz, part.p_offset));
        }
        listed_bytes += part.p_filesz;
        if (listed_bytes > bytes_->size()) throw core_error("The file is damaged: its parts overlap.");
        if (part.p_type == PT_NOTE) {
            read_notes(part.p_offset, part.p_filesz);
            continue;
        }
        if (part.p_memsz == 0) continue;
        if (part.p_filesz > part.p_memsz || part.p_memsz > UINT64_MAX - part.p_vaddr ||
            part.p_vaddr % os_page_bytes != 0)
            throw core_error(
                fmt::format("The file is damaged: a part of {} bytes at {:#x} cannot be.", part.p_memsz, part.p_vaddr));
        parts_.push_back(
            {part.p_vaddr, part.p_vaddr + part.p_filesz, part.p_vaddr + part.p_memsz, part.p_offset, part.p_flags});
        page_count_ += part.p_filesz / os_page_bytes;
    }
    const auto is_before = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::stable_sort(parts_.begin(), parts_.end(), is_before);
    std::stable_sort(mappings_.begin(), mappings_.end(), is_before);
    for (std::size_t index = 1; index < parts_.size(); ++index) {
        if (parts_[index].begin < parts_[index - 1].memory_end)
            throw core_error(fmt::format("The file is damaged: two parts contain {:#x}.", parts_[index].begin));
    }
}

void core_file::read_notes(std::uint64_t at, std::uint64_t bytes) {
    constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
    while (bytes >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note{};
        if (!bytes_->read(at, &note, sizeof note)) return;
        const std::uint64_t lead = sizeof note + padded_note_bytes(note.n_namesz),
                            size = lead + padded_note_bytes(note.n_descsz);
        if (size > bytes) throw core_error("The file is damaged: a note is longer than its part.");
        char name[5]{};
        const bool is_core = note.n_namesz == sizeof name && bytes_->read(at + sizeof note, name, sizeof name) &&
                             std::memcmp(name, "CORE", sizeof name) == 0;
        const bool is_wanted = note.n_type == NT_PRPSINFO || note.n_type == NT_FILE || note.n_type == NT_AUXV;
        if (is_core && is_wanted && note.n_descsz <= most_bytes) {
            std::string text(note.n_descsz, '\0');
            if (!bytes_->read(at + lead, text.data(), text.size())) return;
            if (note.n_type == NT_FILE) read_mapped_files(text);
            if (note.n_type == NT_PRPSINFO) { // struct elf_prpsinfo
                constexpr std::size_t process_at = 24, name_at = 40, name_bytes = 16, words_at = 56, words_bytes = 80;
                process_ = value_at<std::uint32_t>(text, process_at);
                arguments_ = text_at(text, words_at, words_bytes);
                if (arguments_.empty()) arguments_ = text_at(text, name_at, name_bytes);
            }
            for (std::size_t word = 0; note.n_type == NT_AUXV && word + 16 <= text.size(); word += 16) {
                if (value_at<std::uint64_t>(text, word) == AT_ENTRY) entry_ = value_at<std::uint64_t>(text, word + 8);
            }
        }
        at += size;
        bytes -= size;
    }
}

void core_file::read_mapped_files(const std::string& note) {
    constexpr std::size_t lead = 16, each_bytes = 24;
    const auto count = value_at<std::uint64_t>(note, 0), unit = value_at<std::uint64_t>(note, 8);
    if (note.size() < lead || count > (note.size() - lead) / each_bytes)
        throw core_error(fmt::format("The file is damaged: its list of mapped files has {} entries.", count));
    std::size_t name_at = lead + count * each_bytes;
    for (std::size_t index = 0; index < count; ++index) {
        const std::size_t at = lead + index * each_bytes;
        const std::size_t name_end = std::min(note.find('\0', name_at), note.size());
        core_mapping mapping{value_at<std::uint64_t>(note, at), value_at<std::uint64_t>(note, at + 8),
                             value_at<std::uint64_t>(note, at + 16) * unit,
                             name_at < note.size() ? printable(note.substr(name_at, name_end - name_at)) : ""};
        name_at = name_end + 1;
        if (mapping.begin < mapping.end) mappings_.push_back(std::move(mapping));
    }
}

void core_file::replace_program(const std::string& program) {
    const core_mapping* const own = mapping_of(entry_);
    if (own == nullptr)
        throw core_error("The core file does not say which of its files is the program: leave out --program.");
    const std::string before = own->path, now = std::filesystem::absolute(program).string();
    std::uint64_t first = own->begin;
    for (core_mapping& each : mappings_) {
        if (each.path != before) continue;
        if (each.file_offset == 0) first = each.begin;
        each.path = now;
    }
    const opened_bytes file = open_(now);
    if (file.bytes == nullptr) throw core_error(fmt::format("The program {} {}", program, file.error));
    const auto from_file = [&](std::uint64_t at, void* to, std::size_t count) {
        return file.bytes->read(at, to, count);
    };
    const core_part* const part = part_of(first);
    const std::string then = part == nullptr ? "" : build_id_of([&](std::uint64_t at, void* to, std::size_t count) {
        const std::uint64_t from = part->file_at + (first - part->begin) + at;
        return first + at < part->end && count <= part->end - first - at && bytes_->read(from, to, count);
    });
    if (const std::string found = build_id_of(from_file); !then.empty() && found != then) {
        throw core_error(fmt::format("The program {} is another build than the one that ran: its build ID is {}, and "
                                     "the core file has {}.",
                                     program, found.empty() ? "missing" : found, then));
    }
}

void core_file::read_builds() {
    for (const core_mapping& each : mappings_) {
        const core_part* const part = each.file_offset == 0 ? part_of(each.begin) : nullptr;
        if (part == nullptr) continue;
        const std::uint64_t lead = each.begin - part->begin;
        const std::string id = build_id_of([&](std::uint64_t at, void* to, std::size_t count) {
            const std::uint64_t room = part->end - std::min(part->begin + lead, part->end);
            return at <= room && count <= room - at && bytes_->read(part->file_at + lead + at, to, count);
        });
        if (!id.empty()) builds_[each.begin] = id;
    }
}

const core_part* core_file::part_of(std::uint64_t address) const {
    const core_part* const found = entry_at(parts_, address);
    return found != nullptr && address < found->memory_end ? found : nullptr;
}

const core_mapping* core_file::mapping_of(std::uint64_t address) const {
    const core_mapping* const found = entry_at(mappings_, address);
    return found != nullptr && address < found->end ? found : nullptr;
}

bool core_file::read_from_mapped_file(std::uint64_t address, void* to, std::size_t count) const {
    const core_mapping* const mapping = mapping_of(address);
    if (mapping == nullptr || count > mapping->end - address || !mapping->path.starts_with('/')) return false;
    const auto [entry, is_new] = opened_.try_emplace(mapping->path);
    if (is_new) {
        entry->second = open_(mapping->path).bytes;
        for (const core_mapping& each : mappings_) {
            const auto known = builds_.find(each.begin);
            if (entry->second == nullptr || each.path != mapping->path || known == builds_.end()) continue;
            const core_bytes& file = *entry->second;
            const std::string now = build_id_of(
                [&](std::uint64_t at, void* copy, std::size_t bytes) { return file.read(at, copy, bytes); });
            if (now != known->second) entry->second = nullptr; // another build: it has other contents
        }
    }
    return entry->second != nullptr && mapping->file_offset <= INT64_MAX &&
           entry->second->read(mapping->file_offset + (address - mapping->begin), to, count);
}

void core_file::read(std::uint64_t address, void* to, std::size_t count) const {
    auto* next = static_cast<char*>(to);
    while (count != 0) {
        const core_part* const part = part_of(address);
        const std::uint64_t room = part == nullptr ? 0 : (address < part->end ? part->end : part->memory_end) - address;
        const std::size_t now = std::min<std::uint64_t>(count, room);
        const bool is_read =
            part != nullptr && (address < part->end ? bytes_->read(part->file_at + (address - part->begin), next, now)
                                                    : read_from_mapped_file(address, next, now));
        if (!is_read) {
            throw core_error(fmt::format("The memory at {:#x} ({} bytes) is not in the core file: it was left out, see "
                                         "/proc/PID/coredump_filter, or the heap's records are damaged.",
                                         address, count));
        }
        next += now;
        address += now;
        count -= now;
    }
}

std::string core_file::read(std::uint64_t address, std::uint64_t count) const {
    // Before there is memory for them: a damaged number can be as large as it likes.
    for (std::uint64_t at = address, left = count; left != 0;) {
        const core_part* const part = part_of(at);
        if (part == nullptr)
            throw core_error(fmt::format("The heap's records are damaged: they lead to {} bytes at {:#x}, which the "
                                         "process did not have.",
                                         count, address));
        const std::uint64_t now = std::min(left, part->memory_end - at);
        at += now;
        left -= now;
    }
    if (count > page_count_ * os_page_bytes + (std::uint64_t{1} << 20))
        throw core_error(fmt::format("The heap's records are damaged: they lead to {} bytes at {:#x}, more than the "
                                     "core file has.",
                                     count, address));
    std::string text(count, '\0');
    read(address, text.data(), text.size());
    return text;
}

std::uint64_t core_file::number(std::uint64_t address, std::size_t count) const {
    std::uint64_t value = 0;
    read(address, &value, std::min(count, sizeof value));
    return value;
}

void core_file::find_touched() {
    constexpr std::uint64_t step = std::uint64_t{1} << 20;
    std::string buffer(step, '\0');
    for (core_part& part : parts_) {
        const std::uint64_t bytes = part.end - part.begin;
        part.touched.assign((bytes / os_page_bytes + touched_word_bits - 1) / touched_word_bits, 0);
        for (std::uint64_t at = 0; at < bytes;) {
            const std::uint64_t data = std::max(bytes_->next_data(part.file_at + at), part.file_at + at) - part.file_at;
            if (data >= bytes) break;
            at = data / os_page_bytes * os_page_bytes;
            const std::uint64_t count = std::min(step, bytes - at);
            if (!bytes_->read(part.file_at + at, buffer.data(), count))
                throw core_error("The file was changed while it was read.");
            for (std::uint64_t page = 0; page + os_page_bytes <= count; page += os_page_bytes) {
                if (is_zero(buffer.data() + page, os_page_bytes)) continue;
                const std::uint64_t number = (at + page) / os_page_bytes;
                part.touched[number / touched_word_bits] |= std::uint64_t{1} << (number % touched_word_bits);
            }
            at += count;
        }
    }
}

bool core_file::is_touched(std::uint64_t address) const {
    const core_part* const part = part_of(address);
    if (part == nullptr) return false;
    const std::uint64_t number = (address - part->begin) / os_page_bytes;
    return number / touched_word_bits < part->touched.size() &&
           (part->touched[number / touched_word_bits] >> (number % touched_word_bits) & 1) != 0;
}

std::uint64_t core_file::for_each_touched(std::uint64_t begin, std::uint64_t end,
                                          const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
    std::uint64_t looked_at = 0;
    auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                                 [](std::uint64_t at, const core_part& each) { return at < each.begin; });
    if (part != parts_.begin()) --part;
    std::uint64_t run_begin = 0, run_end = 0;
    for (; part != parts_.end() && part->begin < end; ++part) {
        ++looked_at;
        for (std::uint64_t at = std::max(begin, part->begin), last = std::min(end, part->end); at < last;) {
            ++looked_at;
            const std::uint64_t number = (at - part->begin) / os_page_bytes;
            const std::uint64_t word =
                number / touched_word_bits < part->touched.size() ? part->touched[number / touched_word_bits] : 0;
            const std::uint64_t left_in_word = touched_word_bits - number % touched_word_bits;
            if (word == 0) {
                at += left_in_word * os_page_bytes;
                continue;
            }
            if ((word >> (number % touched_word_bits) & 1) != 0) {
                if (at != run_end || run_begin == run_end) {
                    if (run_begin != run_end) visit(run_begin, run_end - run_begin);
                    run_begin = at;
                }
                run_end = at + os_page_bytes;
            }
            at += os_page_bytes;
        }
    }
    if (run_begin != run_end) visit(run_begin, run_end - run_begin);
    return looked_at;
}

}
