// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A library whose indirect function is resolved when the program is loaded. It is relocated before the drop-in, so that
// its resolver calls a malloc that the loader has not come to yet.

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include "early_pointer_place.hpp"

namespace {

struct early {
    unsigned char* plain;
    unsigned char* zeroed;
    unsigned char* grown;
    bool is_every_size_served;
    bool is_early_pointer_null;
} blocks;

void fill(unsigned char* block, unsigned char value, int bytes) {
    for (int i = 0; i < bytes; ++i) static_cast<volatile unsigned char*>(block)[i] = value;
}

/// Small and large blocks of every form. Calls nothing else: the C library may not be relocated either.
bool serve_every_size() {
    for (std::size_t bytes = 1; bytes < 200'000; bytes += bytes / 8 + 1) {
        auto* const plain = static_cast<unsigned char*>(std::malloc(bytes));
        auto* const zeroed = static_cast<unsigned char*>(std::calloc(bytes, 1));
        auto* const aligned = static_cast<unsigned char*>(std::aligned_alloc(256, bytes));
        if (plain == nullptr || zeroed == nullptr || aligned == nullptr) return false;
        if (zeroed[0] != 0 || zeroed[bytes - 1] != 0 || reinterpret_cast<std::uintptr_t>(aligned) % 256 != 0)
            return false;
        for (unsigned char* const block : {plain, zeroed, aligned}) {
            static_cast<volatile unsigned char*>(block)[0] = 1;
            static_cast<volatile unsigned char*>(block)[bytes - 1] = 1;
            std::free(block);
        }
    }
    return true;
}

int answer() { return 42; }

}

extern "C" {
// NOLINTNEXTLINE(misc-use-internal-linkage): named by the attribute
int (*resolve_early_answer())() {
    blocks.is_early_pointer_null = word_at_early_pointer_place() == 0;
    blocks.is_every_size_served = serve_every_size();
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
    bool good = blocks.is_early_pointer_null && blocks.is_every_size_served;
    good = good && early_answer() == 42 && blocks.plain[0] == 7 && blocks.plain[99] == 7 && blocks.zeroed[999] == 0;
    blocks.plain = static_cast<unsigned char*>(std::realloc(blocks.plain, 5000));
    good = good && blocks.plain[99] == 7 && blocks.grown[9] == 9;
    std::free(blocks.plain);
    std::free(blocks.zeroed);
    std::free(blocks.grown);
    return good ? 1 : 0;
}
}
