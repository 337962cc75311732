// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Advice files: written and read again, and what is refused.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "observe/replay/separation/advice_file.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tenure::lab;

separation two_classes() {
    separation made;
    made.objects = {{"0123abcd", "/usr/bin/a program with spaces"}, {"", "/usr/lib/libmade.so"}};
    made.classes = {{1, "list-grow"}, {7, "class 7"}};
    made.sites = {
        {1, {{0, 0x1234}}}, {7, {{1, 0xfeed}, {0, 0x1}}}, {0, {{0, 0x1234}, {0, 2}, {1, 3}, {0, 0xffff'ffff'f}}}};
    return made;
}

TEST(advice_file, what_is_written_is_read_again) {
    const std::string text = to_advice_text(two_classes(), "Learned from a.trace.\nsecond line\n");
    EXPECT_EQ(text, "tenure-advice 1\n"
                    "# Learned from a.trace.\n"
                    "# second line\n"
                    "object 0 0123abcd /usr/bin/a program with spaces\n"
                    "object 1 - /usr/lib/libmade.so\n"
                    "class 1 list-grow\n"
                    "class 7 class 7\n"
                    "site 1 0+1234\n"
                    "site 7 1+feed 0+1\n"
                    "site 0 0+1234 0+2 1+3 0+fffffffff\n");
    const read_advice found = parse_advice(text);
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(found.advised, two_classes());
}

TEST(advice_file, no_sites_are_valid) {
    const read_advice found = parse_advice(to_advice_text({}, "No separation saves memory."));
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.advised.sites.empty());
}

TEST(advice_file, each_mistake_is_told_with_its_line) {
    const std::string head = "tenure-advice 1\nobject 0 - /bin/made\nclass 1 a\n";
    std::string many_objects = "tenure-advice 1\n", many_sites = head;
    for (int i = 0; i <= 64; ++i) many_objects += "object " + std::to_string(i) + " - /bin/made\n";
    for (int i = 0; i <= 1024; ++i) many_sites += "site 1 0+" + std::to_string(i) + "\n";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "it is empty"},
        {"something else\n", "line 1: an advice file begins with \"tenure-advice 1\""},
        {"tenure-advice 2\n", "line 1: version 2 of the format is not known"},
        {head + "place 1 2\n", "line 4: \"place\" is not a record"},
        {head + "object 2 - /bin/b\n", "line 4: object 2 is out of order"},
        {head + "object 1 xyz /bin/b\n", "line 4: \"xyz\" is not a build ID"},
        {head + "object 1 -\n", "line 4: object 1 has no path"},
        {head + "object 1 ABCD /bin/b\n", "line 4: \"ABCD\" is not a build ID: bytes in lowercase hex digits"},
        {head + "object 1 abc /bin/b\n", "line 4: \"abc\" is not a build ID"},
        {head + "object 1 " + std::string(130, 'a') + " /bin/b\n", "line 4: a build ID has at most 128 digits"},
        {head + "object 1 - /" + std::string(4096, 'a') + "\n", "line 4: the path has 4097 bytes; at most 4096"},
        {head + "# " + std::string(4351, 'a') + "\n", "line 4: it has 4353 bytes; at most 4352 are read"},
        {head + "site 1 0+1", "line 4: it is cut off"},
        {"tenure-advice 1\r\nclass 1 a\r\n", "line 1: lines end with CR LF: "},
        {head + "class 2 b\r\n", "line 4: lines end with CR LF: "},
        {many_objects, "line 66: more than 64 objects"},
        {head + "class 8 b\n", "line 4: class 8 is out of range: classes have the numbers 1 to 7"},
        {head + "class 0 b\n", "line 4: class 0 is out of range"},
        {head + "class 1 b\n", "line 4: class 1 is defined twice"},
        {head + "class 2 a_b\n", "line 4: \"a_b\" is not a class name"},
        {head + "class 2\n", "line 4: \"\" is not a class name"},
        {head + "class 2 1234567890123456789012345\n", "is not a class name"},
        {head + "site 2 0+1\n", "line 4: class 2 was not defined before this site"},
        {head + "site 8 0+1\n", "line 4: class 8 was not defined"},
        {head + "site 1 0+1 0+2 0+3 0+4 0+5\n", "line 4: a site has at most 4 frames"},
        {head + "site 1\n", "line 4: a site has at least one frame"},
        {head + "site 1 0+12g\n", "line 4: \"0+12g\" is not a frame: OBJECT+OFFSET"},
        {head + "site 1 0+1A\n", "line 4: \"0+1A\" is not a frame: OBJECT+OFFSET, with the offset in lowercase hex"},
        {head + "site 1 0+1 0+2\nsite 0 0+1\nsite 0 0+01 0+2\n", "line 6: a site with the same frames is defined"},
        {head + "site 1 0+\n", "line 4: \"0+\" is not a frame"},
        {head + "site 1 0+-1\n", "line 4: \"0+-1\" is not a frame"},
        {head + "site 1 0+11223344556677889\n", "is not a frame"},
        {head + "site 1 1\n", "line 4: \"1\" is not a frame"},
        {head + "site 1 1+2\n", "line 4: object 1 was not defined before this site"},
        {many_sites, "line 1028: more than 1024 sites"},
        {head + std::string(std::size_t{1} << 20, '#') + "\n", "at most 1048576 are read"},
    };
    for (const auto& [text, said] : cases) {
        const read_advice found = parse_advice(text);
        EXPECT_NE(found.error.find(said), std::string::npos) << text.substr(0, 100) << "\n" << found.error;
        EXPECT_FALSE(found.ok());
    }
}

TEST(advice_file, a_long_remark_is_cut_to_what_readers_read) {
    EXPECT_EQ(parse_advice(to_advice_text(two_classes(), std::string(10'000, 'a'))).error, "");
}

TEST(advice_file, a_file_is_checked_before_a_program_starts_with_it) {
    const support::temporary_folder folder;
    const std::filesystem::path path = folder.path() / "made.advice";
    EXPECT_NE(load_advice(path.string()).error.find("cannot be read"), std::string::npos);
    EXPECT_NE(load_advice(folder.path().string()).error.find("is a directory"), std::string::npos);
    std::ofstream(path) << to_advice_text(two_classes());
    EXPECT_EQ(load_advice(path.string()).error, "");
    std::ofstream(path, std::ios::app) << "site 3 0+1\n";
    EXPECT_EQ(load_advice(path.string()).error,
              path.string() + " is not a valid advice file: line 9: class 3 was not defined before this site");
    std::ofstream(path) << std::string((std::size_t{1} << 20) + 1, '\n');
    EXPECT_NE(load_advice(path.string()).error.find("is larger than 1 MiB"), std::string::npos);
}

}
