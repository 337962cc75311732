// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A plug-in with a static copy, unoptimised, so that inline functions are really called. Without HIDDEN everything is
// visible as well, so that another module's may be called instead.

#include <cstdio>
#include <memory_resource>
#include <vector>

#include <tenure/tenure.hpp>

namespace {

bool expect(bool holds, const char* what) {
    if (!holds) std::fprintf(stderr, "plug-in: %s is another copy's\n", what);
    return holds;
}

// Each part is used through its inline functions and then asked through the compiled ones, which are always our own.
bool temp_is_ours() {
    const std::size_t before = tenure::temp::stats().used_bytes;
    const tenure::temp_scope scope;
    void* const block = tenure::allocate(1000, tenure::lifetime::temp);
    return expect(block != nullptr && tenure::temp::stats().used_bytes >= before + 1000, "Temp");
}

bool temp_job_is_ours() {
    const std::size_t before = tenure::temp_job::stats().live_count;
    void* const block = tenure::allocate(1000, tenure::lifetime::temp_job);
    const bool counted = tenure::temp_job::stats().live_count == before + 1;
    tenure::deallocate(block, tenure::lifetime::temp_job);
    return expect(counted, "TempJob");
}

bool tags_are_ours() {
    const tenure::tag_scope scope{"plug-in"};
    const tenure::tag owner = tenure::tag::named("plug-in");
    void* const block = tenure::allocate(1000, tenure::lifetime::temp_job);
    const bool tagged = tenure::usage_of(owner).temp_job_count == 1;
    tenure::deallocate(block, tenure::lifetime::temp_job);
    return expect(tagged, "the tag");
}

bool pools_are_ours() {
    tenure::shared_pool<long> numbers;
    long* const number = numbers.construct(1L);
    const bool counted = numbers.size() == 1;
    numbers.destroy(number);
    return expect(counted && numbers.size() == 0 && numbers.valid(), "the shared pool's cache");
}

// Blocks of another size in each copy, from pools that stay: were the copies' registries taken for each other, a thread
// would find the one's cache where it looks for the other's.
struct message {
    char text[COPY_BYTES];
};
bool pools_of_another_size_are_ours() {
    static tenure::shared_pool<message>* const pool = new tenure::shared_pool<message>;
    message* const first = pool->construct();
    message* const second = pool->construct();
    const bool ours = pool->owns(first) && pool->owns(second) && pool->size() == 2;
    pool->destroy(second);
    pool->destroy(first);
    return expect(ours && pool->size() == 0, "the block of a shared pool");
}

#ifdef HIDDEN
// What the standard library instantiates over our adaptors is as visible as they are.
bool containers_are_ours() {
    const std::size_t before = tenure::temp::stats().used_bytes;
    const tenure::temp_scope scope;
    std::vector<int, tenure::stl_allocator<int, tenure::temp>> numbers(100);
    const bool in_vector = tenure::temp::owns(numbers.data());
    tenure::resource_adaptor<tenure::temp> resource;
    std::pmr::vector<int> more(100, &resource);
    const bool in_pmr = tenure::temp::owns(more.data());
    return expect(in_vector && in_pmr && tenure::temp::stats().used_bytes > before, "Temp behind a container");
}
#else
bool containers_are_ours() { return true; }
#endif

}

extern "C" __attribute__((visibility("default"))) int use_plugin() {
    bool good = true;
    for (int turn = 0; turn < 3; ++turn) {
        good = temp_is_ours() && good;
        good = temp_job_is_ours() && good;
        good = tags_are_ours() && good;
        good = pools_are_ours() && good;
        good = pools_of_another_size_are_ours() && good;
        good = containers_are_ours() && good;
        tenure::next_frame();
    }
    return good ? 0 : 1;
}
