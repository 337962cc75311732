// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// From malloc, new and delete to Tenure: the same work before and after.

#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include <tenure/tenure.hpp>

namespace {

struct settings {
    explicit settings(int wanted) : quality(wanted) {}
    int quality;
};

bool is_aligned(const void* block, std::uintptr_t alignment) {
    return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

bool blocks_before() {
    void* text = std::malloc(100);
    void* const zeros = std::calloc(1000, sizeof(int));
    void* const line = std::aligned_alloc(64, 128); // the alignment first
    if (void* const longer = std::realloc(text, 5000)) text = longer;
    const bool good = is_aligned(line, 64) && malloc_usable_size(text) >= 5000 && static_cast<int*>(zeros)[999] == 0;
    std::free(line);
    std::free(zeros);
    std::free(text);
    malloc_trim(0);
    return good;
}

bool blocks_after() {
    tenure::heap& heap = tenure::heap::process();
    void* text = heap.allocate(100);
    void* const zeros = heap.allocate(1000 * sizeof(int), tenure::default_alignment, tenure::fill::zero);
    void* const line = heap.allocate(128, 64); // the size first
    if (void* const longer = heap.reallocate(text, 5000)) text = longer;
    const bool good = is_aligned(line, 64) && heap.usable_size(text) >= 5000 && static_cast<int*>(zeros)[999] == 0;
    heap.deallocate(line);
    heap.deallocate(zeros, 1000 * sizeof(int)); // with the size, where you know it: quicker
    heap.deallocate(text);
    heap.trim();
    return good;
}

bool scratch_before() {
    auto* const distances = static_cast<float*>(std::malloc(1000 * sizeof(float)));
    if (distances == nullptr) return false;
    distances[0] = 1;
    std::free(distances);
    return true;
}

bool scratch_after() {
    const tenure::temp_scope scope;
    const auto distances = scope.allocate<float>(1000); // an empty span when out of memory
    if (distances.empty()) return false;
    distances[0] = 1;
    return true; // the end of the scope frees it
}

bool objects_before() {
    settings* const chosen = new (std::nothrow) settings(3);
    float* const heights = new (std::nothrow) float[1000](); // zeros
    const auto owned = std::make_unique<settings>(4);
    const bool good = chosen != nullptr && heights != nullptr && owned->quality == 4;
    delete[] heights;
    delete chosen;
    return good;
}

bool objects_after() {
    settings* const chosen = tenure::make<settings>(3);
    const auto heights = tenure::make_array<float>(1000); // zeros, as a span that knows its length
    const auto owned = tenure::unique<settings>(tenure::make<settings>(4));
    const bool good = chosen != nullptr && !heights.empty() && owned->quality == 4;
    tenure::destroy_array(heights);
    tenure::destroy(chosen);
    return good;
}

}

int main() {
    const bool good =
        blocks_before() && blocks_after() && scratch_before() && scratch_after() && objects_before() && objects_after();
    std::puts(good ? "the same" : "not the same");
    return good ? 0 : 1;
}
