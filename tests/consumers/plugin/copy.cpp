// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A plug-in with a static copy, built as carelessly as can be: unoptimised, so that inline functions are really called,
// and with everything visible, so that another module's may be called instead.

#include <cstdio>

#include <tenure/tenure.hpp>

namespace {

bool expect(bool holds, const char* what) {
    if (!holds) std::fprintf(stderr, "plug-in: %s is another copy's\n", what);
    return holds;
}

// Each part is used through its inline functions and then asked through the compiled ones, which are always our own.
bool temp_is_ours() {
    std::size_t const before = tenure::temp::stats().used_bytes;
    tenure::temp_scope const scope;
    void* const block = tenure::allocate(1000, tenure::lifetime::temp);
    return expect(block != nullptr && tenure::temp::stats().used_bytes >= before + 1000, "Temp");
}

bool temp_job_is_ours() {
    std::size_t const before = tenure::temp_job::stats().live_count;
    void* const block = tenure::allocate(1000, tenure::lifetime::temp_job);
    bool const counted = tenure::temp_job::stats().live_count == before + 1;
    tenure::deallocate(block, tenure::lifetime::temp_job);
    return expect(counted, "TempJob");
}

bool tags_are_ours() {
    tenure::tag_scope const scope{"plug-in"};
    tenure::tag const owner = tenure::tag::named("plug-in");
    void* const block = tenure::allocate(1000, tenure::lifetime::temp_job);
    bool const tagged = tenure::usage_of(owner).temp_job_count == 1;
    tenure::deallocate(block, tenure::lifetime::temp_job);
    return expect(tagged, "the tag");
}

bool pools_are_ours() {
    tenure::shared_pool<long> numbers;
    long* const number = numbers.construct(1L);
    bool const counted = numbers.size() == 1;
    numbers.destroy(number);
    return expect(counted && numbers.size() == 0 && numbers.valid(), "the shared pool's cache");
}

}

extern "C" __attribute__((visibility("default"))) int use_plugin() {
    bool good = true;
    for (int turn = 0; turn < 3; ++turn) {
        good = temp_is_ours() && good;
        good = temp_job_is_ours() && good;
        good = tags_are_ours() && good;
        good = pools_are_ours() && good;
        tenure::next_frame();
    }
    return good ? 0 : 1;
}
