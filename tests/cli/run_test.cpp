// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/program_file.hpp"
#include "cli/run_command.hpp"

namespace {

namespace fs = std::filesystem;

class run : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        if (!fs::exists(fs::path(command_path()).parent_path() / "libtenure_malloc.so")) {
            GTEST_SKIP() << "this tree has no drop-in";
        }
    }
};

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << "\nnot in\n" << text;
}

TEST_F(run, ends_as_the_program_does_and_passes_its_arguments) {
    auto const found = run_command("run -- sh -c 'echo \"$1\"; exit 7' sh '--heap x'");
    EXPECT_EQ(found.code, 7);
    EXPECT_EQ(found.out, "--heap x\n");
    EXPECT_EQ(found.err, "");
}

TEST_F(run, serves_by_the_heap_that_is_asked_for) {
    expect_words(run_command("run -- cat /proc/self/maps").out, {"/libtenure_malloc.so"});
    expect_words(run_command("run --heap hardened -- cat /proc/self/maps").out, {"/libtenure_malloc_hardened.so"});
    auto const system = run_command("run --heap system -- cat /proc/self/maps");
    EXPECT_EQ(system.code, 0) << system.err;
    EXPECT_EQ(system.out.find("tenure_malloc"), std::string::npos);
}

TEST_F(run, proves_what_was_served) {
    auto const words = run_command("run --stats -- ls /");
    expect_words(words.err, {"tenure_malloc: ls [", "most in use", "the C library's own heap 0 B"});
    auto const json = run_command("run --stats=json -- ls /");
    expect_words(json.err, {"{\"allocator\":\"tenure\"", "\"program\":\"ls\"", "\"c_library_bytes\":0}"});
}

TEST_F(run, sets_options_for_the_program) {
    auto const found = run_command("run --set passthrough=heap --set malloc_stats=json -- ls /");
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.err, {"\"live_bytes\":0", "\"c_library_bytes\":"});
    EXPECT_EQ(found.err.find("\"c_library_bytes\":0"), std::string::npos) << found.err;
    expect_words(run_command("run --set TENURE_MALLOC_STATS=text -- sh -c 'echo $TENURE_MALLOC_STATS'").out, {"text"});
}

TEST_F(run, keeps_what_is_preloaded_already) {
    auto const found = run_command("run -- env LD_PRELOAD=libm.so.6 sh -c 'echo'");
    EXPECT_EQ(found.code, 0) << found.err;
    auto const both = run_command("run --heap system -- env LD_PRELOAD=libm.so.6 " + command_path() +
                                  " run -- sh -c 'echo $LD_PRELOAD'");
    expect_words(both.out, {"libtenure_malloc.so:libm.so.6"});
}

TEST_F(run, refuses_what_it_does_not_know) {
    auto const option = run_command("run --set pasthrough=heap -- ls");
    EXPECT_EQ(option.code, 2);
    expect_words(option.err, {"there is no option \"pasthrough\". Did you mean \"passthrough\"?"});
    auto const value = run_command("run --set passthrough=heaps -- ls");
    EXPECT_EQ(value.code, 2);
    expect_words(value.err, {"--set passthrough: \"heaps\" is not valid"});
    EXPECT_EQ(run_command("run --set passthrough -- ls").code, 2);
    auto const heap = run_command("run --heap jemaloc -- ls");
    EXPECT_EQ(heap.code, 2);
    expect_words(heap.err, {"there is no heap \"jemaloc\". Did you mean \"jemalloc\"?"});
    EXPECT_EQ(run_command("run").code, 2);
    auto const forgotten = run_command("run ls -l");
    EXPECT_EQ(forgotten.code, 2);
    expect_words(forgotten.err, {"tenure run -- PROGRAM"});
    EXPECT_EQ(run_command("run -- /nowhere/program").code, 127);
    EXPECT_EQ(run_command("run --help").code, 0);
}

TEST(program_file, is_found_as_a_shell_finds_it) {
    EXPECT_EQ(tenure::lab::find_program("/bin/sh"), "/bin/sh");
    EXPECT_FALSE(tenure::lab::find_program("sh").empty());
    EXPECT_EQ(tenure::lab::find_program("/etc/passwd"), "");
    EXPECT_EQ(tenure::lab::find_program(""), "");
    EXPECT_EQ(tenure::lab::find_program("no such program"), "");
}

class program_with_a_head : public testing::Test {
protected:
    void SetUp() override { path = testing::TempDir() + "tenure-program"; }
    void TearDown() override { fs::remove(path); }
    void write(const std::string& content) { std::ofstream(path, std::ios::binary) << content; }
    std::string path;
};

TEST_F(program_with_a_head, that_is_linked_statically_is_told) {
    std::string head(64, '\0');
    std::ifstream("/proc/self/exe", std::ios::binary).read(head.data(), 64);
    head[56] = head[57] = 0; // no program headers: none that names a loader
    write(head);
    expect_words(tenure::lab::why_not_preloadable(path), {"is linked statically"});
    head[18] = 3; // of an i386
    write(head);
    expect_words(tenure::lab::why_not_preloadable(path), {"of another machine"});
}

TEST_F(program_with_a_head, that_is_a_script_is_its_interpreter) {
    write("#!/bin/sh\n");
    EXPECT_EQ(tenure::lab::why_not_preloadable(path), "");
    write("#! /no/such/interpreter -e\n");
    expect_words(tenure::lab::why_not_preloadable(path), {"/no/such/interpreter"});
    EXPECT_EQ(tenure::lab::why_not_preloadable("/bin/sh"), "");
}

}
