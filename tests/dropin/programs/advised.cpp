// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Advice in a program that knows its own call sites. It runs twice: at first it notes where its allocations return to,
// and writes a file of advice; then it executes itself with that, and looks whether blocks of different groups share
// pages. Says what is wrong, and ends with 1.

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

#define NOT_INLINED __attribute__((noinline, noclone))

constexpr unsigned groups = 7;
constexpr unsigned in_plugin = 9; // its site; the others have the numbers of their groups, and 0 and 8 have none
constexpr int max_frames = 4;
void* noted[in_plugin + 1][max_frames + 1]; // the first is in a function that notes
int noted_count[in_plugin + 1];
bool is_noting = false;

/// Called by a function whose last call is the allocation, in place of its own return.
__attribute__((always_inline)) inline void note(unsigned site, int frames) {
    if (is_noting && site != 0) noted_count[site] = ::backtrace(noted[site], frames + 1) - 1;
}

NOT_INLINED void* by_malloc(unsigned group, int frames, std::size_t bytes) {
    note(group, frames);
    return std::malloc(bytes);
}
NOT_INLINED void* by_calloc(unsigned group, std::size_t bytes) {
    note(group, 1);
    return std::calloc(1, bytes);
}
NOT_INLINED void* by_new(unsigned group, std::size_t bytes) {
    note(group, 1);
    return ::operator new(bytes);
}
NOT_INLINED void* by_aligned_alloc(unsigned group, std::size_t bytes) {
    note(group, 1);
    return ::aligned_alloc(64, (bytes + 63) / 64 * 64);
}
NOT_INLINED void* by_realloc(unsigned group, void* block, std::size_t bytes) {
    note(group, 1);
    return std::realloc(block, bytes);
}

volatile int after = 0; // behind a call, which is then not the last

// Groups 1 to 5: one frame decides. Group 0: no advice.
NOT_INLINED void* some_malloc(std::size_t bytes) {
    void* const b = by_malloc(1, 1, bytes);
    after = 1;
    return b;
}
NOT_INLINED void* some_calloc(std::size_t bytes) {
    void* const b = by_calloc(2, bytes);
    after = 1;
    return b;
}
NOT_INLINED void* some_new(std::size_t bytes) {
    void* const b = by_new(3, bytes);
    after = 1;
    return b;
}
NOT_INLINED void* some_aligned(std::size_t bytes) {
    void* const b = by_aligned_alloc(4, bytes);
    after = 1;
    return b;
}
NOT_INLINED void* some_realloc(void* block, std::size_t bytes) {
    void* const moved = by_realloc(5, block, bytes);
    after = 1;
    return moved;
}
NOT_INLINED void* other_malloc(std::size_t bytes) {
    void* const b = by_malloc(0, 1, bytes);
    after = 1;
    return b;
}

// Groups 6 and 7: the third frame decides; the second has a large frame, found from the frame pointer.
NOT_INLINED void* innermost(unsigned group, std::size_t bytes) {
    void* const block = by_malloc(group, 3, bytes);
    after = 1;
    return block;
}
NOT_INLINED void* wrapper(unsigned group, std::size_t bytes) {
    auto* const room = static_cast<volatile char*>(__builtin_alloca(bytes % 5000 + 200));
    room[bytes % 5000] = 1;
    void* const block = innermost(group, bytes);
    after = room[bytes % 5000];
    return block;
}
NOT_INLINED void* deep_malloc(std::size_t bytes) {
    void* const b = wrapper(6, bytes);
    after = 1;
    return b;
}
NOT_INLINED void* deeper_malloc(std::size_t bytes) {
    void* const b = wrapper(7, bytes);
    after = 1;
    return b;
}
NOT_INLINED void* third_malloc(std::size_t bytes) {
    void* const b = wrapper(0, bytes);
    after = 1;
    return b;
}

void* allocate(unsigned site, std::size_t bytes) {
    switch (site) {
    case 1: return some_malloc(bytes);
    case 2: return some_calloc(bytes);
    case 3: return some_new(bytes);
    case 4: return some_aligned(bytes);
    case 5: return some_realloc(some_realloc(nullptr, 1), bytes);
    case 6: return deep_malloc(bytes);
    case 7: return deeper_malloc(bytes);
    case 8: return third_malloc(bytes);
    default: return other_malloc(bytes);
    }
}
constexpr unsigned sites = 9;
unsigned group_of_site(unsigned site) { return site > groups ? 0 : site; }

using allocate_by = void*(void* (*)(unsigned, int, std::size_t), unsigned, std::size_t);

/// Where an object is mapped, and its name.
struct object {
    std::uintptr_t base;
    std::string path;
};
object object_of(const void* code) {
    Dl_info info{};
    char whole[4096]{};
    if (::dladdr(code, &info) == 0) return {};
    const bool is_program = std::strchr(info.dli_fname, '/') == nullptr;
    if (::realpath(is_program ? "/proc/self/exe" : info.dli_fname, whole) == nullptr) return {};
    return {reinterpret_cast<std::uintptr_t>(info.dli_fbase), whole};
}

/// Writes what was noted. A position in a file is that in the process less the base, as in any object whose segments
/// are mapped at their distance in the file.
bool write_advice(const char* path, const char* library) {
    void* const loaded = ::dlopen(library, RTLD_NOW);
    if (loaded == nullptr) return false;
    auto* const from_plugin = reinterpret_cast<allocate_by*>(::dlsym(loaded, "allocate_by"));
    is_noting = true;
    for (unsigned site = 1; site <= groups; ++site) std::free(allocate(site, 100));
    std::free(from_plugin(&by_malloc, in_plugin, 100));
    is_noting = false;
    const object objects[] = {object_of(reinterpret_cast<void*>(&write_advice)), object_of(noted[in_plugin][1])};
    std::ofstream file(path);
    file << "tenure-advice 1\n# of a program for itself\n";
    for (unsigned index = 0; index < 2; ++index) file << "object " << index << " - " << objects[index].path << '\n';
    for (unsigned group = 1; group <= groups; ++group) file << "class " << group << " group " << group << '\n';
    for (unsigned site = 1; site <= in_plugin; ++site) {
        if (noted_count[site] == 0) continue;
        file << "site " << (site == in_plugin ? 5 : site);
        for (int frame = 1; frame <= noted_count[site]; ++frame) {
            const unsigned index = site == in_plugin && frame == 1 ? 1 : 0;
            char text[40];
            std::snprintf(
                text, sizeof text, " %u+%lx", index,
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(noted[site][frame]) - objects[index].base));
            file << text;
        }
        file << '\n';
    }
    ::dlclose(loaded);
    return file.good();
}

int failures = 0;
void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("%s\n", what);
    ++failures;
}

/// The group of each 32 KiB of addresses: a page of the heap is at least that.
class page_groups {
public:
    void add(const void* block, unsigned group) {
        const auto [known, is_new] = of_.try_emplace(reinterpret_cast<std::uintptr_t>(block) >> 15, group);
        expect(is_new || known->second == group, "blocks of two groups share a page");
    }

private:
    std::map<std::uintptr_t, unsigned> of_;
};

constexpr std::size_t sizes[] = {16, 40, 100, 700, 4000, 20'000};

void fill_and_free(page_groups* pages) {
    struct held {
        unsigned char* block;
        std::size_t bytes;
        unsigned site;
    };
    std::vector<held> all;
    for (int round = 0; round < 300; ++round) {
        for (unsigned site = 0; site < sites; ++site) {
            const std::size_t bytes = sizes[static_cast<std::size_t>(round) % std::size(sizes)];
            auto* const block = static_cast<unsigned char*>(allocate(site, bytes));
            if (block == nullptr) std::abort();
            if (site == 2) expect(block[0] == 0 && block[bytes - 1] == 0, "calloc's block is not zero");
            if (site == 4) expect(reinterpret_cast<std::uintptr_t>(block) % 64 == 0, "a block is not aligned");
            std::memset(block, static_cast<int>(site + 1), bytes);
            all.push_back({block, bytes, site});
            if (pages != nullptr) pages->add(block, group_of_site(site));
        }
        if (round % 3 != 2) continue;
        for (std::size_t index = 0; index < all.size(); index += 2) { // those between stay
            expect(all[index].block[all[index].bytes / 2] == all[index].site + 1, "a block has lost its contents");
            std::free(all[index].block);
            all[index] = all.back();
            all.pop_back();
        }
    }
    for (const held& each : all) {
        expect(each.block[0] == each.site + 1 && each.block[each.bytes - 1] == each.site + 1, "contents are lost");
        std::free(each.block);
    }
}

void pass_between_threads() {
    std::atomic<void*> mailbox[64]{};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 4; ++number) {
        threads.emplace_back([&mailbox, number] {
            for (unsigned turn = 0; turn < 20'000; ++turn) {
                void* const block = allocate((turn + number) % sites, sizes[turn % 4]);
                std::memset(block, 1, 16);
                std::free(mailbox[(turn * 7 + number) % 64].exchange(block));
            }
        });
    }
    for (std::thread& each : threads) each.join();
    for (std::atomic<void*>& each : mailbox) std::free(each.load());
}

/// Whether blocks of the plug-in's call site and of one without advice share no page.
bool are_apart(allocate_by* from_plugin) {
    std::map<std::uintptr_t, bool> is_of_plugin;
    std::vector<void*> blocks;
    bool apart = true;
    for (int each = 0; each < 2000; ++each) {
        const bool is_from_plugin = each % 2 == 0;
        void* const block = is_from_plugin ? from_plugin(&by_malloc, in_plugin, 100) : other_malloc(100);
        blocks.push_back(block);
        const auto page = reinterpret_cast<std::uintptr_t>(block) >> 15;
        apart = is_of_plugin.try_emplace(page, is_from_plugin).first->second == is_from_plugin && apart;
    }
    for (void* const block : blocks) std::free(block);
    return apart;
}

/// The library is found after some slow calls, also when it was unloaded and loaded again.
void use_plugin(const char* library) {
    for (int round = 0; round < 4; ++round) {
        void* const loaded = ::dlopen(library, RTLD_NOW);
        if (loaded == nullptr) return expect(false, "the library cannot be loaded");
        auto* const from_plugin = reinterpret_cast<allocate_by*>(::dlsym(loaded, "allocate_by"));
        bool is_found = false;
        for (int attempt = 0; attempt < 14 && !is_found; ++attempt) {
            for (int slow = 0; slow < 1 << attempt; ++slow) std::free(other_malloc(3'000'000));
            is_found = are_apart(from_plugin);
        }
        expect(is_found, "the call site of the loaded library was never found");
        ::dlclose(loaded);
        fill_and_free(nullptr);
    }
}

int run(const std::string& what, const char* library) {
    if (what == "groups") {
        page_groups pages;
        fill_and_free(&pages);
    } else if (what == "threads") {
        for (int round = 0; round < 3; ++round) pass_between_threads();
        std::thread([] { fill_and_free(nullptr); }).join();
    } else if (what == "fork") {
        void* const block = allocate(6, 100);
        const pid_t child = ::fork();
        if (child == 0) {
            std::free(block);
            fill_and_free(nullptr);
            std::_Exit(failures == 0 ? 0 : 1);
        }
        int status = 1;
        ::waitpid(child, &status, 0);
        expect(status == 0, "the child has failed");
        fill_and_free(nullptr);
        std::free(block);
    } else {
        use_plugin(library);
    }
    return failures == 0 ? 0 : 1;
}

}

int main(int count, char** words) {
    if (count < 3) return 2;
    if (std::getenv("TENURE_ADVICE") != nullptr) {
        const int status = run(words[1], words[2]);
        std::remove(std::getenv("TENURE_ADVICE"));
        return status;
    }
    const std::string path = std::string{words[0]} + "." + words[1] + ".advice";
    if (!write_advice(path.c_str(), words[2])) return 3;
    ::setenv("TENURE_ADVICE", path.c_str(), 1);
    ::execv("/proc/self/exe", words);
    return 4;
}
