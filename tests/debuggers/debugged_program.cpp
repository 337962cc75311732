// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program for the tests of debuggers/: it allocates, writes into a file what a reader of its memory must find, and
// calls stop_here(). What it writes comes from the library's own functions.
//
// usage: debugged_program FILE [wait]     wait: until its standard input ends

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include <unistd.h>

#include <tenure/heap/detail/debug_layout.hpp>
#include <tenure/pool/detail/debug_layout.hpp>
#include <tenure/tenure.hpp>

namespace {

struct creature {
    int id;
    double health;
    char name[20];
};

std::FILE* out = nullptr;

void tell(const char* what, const void* at, const char* of, std::size_t bytes, const char* state) {
    std::fprintf(out, "%s %p %s %zu %s\n", what, at, of, bytes, state);
}

void* block_in(tenure::heap& from, const char* name, std::size_t bytes) {
    void* const block = from.allocate(bytes);
    tell("block", block, name, from.usable_size(block), "in_use");
    return block;
}

}

extern "C" __attribute__((noinline)) void stop_here() { __asm__ volatile(""); }

int main(int count, char** arguments) {
    if (count < 2) return 2;
    out = std::fopen(arguments[1], "w");
    if (out == nullptr) return 2;
    std::fprintf(out, "layout %p heap\nlayout %p pool\n", static_cast<const void*>(&tenure_debug_layout),
                 static_cast<const void*>(&tenure_debug_pool_layout));

    tenure::heap watched({.name = "watched"});
    for (const std::size_t bytes : {8, 48, 700, 9000, 32768, 70000, 3000000}) {
        for (int each = 0; each < 50; ++each) static_cast<void>(watched.allocate(bytes));
    }
    for (const std::size_t bytes : {8, 48, 700, 9000, 32768, 70000, 3000000, 50000000})
        static_cast<void>(block_in(watched, "watched", bytes));
    void* const freed = watched.allocate(96);
    void* const large = watched.allocate(200000);
    static_cast<void>(watched.allocate(200000));
    watched.deallocate(large);
    tell("block", large, "watched", 0, "free");
    watched.deallocate(freed);
    tell("block", freed, "watched", 96, tenure::checks::caller ? "resting" : "cached");
    creature* const monster = static_cast<creature*>(watched.allocate(sizeof(creature)));
    *monster = {7, 0.5, "not in a pool"};
    creature& boss = *monster;
    const auto number = reinterpret_cast<std::uintptr_t>(monster);
    tell("variable", monster, "watched", watched.usable_size(monster), "in_use");
    void* const in_process = tenure::heap::process().allocate(1000);
    tell("block", in_process, "process", tenure::heap::process().usable_size(in_process), "in_use");

    const tenure::tag physics("physics");
    for (const std::size_t bytes : {500, 100000}) {
        const tenure::tag_scope tagged(physics);
        void* const block = tenure::heap::process().allocate(bytes);
        tell("block", block, "process", tenure::heap::process().usable_size(block), "in_use");
    }

    tenure::pool<creature> monsters;
    creature* destroyed = nullptr;
    for (int each = 0; each < 1000; ++each) {
        creature* const made = monsters.construct(creature{each, 1.5, "a monster"});
        if (each % 3 == 0) destroyed = made;
        if (each % 3 == 1) monsters.destroy(std::exchange(destroyed, nullptr));
    }
    tenure::shared_pool<creature> shared;
    for (int each = 0; each < 77; ++each) static_cast<void>(shared.construct(creature{each, 2.5, "shared"}));
    tenure::handle_pool<creature> handles(1000);
    const tenure::pool_handle<creature> first = handles.construct(creature{5, 3.5, "handled"});
    for (int each = 0; each < 9; ++each) static_cast<void>(handles.construct(creature{each, 3.5, "more"}));
    handles.destroy(first);
    std::fprintf(out, "pool %p pool %zu %zu\n", static_cast<const void*>(&monsters), sizeof(creature), monsters.size());
    std::fprintf(out, "pool %p shared %zu %zu\n", static_cast<const void*>(&shared), sizeof(creature), shared.size());
    std::fprintf(out, "pool %p handles %zu %zu\n", static_cast<const void*>(&handles), sizeof(creature),
                 handles.size());

    // Where pools are going to be, as a debugger sees them before their constructors.
    alignas(tenure::pool<creature>) unsigned char bytes[sizeof(tenure::pool<creature>)];
    std::memset(bytes, 0xCD, sizeof bytes);
    const auto* const unmade = reinterpret_cast<const tenure::pool<creature>*>(bytes);

    tenure::stable_vector<int> numbers(1000);
    for (int each = 0; each < 5; ++each) static_cast<void>(numbers.emplace_back(each * each));
    tenure::arena scratch;
    static_cast<void>(scratch.allocate(100));
    const tenure::tag_scope tagged(physics);
    static_cast<void>(tenure::temp::allocate(100));
    const tenure::temp_scope frame;

    // At the end: what is printed uses no heap, and nothing else changes what a reader finds.
    const tenure::heap_usage usage = watched.usage();
    for (const auto& each : usage.sizes) {
        if (each.live_count == 0) continue;
        std::fprintf(out, "size %zu watched %zu %zu\n", each.block_bytes, each.live_count, each.cached_count);
    }
    std::fprintf(out, "total watched %zu %zu\n", watched.stats().live_count, watched.stats().reserved_bytes);
    std::fprintf(out, "done\n");
    std::fflush(out);
    stop_here();
    char byte = 0;
    while (count > 2 && read(STDIN_FILENO, &byte, 1) > 0) {}
    std::fclose(out);
    if (number == 0 || boss.id != 7 || unmade == nullptr) return 1;
    return numbers.size() == 5 && monsters.size() != 0 && shared.size() != 0 ? 0 : 1;
}
