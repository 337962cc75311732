// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The static probes, as a tracer uses them: found by the notes of the file, listened to by a raised semaphore and a
// breakpoint, and gone without a trace.

#include <gtest/gtest.h>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "preloaded.hpp"
#include "support/temporary_folder.hpp"

namespace {

struct probe {
    std::uintptr_t address = 0, listeners = 0;
    std::string arguments;
};

struct loaded_file {
    std::string path;
    std::uintptr_t base = 0;
};

loaded_file dropin_file() {
    loaded_file found;
    ::dl_iterate_phdr(
        [](dl_phdr_info* about, std::size_t, void* to) {
            const std::string path = about->dlpi_name;
            if (path.find("libtenure_malloc") == std::string::npos) return 0;
            *static_cast<loaded_file*>(to) = {path, about->dlpi_addr};
            return 1;
        },
        &found);
    return found;
}

/// Reads the probes of a provider from the notes, as readelf -n does.
std::map<std::string, probe> probes_of(const loaded_file& file, const std::string& provider) {
    std::ifstream in(file.path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::map<std::string, probe> found;
    const auto* const head = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
    const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + head->e_shoff);
    const char* const names = bytes.data() + sections[head->e_shstrndx].sh_offset;
    for (unsigned index = 0; index < head->e_shnum; ++index) {
        if (std::strcmp(names + sections[index].sh_name, ".note.stapsdt") != 0) continue;
        const char* at = bytes.data() + sections[index].sh_offset;
        const char* const end = at + sections[index].sh_size;
        while (at < end) {
            Elf64_Nhdr note{};
            std::memcpy(&note, at, sizeof note);
            const char* const text = at + sizeof note + (note.n_namesz + 3) / 4 * 4;
            std::array<std::uintptr_t, 3> addresses{};
            std::memcpy(addresses.data(), text, sizeof addresses);
            const char* const of = text + sizeof addresses;
            const char* const name = of + std::strlen(of) + 1;
            if (of == provider) {
                found[name] = {file.base + addresses[0], file.base + addresses[2], name + std::strlen(name) + 1};
                EXPECT_NE(addresses[1], 0u) << "the base";
            }
            at = text + (note.n_descsz + 3) / 4 * 4;
        }
    }
    return found;
}

/// Writes to code, as the kernel does for a tracer.
bool poke(std::uintptr_t address, const void* bytes, std::size_t count) {
    const int memory = ::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    const bool is_written = ::pwrite(memory, bytes, count, static_cast<off_t>(address)) == ssize_t(count);
    ::close(memory);
    return is_written;
}

struct heard_probe {
    std::uintptr_t address, block;
    std::uint64_t bytes, weight;
};
std::array<heard_probe, 16'384> heard;
std::atomic<std::size_t> heard_count{0};

// The breakpoint is one byte long, as the instruction that it replaces: execution goes on behind it. The three
// registers are those in which a function receives its arguments; the test asks the notes first.
void hear(int, siginfo_t*, void* context) {
    const auto& at = static_cast<const ucontext_t*>(context)->uc_mcontext;
    const std::size_t index = heard_count.fetch_add(1);
    if (index >= heard.size()) return;
    heard[index] = {std::uintptr_t(at.gregs[REG_RIP]) - 1, std::uintptr_t(at.gregs[REG_RDI]),
                    std::uint64_t(at.gregs[REG_RSI]), std::uint64_t(at.gregs[REG_RDX])};
}

TEST(probes, are_described_in_the_notes_of_the_file) {
    const auto found = probes_of(dropin_file(), "otel_memory");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found.at("alloc").arguments, "8@%rdi 8@%rsi 8@%rdx");
    EXPECT_EQ(found.at("free").arguments, "8@%rdi");
    for (const auto& [name, each] : found) {
        EXPECT_EQ(*reinterpret_cast<const unsigned char*>(each.address), 0x90)
            << name << ": an instruction of no effect";
        EXPECT_EQ(*reinterpret_cast<const std::uint16_t*>(each.listeners), 0) << name << ": nobody listens";
    }
    EXPECT_NE(found.at("alloc").listeners, found.at("free").listeners);
}

TEST(probes, tell_a_listener_of_sampled_blocks_and_of_their_frees) {
    const auto found = probes_of(dropin_file(), "otel_memory");
    ASSERT_EQ(found.size(), 2u);
    const unsigned char breakpoint = 0xCC, nothing = 0x90;
    const std::uint16_t one = 1, none = 0;
    if (!poke(found.at("alloc").address, &breakpoint, 1)) GTEST_SKIP() << "the system does not allow it";
    ASSERT_TRUE(poke(found.at("free").address, &breakpoint, 1));
    struct sigaction action {};
    action.sa_sigaction = &hear;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGTRAP, &action, nullptr), 0);
    ASSERT_TRUE(poke(found.at("alloc").listeners, &one, sizeof one));
    ASSERT_TRUE(poke(found.at("free").listeners, &one, sizeof one));

    // The first slow call starts the sampling. Blocks of this size are sampled nearly always: one in e^40 is not.
    std::free(hidden(std::malloc(100'000)));
    constexpr std::size_t bytes = std::size_t{20} << 20;
    void* const block = hidden(std::malloc(bytes));
    const std::size_t after_begin = heard_count.load();
    std::free(hidden(block));
    const std::size_t after_end = heard_count.load();
    ASSERT_GE(after_begin, 1u);
    const heard_probe& begin = heard[after_begin - 1];
    EXPECT_EQ(begin.address, found.at("alloc").address);
    EXPECT_EQ(begin.block, reinterpret_cast<std::uintptr_t>(block));
    EXPECT_EQ(begin.bytes, bytes);
    EXPECT_GE(begin.weight, bytes);
    EXPECT_LE(begin.weight, bytes + 1000);
    ASSERT_EQ(after_end, after_begin + 1);
    EXPECT_EQ(heard[after_begin].address, found.at("free").address);
    EXPECT_EQ(heard[after_begin].block, reinterpret_cast<std::uintptr_t>(block));

    // Many small blocks: what the samples stand for is about what was allocated. Six standard errors.
    const std::size_t first = heard_count.load();
    constexpr std::uint64_t count = 2'000'000, small = 1000;
    for (std::uint64_t each = 0; each < count; ++each) std::free(hidden(std::malloc(small)));
    double weight = 0;
    for (std::size_t index = first; index < std::min(heard_count.load(), heard.size()); ++index) {
        if (heard[index].address == found.at("alloc").address) weight += double(heard[index].weight);
    }
    const double all = double(count * small);
    EXPECT_NEAR(weight, all, 6 * std::sqrt(all * 512 * 1024));

    ASSERT_TRUE(poke(found.at("alloc").listeners, &none, sizeof none));
    ASSERT_TRUE(poke(found.at("free").listeners, &none, sizeof none));
    std::free(hidden(std::malloc(100'000))); // ends the sampling
    const std::size_t at_end = heard_count.load();
    std::free(hidden(std::malloc(bytes)));
    EXPECT_EQ(heard_count.load(), at_end);
    ASSERT_TRUE(poke(found.at("alloc").address, &nothing, 1));
    ASSERT_TRUE(poke(found.at("free").address, &nothing, 1));
}

/// Allocates in pairs of which one block is freed at once: with a profile, each allocation is a slow call then.
void allocate_pairs(int count) {
    for (int pair = 0; pair < count; ++pair) {
        void* const going = hidden(std::malloc(64));
        static_cast<void>(hidden(std::malloc(64)));
        std::free(going);
    }
}

// `tenure profile --attach` writes its request there.
TEST(requests, are_served_by_the_next_slow_call_while_a_profile_is_recorded) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::optional<support::temporary_folder> own;
    const char* const inherited = std::getenv("TENURE_PROFILE_DIR"); // of the death test's own process
    const std::filesystem::path folder = inherited != nullptr ? inherited : own.emplace().path();
    ::setenv("TENURE_PROFILE_DIR", folder.c_str(), 1);
    ::setenv("TENURE_PROFILE", "1", 1);
    ::setenv("TENURE_PROFILE_SAMPLE", "1073741824", 1);
    EXPECT_EXIT(
        {
            constexpr std::uint16_t file = 2;
            allocate_pairs(300);
            const auto probes = probes_of(dropin_file(), "tenure");
            allocate_pairs(100);
            *reinterpret_cast<volatile std::uint16_t*>(probes.at("requests").listeners) = file;
            allocate_pairs(2);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_FALSE(std::filesystem::is_empty(folder));
    for (const char* const name : {"TENURE_PROFILE_DIR", "TENURE_PROFILE", "TENURE_PROFILE_SAMPLE"}) ::unsetenv(name);
}

}
