// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Advice for a library with two executable segments. The program notes where the library's calls return to, writes a
// file of advice, executes itself with it, and looks whether blocks of the two call sites lie apart from each other and
// from all others. Says what is wrong, and ends with 1.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "advised_segments.hpp"

namespace {

std::uintptr_t noted = 0;

__attribute__((noinline)) void* note_caller(std::size_t) {
    noted = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    return nullptr;
}

struct position {
    std::string path;
    std::uintptr_t offset = 0; ///< in the file
    std::uintptr_t begin = 0;  ///< of the mapping
};

position position_of(std::uintptr_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0, offset = 0;
        char rights[5]{};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &begin, &end, rights, &offset) != 4) continue;
        if (address > begin && address <= end) return {line.substr(line.find('/')), address - begin + offset, begin};
    }
    return {};
}

int write_advice(const std::string& path) {
    static_cast<void>(allocate_in_first_segment(&note_caller, 1));
    const position first = position_of(noted);
    static_cast<void>(allocate_in_second_segment(&note_caller, 1));
    const position second = position_of(noted);
    if (first.path.empty() || first.path != second.path) return std::puts("the library is not there"), 1;
    if (first.begin == second.begin) return std::puts("the library has one executable segment"), 1;
    std::ofstream file(path);
    file << "tenure-advice 1\nobject 0 - " << first.path << "\nclass 1 first\nclass 2 second\n"
         << std::hex << "site 1 0+" << first.offset << "\nsite 2 0+" << second.offset << "\n";
    return file.good() ? 0 : 1;
}

/// 32 KiB of addresses: a page of the heap is at least that.
std::uintptr_t page_of(const void* block) { return reinterpret_cast<std::uintptr_t>(block) >> 15; }

int look_at_pages() {
    std::map<std::uintptr_t, unsigned> who;
    std::vector<void*> blocks;
    int wrong = 0;
    for (unsigned each = 0; each < 3000; ++each) {
        const unsigned site = each % 3;
        void* const block = site == 0   ? std::malloc(100)
                            : site == 1 ? allocate_in_first_segment(&std::malloc, 100)
                                        : allocate_in_second_segment(&std::malloc, 100);
        blocks.push_back(block);
        if (who.try_emplace(page_of(block), site).first->second != site) ++wrong;
    }
    for (void* const block : blocks) std::free(block);
    if (wrong != 0) std::printf("%d blocks of 3000 share a page with those of another call site\n", wrong);
    return wrong == 0 ? 0 : 1;
}

}

int main(int, char** words) {
    if (std::getenv("TENURE_ADVICE") != nullptr) {
        const int status = look_at_pages();
        std::remove(std::getenv("TENURE_ADVICE"));
        return status;
    }
    const std::string path = std::string{words[0]} + ".advice";
    if (write_advice(path) != 0) return 1;
    ::setenv("TENURE_ADVICE", path.c_str(), 1);
    ::execv("/proc/self/exe", words);
    return 4;
}
