// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_file.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/own_core.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t page_bytes = 4096, library_at = 0x5000'0000, program_at = 0x4000'0000;

/// Two pages of an ELF file with a build ID, the second one full of a letter.
std::string file_with(std::string_view build_id, char letter) {
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_phoff = sizeof head;
    head.e_phnum = 1;
    head.e_phentsize = sizeof(Elf64_Phdr);
    const Elf64_Nhdr note{4, static_cast<std::uint32_t>(build_id.size()), NT_GNU_BUILD_ID};
    Elf64_Phdr part{};
    part.p_type = PT_NOTE;
    part.p_offset = sizeof head + sizeof part;
    part.p_filesz = sizeof note + 4 + (build_id.size() + 3) / 4 * 4;
    std::string text(reinterpret_cast<const char*>(&head), sizeof head);
    text.append(reinterpret_cast<const char*>(&part), sizeof part);
    text.append(reinterpret_cast<const char*>(&note), sizeof note).append("GNU\0", 4).append(build_id);
    text.resize(page_bytes, '\0');
    return text.append(page_bytes, letter);
}

/// A core with the first page of a library, whose second one it leaves out, and some memory of the program's own.
std::string core_with(std::string_view build_id) {
    support::core_maker made;
    made.set_program(1234, "server --port 80");
    made.add_mapped_file(library_at, library_at + page_bytes, 0, "/lib/a.so");
    made.add_mapped_file(library_at + page_bytes, library_at + 2 * page_bytes, page_bytes, "/lib/a.so");
    made.add_mapped_file(program_at, program_at + 2 * page_bytes, 0, "/bin/server");
    made.add_memory(library_at, file_with(build_id, 'x').substr(0, page_bytes));
    made.add_memory(library_at + page_bytes, "", page_bytes, PF_R | PF_X);
    made.add_memory(program_at, file_with("program's", 'x').substr(0, page_bytes), 2 * page_bytes);
    std::string memory(3 * page_bytes, '\0');
    memory[page_bytes + 77] = 1;
    made.add_memory(0x6000'0000, memory);
    const std::uint64_t entry[] = {AT_ENTRY, program_at + 10, AT_NULL, 0};
    made.add_note(NT_AUXV, std::string(reinterpret_cast<const char*>(entry), sizeof entry));
    return made.finished();
}

/// Opens files that are in memory.
core_file::file_opener files(std::map<std::string, std::string> by_path) {
    return [by_path = std::move(by_path)](const std::string& path) {
        const auto found = by_path.find(path);
        if (found == by_path.end()) return opened_bytes{nullptr, "cannot be read: No such file"};
        return opened_bytes{bytes_of(found->second), {}};
    };
}

std::string refusal_of(const auto& call) {
    try {
        call();
    } catch (const core_error& error) {
        return error.what();
    }
    return "";
}

TEST(core_file, reads_what_it_says_of_itself) {
    const core_file core(bytes_of(core_with("abcd")), "", files({}));
    EXPECT_EQ(core.process(), 1234u);
    EXPECT_EQ(core.arguments(), "server --port 80");
    ASSERT_EQ(core.mappings().size(), 3u);
    EXPECT_EQ(core.mappings()[0].path, "/bin/server") << "by address";
    EXPECT_EQ(core.mappings()[2].file_offset, page_bytes);
    EXPECT_EQ(core.builds().at(library_at), "61626364");
    EXPECT_EQ(core.parts().size(), 4u);
}

TEST(core_file, pages_of_zeros_are_not_touched) {
    core_file core(bytes_of(core_with("abcd")), "", files({}));
    core.find_touched();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    core.for_each_touched(0x6000'0000, 0x7000'0000,
                          [&](std::uint64_t at, std::uint64_t bytes) { found.emplace_back(at, bytes); });
    EXPECT_EQ(found, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0x6000'0000 + page_bytes, page_bytes}}));
    EXPECT_TRUE(core.is_touched(0x6000'0000 + page_bytes));
    EXPECT_FALSE(core.is_touched(0x6000'0000));
    EXPECT_FALSE(core.is_touched(library_at + page_bytes)) << "without contents";
    EXPECT_FALSE(core.is_touched(1));
}

TEST(core_file, memory_that_was_left_out_is_read_from_the_same_build_only) {
    const std::uint64_t address = library_at + page_bytes - 2; // in both pages
    const core_file same(bytes_of(core_with("abcd")), "", files({{"/lib/a.so", file_with("abcd", 'y')}}));
    EXPECT_EQ(same.read(address, 5).substr(2), "yyy");
    const core_file other(bytes_of(core_with("abcd")), "", files({{"/lib/a.so", file_with("bcde", 'y')}}));
    EXPECT_NE(refusal_of([&] { static_cast<void>(other.read(address, 5)); }).find("is not in the core file"),
              std::string::npos);
    const core_file gone(bytes_of(core_with("abcd")), "", files({}));
    EXPECT_NE(refusal_of([&] { static_cast<void>(gone.read(address, 5)); }).find("coredump_filter"), std::string::npos);
    const core_file unknown(bytes_of(core_with("")), "", files({{"/lib/a.so", file_with("bcde", 'y')}}));
    EXPECT_EQ(unknown.read(address, 5).substr(2), "yyy") << "the core has no build ID";
}

TEST(core_file, the_program_may_be_elsewhere_but_not_another_build) {
    const auto read_with = [](const std::string& build_id) {
        return core_file(bytes_of(core_with("abcd")), "/home/server",
                         files({{"/home/server", file_with(build_id, 'z')}}));
    };
    const core_file core = read_with("program's");
    EXPECT_EQ(core.mappings()[0].path, "/home/server");
    EXPECT_EQ(core.mappings()[1].path, "/lib/a.so");
    EXPECT_EQ(core.read(program_at + page_bytes, 2), "zz");
    EXPECT_NE(refusal_of([&] { static_cast<void>(read_with("another's")); }).find("another build"), std::string::npos);
    EXPECT_NE(refusal_of([&] {
                  static_cast<void>(core_file(bytes_of(core_with("abcd")), "/gone", files({})));
              }).find("/gone cannot be read"),
              std::string::npos);
}

TEST(core_file, more_bytes_than_there_are_need_no_memory) {
    const core_file core(bytes_of(core_with("abcd")), "", files({}));
    EXPECT_NE(
        refusal_of([&] { static_cast<void>(core.read(0x6000'0000, std::uint64_t{1} << 60)); }).find("did not have"),
        std::string::npos);
}

}

}
