// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The inline paths of each allocator as functions of their own, for compare.py beside this file.

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/scratch.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>

struct monster {
    long health, armour, speed;
};

extern "C" {

void* temp_allocate() { return tenure::allocate(100, tenure::lifetime::temp); }
void temp_deallocate(void* block) { tenure::deallocate(block, 100, tenure::lifetime::temp); }
void* temp_job_allocate() { return tenure::allocate(100, tenure::lifetime::temp_job); }
void temp_job_deallocate(void* block) { tenure::deallocate(block, 100, tenure::lifetime::temp_job); }
void* persistent_allocate() { return tenure::allocate(100, tenure::lifetime::persistent); }
void persistent_deallocate(void* block) { tenure::deallocate(block, 100, tenure::lifetime::persistent); }
void* stack_allocate(tenure::temp_stack& stack) { return stack.allocate(100); }
void* heap_allocate() { return tenure::heap::process().allocate(100); }
void heap_deallocate(void* block) { tenure::heap::process().deallocate(block); }
void heap_deallocate_with_size(void* block) { tenure::heap::process().deallocate(block, 100); }
monster* make_monster() { return tenure::make<monster>(); }
void* arena_allocate(tenure::arena& from) { return from.allocate(100); }
monster* pool_construct(tenure::pool<monster>& from) { return from.construct(); }
void pool_destroy(tenure::pool<monster>& to, monster* object) { to.destroy(object); }
monster* shared_pool_construct(tenure::shared_pool<monster>& from) { return from.construct(); }
void shared_pool_destroy(tenure::shared_pool<monster>& to, monster* object) { to.destroy(object); }
void* block_pool_allocate(tenure::block_pool& from) { return from.allocate(); }
void block_pool_deallocate(tenure::block_pool& to, void* block) { to.deallocate(block); }
monster* handle_pool_get(tenure::handle_pool<monster>& from, tenure::pool_handle<monster> handle) {
    return from.get(handle);
}
void* affinity_allocate(tenure::affinity_group& from) { return from.allocate(100); }
void affinity_deallocate(tenure::affinity_group& to, void* object) { to.deallocate(object, 100); }
}
