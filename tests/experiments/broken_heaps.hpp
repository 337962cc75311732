// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Allocators of mixed sizes that break their promises, and one that does not. None of them destroys what the timed
/// loops store.

#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/harness/page_array.hpp"

namespace broken {

using namespace tenure::lab;

/// Every block after the one before, never again; `Less` bytes of the larger ones are the next one's as well, and all
/// lie `Askew` bytes beside where they should.
template<std::size_t Less, std::size_t Askew>
class bump_heap {
public:
    void* allocate(std::size_t bytes) {
        const std::size_t stride = tenure::align_up(bytes, 16) - (bytes > 64 ? Less : 0);
        if (next_ + bytes + Askew > memory_.size()) return nullptr;
        void* const block = memory_.data() + next_ + Askew;
        next_ += stride;
        return block;
    }
    void deallocate(void*, std::size_t) {}
    void* reallocate(void*, std::size_t) { return nullptr; }
    bool trim() { return false; }

private:
    page_array<char> memory_{std::size_t{16} << 20};
    std::size_t next_ = 0;
};

using sound_heap = bump_heap<0, 0>;
using narrow_heap = bump_heap<16, 0>;
using askew_heap = bump_heap<0, 8>;

/// Its blocks are sound, and it says of none of them that it is its own.
struct denying_heap : sound_heap {
    static constexpr std::string_view query = "denying_heap::owns";
    [[nodiscard]] bool owns(const void*) const { return false; }
};

/// Forgets a byte of the first block that grows.
class forgetful_heap {
public:
    void* allocate(std::size_t bytes) { return std::malloc(bytes); }
    void deallocate(void* block, std::size_t) { std::free(block); }
    void* reallocate(void* block, std::size_t bytes) {
        auto* const grown = static_cast<char*>(std::realloc(block, bytes));
        if (grown != nullptr && !std::exchange(forgot_, true)) grown[100] = 0;
        return grown;
    }
    bool trim() { return false; }

private:
    bool forgot_ = false;
};

/// malloc itself.
struct whole_malloc {
    void* allocate(std::size_t bytes) { return std::malloc(bytes); }
    void deallocate(void* block, std::size_t) { std::free(block); }
    void* reallocate(void* block, std::size_t bytes) { return std::realloc(block, bytes); }
    bool trim() { return true; }
};

/// Everything at one place.
struct one_place {
    void* allocate(std::size_t) { return memory.data(); }
    void deallocate(void*, std::size_t) {}
    void* reallocate(void* block, std::size_t) { return block; }
    bool trim() { return false; }
    page_array<char> memory{std::size_t{8} << 20};
};

}
