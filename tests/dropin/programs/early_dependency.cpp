// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A library whose indirect function is resolved when the program is loaded. It is relocated before the drop-in, so that
// its resolver calls a malloc that the loader has not come to yet.

#include <cstdlib>

namespace {

struct early {
    unsigned char* plain;
    unsigned char* zeroed;
    unsigned char* grown;
} blocks;

void fill(unsigned char* block, unsigned char value, int bytes) {
    for (int i = 0; i < bytes; ++i) static_cast<unsigned char volatile*>(block)[i] = value;
}

int answer() { return 42; }

}

extern "C" {
// NOLINTNEXTLINE(misc-use-internal-linkage): named by the attribute
int (*resolve_early_answer())() {
    blocks.plain = static_cast<unsigned char*>(std::malloc(100));
    if (blocks.plain == nullptr) return nullptr;
    fill(blocks.plain, 7, 100);
    std::free(std::malloc(3000));
    blocks.zeroed = static_cast<unsigned char*>(std::calloc(10, 100));
    blocks.grown = static_cast<unsigned char*>(std::malloc(10));
    fill(blocks.grown, 9, 10);
    blocks.grown = static_cast<unsigned char*>(std::realloc(blocks.grown, 100'000));
    return &answer;
}
int early_answer() __attribute__((ifunc("resolve_early_answer")));

// Returns   whether everything is as it should be, when all is relocated.
__attribute__((visibility("default"))) int finish_early_answer() {
    bool good = early_answer() == 42 && blocks.plain[0] == 7 && blocks.plain[99] == 7 && blocks.zeroed[999] == 0;
    blocks.plain = static_cast<unsigned char*>(std::realloc(blocks.plain, 5000));
    good = good && blocks.plain[99] == 7 && blocks.grown[9] == 9;
    std::free(blocks.plain);
    std::free(blocks.zeroed);
    std::free(blocks.grown);
    return good ? 1 : 0;
}
}
