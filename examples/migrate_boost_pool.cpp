// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// From Boost.Pool to Tenure: the same work before and after.

#include <cstddef>
#include <cstdio>
#include <list>

#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <boost/pool/singleton_pool.hpp>

#include <tenure/tenure.hpp>

namespace {

struct monster {
    explicit monster(int start) : health(start) {}
    int health;
};

bool objects_before() {
    boost::object_pool<monster> monsters;
    monster* const first = monsters.construct(7);
    const bool good = first != nullptr && monsters.is_from(first);
    monsters.destroy(first); // walks the free list
    return good;
}

bool objects_after() {
    tenure::pool<monster> monsters;
    monster* const first = monsters.construct(7);
    const bool good = first != nullptr && monsters.owns(first);
    monsters.destroy(first); // O(1)
    return good;
}

bool blocks_before() {
    boost::pool<> blocks(48);
    void* const first = blocks.malloc();
    blocks.free(first);
    blocks.purge_memory(); // frees all blocks and returns their memory
    return first != nullptr;
}

bool blocks_after() {
    tenure::block_pool blocks(48);
    void* const first = blocks.allocate();
    blocks.deallocate(first);
    blocks.clear(); // frees all blocks,
    blocks.trim();  // and returns their memory
    return first != nullptr;
}

struct message_tag {};

bool any_thread_before() {
    using messages = boost::singleton_pool<message_tag, 256>;
    void* const first = messages::malloc(); // takes a mutex
    messages::free(first);
    return messages::purge_memory() && first != nullptr;
}

tenure::shared_block_pool& messages() {
    static auto& pool = *new tenure::shared_block_pool(256); // never destroyed, as the singleton
    return pool;
}

bool any_thread_after() {
    void* const first = messages().allocate(); // from the thread's cache
    messages().deallocate(first);
    messages().clear();
    messages().trim();
    return first != nullptr;
}

std::size_t containers_before() {
    std::list<int, boost::fast_pool_allocator<int>> numbers;
    numbers.push_back(1);
    return numbers.size();
}

std::size_t containers_after() {
    std::list<int, tenure::stl_allocator<int, tenure::process_memory>> numbers;
    numbers.push_back(1);
    return numbers.size();
}

}

int main() {
    const bool good = objects_before() && objects_after() && blocks_before() && blocks_after() && any_thread_before() &&
                      any_thread_after() && containers_before() == containers_after();
    std::puts(good ? "the same" : "not the same");
    return good ? 0 : 1;
}
