// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Standard containers, std::pmr and owning pointers over Tenure's allocators.

#include <cstdio>
#include <memory_resource>
#include <string>
#include <vector>

#include <tenure/tenure.hpp>

namespace {

/// A container with an arena. Use reserve(): each growth keeps the old array allocated until the arena is cleared.
std::size_t vector_in_an_arena() {
    tenure::arena scratch;
    std::vector<int, tenure::stl_allocator<int, tenure::arena>> numbers(scratch);
    numbers.reserve(1000);
    for (int number = 0; number < 1000; ++number) numbers.push_back(number);
    return numbers.size();
}

/// Stateless allocators need no argument.
std::size_t vector_for_some_frames() {
    std::vector<int, tenure::stl_allocator<int, tenure::temp_job>> numbers(100);
    return numbers.size();
}

/// One container type for all allocators, at the cost of a virtual call.
std::size_t polymorphic() {
    tenure::arena scratch;
    tenure::resource_adaptor resource(scratch);
    std::pmr::vector<std::pmr::string> names(&resource);
    names.emplace_back("a name that is too long to be stored inside the string object");
    return names.size();
}

struct node {
    explicit node(int start) : value(start) {}
    int value;
};

/// The pointer's destructor destroys and frees the object. The pointer is empty when out of memory.
bool owning_pointers() {
    tenure::pool<node> nodes;
    tenure::arena scratch;
    const auto from_pool = tenure::make_unique_in(nodes, 7);
    const auto from_arena = tenure::make_unique_in<node>(scratch, 8);
    const auto many = tenure::make_unique_in<int[]>(tenure::temp_job{}, 100); // zeros; any thread may free them
    return from_pool != nullptr && from_arena != nullptr && many != nullptr && nodes.size() == 1;
}

}

int main() {
    std::printf("%zu %zu %zu\n", vector_in_an_arena(), vector_for_some_frames(), polymorphic());
    return owning_pointers() ? 0 : 1;
}
