// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/build_id.hpp>

#include <link.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

namespace {

using tenure::platform::build_id;
using tenure::platform::build_id_at;

std::string text_of(const build_id& id) { return {reinterpret_cast<const char*>(id.bytes), id.count}; }

/// The IDs of the loaded files, as the linker's list tells, by the address of the file's first bytes.
std::map<std::uintptr_t, std::string> listed() {
    std::map<std::uintptr_t, std::string> found;
    ::dl_iterate_phdr(
        [](dl_phdr_info* file, std::size_t, void* context) {
            std::uintptr_t begin = 0;
            std::string id;
            for (int index = 0; index < file->dlpi_phnum; ++index) {
                const auto& part = file->dlpi_phdr[index];
                if (part.p_type == PT_LOAD && part.p_offset == 0) begin = file->dlpi_addr + part.p_vaddr;
                if (part.p_type != PT_NOTE) continue;
                const char* at = reinterpret_cast<const char*>(file->dlpi_addr + part.p_vaddr);
                const char* const end = at + part.p_filesz;
                while (at < end) {
                    ElfW(Nhdr) note;
                    std::memcpy(&note, at, sizeof note);
                    const char* const value = at + sizeof note + tenure::align_up(std::size_t{note.n_namesz}, 4);
                    if (note.n_type == NT_GNU_BUILD_ID && std::strcmp(at + sizeof note, "GNU") == 0)
                        id.assign(value, note.n_descsz);
                    at = value + tenure::align_up(std::size_t{note.n_descsz}, 4);
                }
            }
            if (begin != 0) (*static_cast<std::map<std::uintptr_t, std::string>*>(context))[begin] = id;
            return 0;
        },
        &found);
    return found;
}

/// Not under every filter of system calls.
bool can_read_own_memory() {
    int from = 1, to = 0;
    const iovec here{&to, sizeof to}, there{&from, sizeof from};
    return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == sizeof to;
}

TEST(build_id, is_that_of_each_loaded_file) {
    if (!can_read_own_memory()) GTEST_SKIP() << "process_vm_readv is forbidden here";
    std::size_t with_id = 0;
    for (const auto& [begin, id] : listed()) {
        EXPECT_EQ(text_of(build_id_at(begin)), id);
        with_id += id.empty() ? 0U : 1U;
    }
    EXPECT_GT(with_id, 0u) << "distributions build their C library with one";
}

TEST(build_id, memory_of_another_kind_has_none) {
    errno = 7;
    EXPECT_EQ(build_id_at(0).count, 0u);
    EXPECT_EQ(build_id_at(UINTPTR_MAX - 8).count, 0u);
    const std::string text(4096, 'x');
    EXPECT_EQ(build_id_at(tenure::address_of(text.data())).count, 0u);
    EXPECT_EQ(errno, 7);
}

// A header may say anything: what it names is not there, or is no note.
TEST(build_id, a_header_that_leads_outside_is_survived) {
    constexpr std::size_t page = 4096;
    auto* const memory =
        static_cast<char*>(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(memory), MAP_FAILED);
    ASSERT_EQ(::mprotect(memory + page, page, PROT_NONE), 0);
    ElfW(Ehdr) head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    head.e_phentsize = sizeof(ElfW(Phdr));
    head.e_phnum = UINT16_MAX;
    head.e_phoff = sizeof head;
    ElfW(Phdr) parts[2]{};
    parts[0].p_type = PT_LOAD;
    parts[1].p_type = PT_NOTE;
    const auto count_with = [&](std::uintptr_t at, std::uintptr_t bytes, std::uintptr_t table) {
        parts[1].p_vaddr = at;
        parts[1].p_filesz = bytes;
        head.e_phoff = table;
        std::memcpy(memory, &head, sizeof head);
        std::memcpy(memory + sizeof head, parts, sizeof parts);
        return build_id_at(tenure::address_of(memory)).count;
    };
    EXPECT_EQ(count_with(1024, 1024, sizeof head), 0u) << "empty notes";
    EXPECT_EQ(count_with(page - 16, page, sizeof head), 0u);
    EXPECT_EQ(count_with(UINTPTR_MAX - 4, UINTPTR_MAX, sizeof head), 0u);
    EXPECT_EQ(count_with(1024, 1024, page - 8), 0u);
    EXPECT_EQ(count_with(1024, 1024, UINTPTR_MAX - 8), 0u);
    ElfW(Nhdr) note{4, UINT32_MAX, NT_GNU_BUILD_ID};
    std::memcpy(memory + 1024, &note, sizeof note);
    std::memcpy(memory + 1024 + sizeof note, "GNU", 4);
    EXPECT_EQ(count_with(1024, 1024, sizeof head), 0u) << "longer than any";
    note.n_descsz = 8;
    std::memcpy(memory + 1024, &note, sizeof note);
    std::memcpy(memory + 1024 + sizeof note + 4, "12345678", 8);
    head.e_phnum = 2;
    EXPECT_EQ(count_with(1024, 1024, sizeof head), 8u);
    EXPECT_EQ(text_of(build_id_at(tenure::address_of(memory))), "12345678");
    ::munmap(memory, 2 * page);
}

}
