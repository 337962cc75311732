// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// From the memory resources of the standard library to Tenure: the same work before and after.

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include <tenure/tenure.hpp>

namespace {

constexpr const char* long_name = "a name that is too long to be stored inside the string object";

std::size_t monotonic_before() {
    std::pmr::monotonic_buffer_resource scratch;
    std::pmr::vector<std::pmr::string> names(&scratch);
    names.emplace_back(long_name);
    return names.size();
}

std::size_t monotonic_after() {
    tenure::arena scratch;
    tenure::resource_adaptor resource(scratch);
    std::pmr::vector<std::pmr::string> names(&resource);
    names.emplace_back(long_name);
    return names.size();
}

/// The same without a virtual call, if the container's type may name the arena.
std::size_t monotonic_without_a_virtual_call() {
    tenure::arena scratch;
    std::vector<int, tenure::stl_allocator<int, tenure::arena>> numbers(scratch);
    numbers.push_back(1);
    return numbers.size();
}

bool rounds_before() {
    std::pmr::monotonic_buffer_resource scratch;
    for (int round = 0; round < 3; ++round) {
        std::memset(scratch.allocate(1000), 7, 1000);
        scratch.release(); // returns the chunks to the upstream resource
    }
    return true;
}

bool rounds_after() {
    tenure::arena scratch;
    for (int round = 0; round < 3; ++round) {
        void* const block = scratch.allocate(1000);
        if (block == nullptr) return false;
        std::memset(block, 7, 1000);
        scratch.clear(); // keeps the chunks for the next round
    }
    scratch.trim(); // returns them
    return true;
}

bool fixed_buffer_before() {
    std::array<std::byte, 4096> buffer;
    std::pmr::monotonic_buffer_resource scratch(buffer.data(), buffer.size(), std::pmr::null_memory_resource());
    try {
        std::memset(scratch.allocate(1000), 7, 1000);
        std::memset(scratch.allocate(4000), 7, 4000);
        return false;
    } catch (const std::bad_alloc&) {
        return true; // when full
    }
}

bool fixed_buffer_after() {
    std::array<std::byte, 4096> buffer;
    tenure::static_buffer_source memory(buffer.data(), buffer.size());
    tenure::arena scratch(2048, memory);                                           // the first chunk
    return scratch.allocate(1000) != nullptr && scratch.allocate(4000) == nullptr; // null when full
}

std::size_t pools_before() {
    std::pmr::synchronized_pool_resource nodes; // unsynchronized_pool_resource: for one thread
    std::pmr::list<int> numbers(&nodes);
    numbers.push_back(1);
    return numbers.size();
}

std::size_t pools_after() {
    tenure::heap nodes; // any thread; a tenure::process_memory needs no object
    tenure::resource_adaptor resource(nodes);
    std::pmr::list<int> numbers(&resource);
    numbers.push_back(1);
    return numbers.size();
}

}

int main() {
    // In passthrough the blocks come from malloc, which is not full.
    const bool is_passed = tenure::passthrough_enabled(tenure::part::arena);
    const bool good = monotonic_before() == monotonic_after() && monotonic_without_a_virtual_call() == 1 &&
                      rounds_before() && rounds_after() && fixed_buffer_before() &&
                      (fixed_buffer_after() || is_passed) && pools_before() == pools_after();
    std::puts(good ? "the same" : "not the same");
    return good ? 0 : 1;
}
