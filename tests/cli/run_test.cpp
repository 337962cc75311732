// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <endian.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/arguments/program_file.hpp"
#include "support/own_path.hpp"
#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

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

TEST_F(run, ends_as_the_program_does_and_passes_its_arguments) {
    const auto found = run_command("run -- sh -c 'echo \"$1\"; exit 7' sh '--heap x'");
    EXPECT_EQ(found.code, 7);
    EXPECT_EQ(found.out, "--heap x\n");
    EXPECT_EQ(found.err, "");
}

TEST_F(run, serves_by_the_heap_that_is_asked_for) {
    expect_words(run_command("run -- cat /proc/self/maps").out, {"/libtenure_malloc.so"});
    expect_words(run_command("run --heap hardened -- cat /proc/self/maps").out, {"/libtenure_malloc_hardened.so"});
    const auto system = run_command("run --heap system -- cat /proc/self/maps");
    EXPECT_EQ(system.code, 0) << system.err;
    EXPECT_EQ(system.out.find("tenure_malloc"), std::string::npos);
    EXPECT_EQ(run_command("run --heap glibc -- true").code, 0);
    const std::string file = (fs::path(command_path()).parent_path() / "libtenure_malloc.so").string();
    const auto by_path = run_command("run --stats --heap '" + file + "' -- cat /proc/self/maps");
    expect_words(by_path.out, {"/libtenure_malloc.so"});
    expect_words(by_path.err, {"tenure_malloc: cat ["});
}

TEST_F(run, proves_what_was_served) {
    const auto words = run_command("run --stats -- ls /");
    expect_words(words.err, {"tenure_malloc: ls [", "peak in use", "the C library's own heap 0 B"});
    const auto json = run_command("run --stats=json -- ls /");
    expect_words(json.err, {"{\"allocator\":\"tenure\"", "\"program\":\"ls\"", "\"c_library_bytes\":0}"});
}

TEST_F(run, limits_the_programs_heap) {
    const std::string asks = " -- sh -c 'x=$(head -c 60000000 /dev/zero | tr \"\\\\0\" x); echo ${#x}'";
    const auto refused = run_command("run --limit 20M" + asks);
    expect_words(refused.err,
                 {"was refused, because the process heap has", "of at most 20971520 bytes in use", "sh ["});
    EXPECT_EQ(run_command("run --limit 500M" + asks).out, "60000000\n");
    const auto json = run_command("run --limit 20M --stats=json" + asks);
    expect_words(json.err, {"\"event\":\"refused\",\"program\":\"sh\"", "\"limit_bytes\":20971520"});
    const auto other = run_command("run --heap system --limit 20M -- true");
    EXPECT_EQ(other.code, 2);
    expect_words(other.err, {"only Tenure's malloc supports --limit"});
    EXPECT_EQ(run_command("run --limit lots -- true").code, 2);
}

TEST_F(run, follows_advice) {
    const support::temporary_folder folder;
    const std::string file = (folder.path() / "a.advice").string();
    std::ofstream(file) << "tenure-advice 1\nobject 0 - /nowhere\nclass 1 one\nsite 1 0+10\n";
    const auto found = run_command("run --advice '" + file + "' --stats -- cat /proc/self/maps");
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"/libtenure_malloc_advised.so"});
    expect_words(found.err, {"tenure_malloc: cat [", "; advice for 0 of 1 call sites\n"});
    expect_words(run_command("run --advice '" + file + "' --stats=json -- true").err,
                 {"\"advised_sites\":1,\"sites_found\":0}"});
    const auto other = run_command("run --advice '" + file + "' --heap hardened -- true");
    EXPECT_EQ(other.code, 2);
    expect_words(other.err, {"only the heap \"tenure\" follows advice"});
    const auto missing = run_command("run --advice '" + file + ".not' -- true");
    EXPECT_EQ(missing.code, 2);
    expect_words(missing.err, {"--advice", "No such file"});
}

TEST_F(run, warns_of_advice_without_call_sites) {
    const support::temporary_folder folder;
    const std::string file = (folder.path() / "empty.advice").string();
    std::ofstream(file) << "tenure-advice 1\n# Nothing helps.\nobject 0 - /nowhere\nclass 1 one\n";
    const auto found = run_command("run --advice '" + file + "' -- sh -c 'echo done; exit 3'");
    EXPECT_EQ(found.code, 3) << "the program runs all the same";
    EXPECT_EQ(found.out, "done\n");
    expect_words(found.err, {"--advice " + file + " has no effect: the file names no call sites"});
    EXPECT_EQ(found.err.find("tenure_malloc:"), std::string::npos) << "once is enough";
}

TEST_F(run, warns_of_advice_for_other_files) {
    const support::temporary_folder folder;
    const std::string file = (folder.path() / "a.advice").string();
    const auto write = [&](const std::string& object) {
        std::ofstream(file) << "tenure-advice 1\nobject 0 " << object << "\nclass 1 one\nsite 1 0+10\n";
    };
    const auto said = [&](const std::string& program) {
        const auto found = run_command("run --advice '" + file + "' -- " + program);
        EXPECT_EQ(found.code, 0) << found.err;
        return found.err;
    };
    // cat closes standard error before it ends.
    const std::string program = fs::canonical("/bin/cat").string();
    write("- /nowhere");
    expect_words(said("cat /dev/null"), {"tenure_malloc: cat [", "]: the advice had no effect: no file that it names"});
    write("00112233445566778899 " + program);
    expect_words(said("cat /dev/null"), {"the advice had no effect"}); // another build
    EXPECT_EQ(said("sh -c 'cat /dev/null; true'"), "") << "the advice may be for what it starts";
    expect_words(said("sh -c 'exec cat /dev/null'"), {"tenure_malloc: cat ["});
    write("- " + program);
    EXPECT_EQ(said("cat /dev/null"), "");
}

TEST_F(run, advice_keeps_no_copy_of_standard_error_in_a_forks_child) {
    const support::temporary_folder folder;
    const std::string file = (folder.path() / "a.advice").string();
    std::ofstream(file) << "tenure-advice 1\nobject 0 - /nowhere\nclass 1 one\nsite 1 0+10\n";
    // The shell itself looks at its descriptors, and its child does so as a daemon would be left.
    const auto found =
        run_command("run --advice '" + file +
                    "' -- sh -c 'echo /proc/self/fd/20[0]; (exec 2>/dev/null; echo /proc/self/fd/20[0]) & "
                    "wait'");
    EXPECT_EQ(found.out, "/proc/self/fd/200\n/proc/self/fd/20[0]\n");
}

TEST_F(run, sets_options_for_the_program) {
    const auto found = run_command("run --set passthrough=heap --set malloc_stats=json -- ls /");
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.err, {"\"live_bytes\":0", "\"c_library_bytes\":"});
    EXPECT_EQ(found.err.find("\"c_library_bytes\":0"), std::string::npos) << found.err;
    expect_words(run_command("run --set TENURE_MALLOC_STATS=text -- sh -c 'echo $TENURE_MALLOC_STATS'").out, {"text"});
}

TEST_F(run, lets_persistent_memory_live_on_another_malloc) {
    if (run_command("run --heap jemalloc -- true").code != 0) GTEST_SKIP() << "jemalloc is not on this machine";
    const auto said = [](const std::string& words) {
        return run_command("run " + words + " -- sh -c 'echo ${TENURE_PASSTHROUGH-unset}'").out;
    };
    const auto maps = run_command("run --heap=jemalloc -- cat /proc/self/maps");
    expect_words(maps.out, {"/libjemalloc.so.2"});
    EXPECT_EQ(said("--heap=jemalloc"), "heap\n");
    EXPECT_EQ(said("--heap jemalloc --set passthrough=none"), "none\n") << "what is set stays";
    EXPECT_EQ(said("--heap jemalloc --set passthrough=pool,heap"), "pool,heap\n");
    EXPECT_EQ(run_command("run --heap system -- env TENURE_PASSTHROUGH=all " + command_path() +
                          " run --heap jemalloc -- sh -c 'echo $TENURE_PASSTHROUGH'")
                  .out,
              "all\n");
    // A run inside a run is for itself.
    EXPECT_EQ(said("--heap jemalloc -- " + command_path() + " run"), "unset\n");
    EXPECT_EQ(said("--heap jemalloc -- " + command_path() + " run --heap system"), "unset\n");
    EXPECT_EQ(said("--heap jemalloc -- " + command_path() + " run --heap jemalloc"), "heap\n");
}

TEST_F(run, lets_persistent_memory_live_on_our_malloc_as_it_is) {
    const auto said = [](const std::string& heap) {
        return run_command("run --heap '" + heap + "' -- sh -c 'echo ${TENURE_PASSTHROUGH-unset}'").out;
    };
    for (const char* heap : {"tenure", "hardened", "system"}) EXPECT_EQ(said(heap), "unset\n") << heap;
    const std::string link = support::own_path("our-malloc-by-another-name.so");
    fs::remove(link);
    fs::create_symlink(fs::path(command_path()).parent_path() / "libtenure_malloc.so", link);
    EXPECT_EQ(said(link), "unset\n");
    fs::remove(link);
}

TEST_F(run, runs_a_dotnet_program_on_jemalloc) {
    if (run_command("run --heap system -- dotnet --version").code != 0) GTEST_SKIP() << "there is no .NET SDK";
    if (run_command("run --heap jemalloc -- true").code != 0) GTEST_SKIP() << "jemalloc is not on this machine";
    // The SDK's command is a .NET program; jemalloc tells at its end that it has served the runtime and its threads.
    const auto found = run_command("run --heap=jemalloc -- env MALLOC_CONF=stats_print:true dotnet --version");
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.err, {"Begin jemalloc statistics", "Allocated: "});
    EXPECT_FALSE(found.out.empty());
}

TEST_F(run, keeps_what_is_preloaded_already) {
    const auto found = run_command("run -- env LD_PRELOAD=libm.so.6 sh -c 'echo'");
    EXPECT_EQ(found.code, 0) << found.err;
    const auto both = run_command("run --heap system -- env LD_PRELOAD=libm.so.6 " + command_path() +
                                  " run -- sh -c 'echo $LD_PRELOAD'");
    expect_words(both.out, {"libtenure_malloc.so:libm.so.6"});
}

TEST_F(run, takes_mallocs_out_of_what_is_preloaded_when_the_c_librarys_is_asked_for) {
    const std::string own = (fs::path(command_path()).parent_path() / "libtenure_malloc.so").string();
    const auto preloaded = [](const std::string& before) {
        // The loader warns of what is not there, and goes on.
        return run_command("run --heap system -- env LD_PRELOAD='" + before + "' " + command_path() +
                           " run --heap system -- sh -c 'echo ${LD_PRELOAD-none}'")
            .out;
    };
    EXPECT_EQ(preloaded(own), "none\n");
    EXPECT_EQ(preloaded(own + ":libm.so.6"), "libm.so.6\n");
    EXPECT_EQ(preloaded("libm.so.6 /nowhere/libjemalloc.so.2:libdl.so.2 libmimalloc.so"), "libm.so.6:libdl.so.2\n");
    EXPECT_EQ(preloaded("libm.so.6 libdl.so.2"), "libm.so.6 libdl.so.2\n") << "nothing to take out: as it was";
    const std::string link = support::own_path("by-another-name.so");
    fs::remove(link);
    fs::create_symlink(own, link);
    EXPECT_EQ(preloaded(link), "none\n");
    fs::remove(link);
    const auto maps = run_command("run --heap system -- env LD_PRELOAD=" + own + " " + command_path() +
                                  " run --heap system -- cat /proc/self/maps");
    EXPECT_EQ(maps.out.find("tenure_malloc"), std::string::npos);
}

TEST_F(run, refuses_what_it_does_not_know) {
    const auto option = run_command("run --set pasthrough=heap -- ls");
    EXPECT_EQ(option.code, 2);
    expect_words(option.err, {"there is no option \"pasthrough\". Did you mean \"passthrough\"?"});
    const auto value = run_command("run --set passthrough=heaps -- ls");
    EXPECT_EQ(value.code, 2);
    expect_words(value.err, {"--set passthrough: \"heaps\" is not valid; all, none, or some of arena, temp"});
    const auto number = run_command("run --set heap_purge_delay_ms=1h -- ls");
    EXPECT_EQ(number.code, 2);
    expect_words(number.err, {"--set heap_purge_delay_ms: \"1h\" is not valid; from 0 to "});
    const auto form = run_command("run --stats=xml -- ls");
    EXPECT_EQ(form.code, 2);
    expect_words(form.err, {"--stats=xml is not valid; text or json"});
    const auto library = run_command("run --heap ./nowhere.so -- ls");
    EXPECT_EQ(library.code, 2);
    expect_words(library.err, {"--heap ./nowhere.so: No such file"});
    const auto no_library = run_command("run --heap /etc/passwd -- ls");
    EXPECT_EQ(no_library.code, 2);
    expect_words(no_library.err, {"--heap /etc/passwd is not a shared library"});
    const auto limit = run_command("run --limit 5X -- ls");
    EXPECT_EQ(limit.code, 2);
    expect_words(limit.err, {"--limit: \"5X\" is not valid"});
    const auto misspelt = run_command("run --limt 5 -- ls -l");
    EXPECT_EQ(misspelt.code, 2);
    expect_words(misspelt.err, {"there is no option \"--limt\". Did you mean \"--limit\"?"});
    EXPECT_EQ(run_command("run --set passthrough -- ls").code, 2);
    const auto heap = run_command("run --heap jemaloc -- ls");
    EXPECT_EQ(heap.code, 2);
    expect_words(heap.err, {"there is no heap \"jemaloc\". Did you mean \"jemalloc\"?"});
    EXPECT_EQ(run_command("run").code, 2);
    const auto forgotten = run_command("run ls -l");
    EXPECT_EQ(forgotten.code, 2);
    expect_words(forgotten.err, {"tenure run -- PROGRAM"});
    EXPECT_EQ(run_command("run -- /nowhere/program").code, 127);
    const auto folder = run_command("run -- /etc");
    EXPECT_EQ(folder.code, 126);
    expect_words(folder.err, {"/etc is a folder"});
    const auto text = run_command("run -- /etc/passwd");
    EXPECT_EQ(text.code, 126);
    expect_words(text.err, {"/etc/passwd is not executable"});
    const auto stats = run_command("run --heap system --stats -- ls");
    EXPECT_EQ(stats.code, 2);
    expect_words(stats.err, {"--stats", "--heap system"});
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
    void SetUp() override { path = support::own_path("program"); }
    void TearDown() override { fs::remove(path); }
    void write(const std::string& content) { std::ofstream(path, std::ios::binary) << content; }
    std::string path;
};

enum class granted : std::uint8_t { permitted, inheritable, effective };

/// Gives a file a capability. Returns   what the system said, or zero.
int give_capability(const std::string& path, granted how) {
    constexpr std::uint32_t bit = 1u << CAP_NET_RAW;
    vfs_cap_data capability{};
    capability.magic_etc = htole32(VFS_CAP_REVISION_2 | (how == granted::effective ? VFS_CAP_FLAGS_EFFECTIVE : 0u));
    (how == granted::permitted ? capability.data[0].permitted : capability.data[0].inheritable) = htole32(bit);
    return ::setxattr(path.c_str(), "security.capability", &capability, sizeof capability, 0) == 0 ? 0 : errno;
}

/// What is said of a program to a user who is not root.
std::string reason_for_nobody(const std::string& path) {
    constexpr ::uid_t nobody = 65534;
    if (::getuid() != 0) return tenure::lab::why_not_preloadable(path);
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    const ::pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(nobody) != 0) ::_exit(1);
        const std::string reason = tenure::lab::why_not_preloadable(path);
        ::_exit(::write(ends[1], reason.data(), reason.size()) == static_cast<ssize_t>(reason.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string reason(1000, '\0');
    const ssize_t bytes = ::read(ends[0], reason.data(), reason.size());
    ::close(ends[0]);
    int status = -1;
    ::waitpid(child, &status, 0);
    if (bytes < 0 || status != 0) return "the child failed";
    reason.resize(static_cast<std::size_t>(bytes));
    return reason;
}

TEST_F(program_with_a_head, that_is_linked_statically_is_told) {
    std::string head(64, '\0');
    std::ifstream("/proc/self/exe", std::ios::binary).read(head.data(), 64);
    head[56] = head[57] = 0; // no program headers: none that names a loader
    write(head);
    expect_words(tenure::lab::why_not_preloadable(path), {"is linked statically"});
    head[18] = 3; // of an i386
    write(head);
    expect_words(tenure::lab::why_not_preloadable(path), {"for another machine type"});
}

TEST_F(program_with_a_head, that_has_capabilities_is_told_to_all_but_root) {
    fs::copy_file("/proc/self/exe", path, fs::copy_options::overwrite_existing);
    fs::permissions(path, fs::perms::all);
    EXPECT_EQ(reason_for_nobody(path), "");
    const int refusal = give_capability(path, granted::permitted);
    if (refusal != 0) GTEST_SKIP() << "a file here can have no capabilities: " << std::strerror(refusal);
    expect_words(reason_for_nobody(path), {"has capabilities of its own", "preloads nothing"});
    ASSERT_EQ(give_capability(path, granted::effective), 0);
    expect_words(reason_for_nobody(path), {"has capabilities of its own"});
    ASSERT_EQ(give_capability(path, granted::inheritable), 0);
    EXPECT_EQ(reason_for_nobody(path), "") << "the process would have to have them already";
    ASSERT_EQ(give_capability(path, granted::permitted), 0);
    if (::geteuid() == 0) {
        EXPECT_EQ(tenure::lab::why_not_preloadable(path), "") << "root has them anyway";
    }
    const std::string script = path + "-script";
    std::ofstream(script) << "#!" << path << "\n";
    expect_words(reason_for_nobody(script), {"is a script of " + path + ", which has capabilities of its own"});
    fs::remove(script);
}

TEST_F(program_with_a_head, that_is_a_script_is_its_interpreter) {
    write("#!/bin/sh\n");
    EXPECT_EQ(tenure::lab::why_not_preloadable(path), "");
    write("#! /no/such/interpreter -e\n");
    expect_words(tenure::lab::why_not_preloadable(path), {"/no/such/interpreter"});
    EXPECT_EQ(tenure::lab::why_not_preloadable("/bin/sh"), "");
}

}
