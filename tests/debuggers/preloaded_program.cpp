// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program without Tenure and without debug information, for the tests of debuggers/ with the drop-in preloaded. It
// writes into a file what a reader of its memory must find, and calls stop_here().
//
// usage: preloaded_program FILE

#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t block_bytes[] = {24, 100, 5000, 100000, 40000000};
void* volatile kept[5];

}

extern "C" __attribute__((noinline)) void stop_here() { __asm__ volatile(""); }

int main(int count, char** arguments) {
    if (count < 2) return 2;
    std::FILE* const out = std::fopen(arguments[1], "w");
    if (out == nullptr) return 2;
    for (int each = 0; each < 5; ++each) {
        kept[each] = std::malloc(block_bytes[each]);
        std::fprintf(out, "block %p process %zu in_use\n", kept[each], block_bytes[each]);
    }
    void* const freed = std::malloc(333);
    const void* const address = freed;
    std::fprintf(out, "block %p process 333 cached\n", address);
    std::fprintf(out, "done\n");
    std::fflush(out);
    std::free(freed);
    stop_here();
    std::fclose(out);
    return kept[4] == nullptr;
}
