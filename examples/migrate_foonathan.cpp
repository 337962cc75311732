// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// From foonathan/memory to Tenure. Its lines are in docs/guide/migrate.md; these are the new ones.

#include <cstddef>
#include <cstdio>
#include <list>

#include <tenure/tenure.hpp>

namespace {

struct monster {
    explicit monster(int start) : health(start) {}
    int health;
};

bool nodes_of_one_size() {
    tenure::block_pool nodes(48);
    void* const node = nodes.allocate();
    nodes.deallocate(node);
    return node != nullptr;
}

bool a_stack_with_markers() {
    tenure::arena stack(4096);
    const auto marker = stack.mark();
    void* const block = stack.allocate(100, 16);
    stack.rewind(marker);
    return block != nullptr;
}

bool a_temporary_allocator() {
    const tenure::temp_scope scope;
    void* const block = scope.allocate(100, 16);
    return block != nullptr;
}

bool two_iterations() {
    tenure::frame_memory frames(2);
    void* const block = frames.allocate(100, 16);
    tenure::next_frame(); // the block stays valid
    tenure::next_frame(); // and is gone
    return block != nullptr;
}

bool a_container() {
    tenure::heap heap;
    std::list<int, tenure::stl_allocator<int, tenure::heap>> numbers(heap);
    numbers.push_back(1);
    return numbers.size() == 1;
}

bool an_owning_pointer() {
    tenure::pool<monster> monsters;
    const auto one = tenure::make_unique_in(monsters, 7);
    return one != nullptr && one->health == 7;
}

bool storage_of_the_program() {
    alignas(16) static unsigned char storage[4096];
    tenure::static_buffer_source memory(storage, sizeof storage);
    tenure::arena stack(1024, memory);
    return stack.allocate(100) != nullptr;
}

bool a_tracked_allocator() {
    tenure::counting_source counted(tenure::page_source::process());
    tenure::arena stack(4096, counted);
    // In passthrough blocks come from malloc and not from the source.
    const bool is_passed = tenure::passthrough_enabled(tenure::part::arena);
    return stack.allocate(100) != nullptr && (counted.requests() == 1 || is_passed);
}

}

int main() {
    const bool good = nodes_of_one_size() && a_stack_with_markers() && a_temporary_allocator() && two_iterations() &&
                      a_container() && an_owning_pointer() && storage_of_the_program() && a_tracked_allocator();
    std::puts(good ? "all new lines work" : "a new line does not work");
    return good ? 0 : 1;
}
