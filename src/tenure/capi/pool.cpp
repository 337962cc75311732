// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: pools of one size.

#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

using namespace tenure;

struct tn_pool {
    tn_pool(std::size_t bytes, std::size_t alignment, const tn_block_source* functions) noexcept
        : source(functions), value(bytes, alignment, source.or_pages()) {}
    capi::callback_source source;
    block_pool value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_pool";
};

struct tn_shared_pool {
    tn_shared_pool(std::size_t bytes, std::size_t alignment, const tn_block_source* functions) noexcept
        : source(functions), value(bytes, alignment, source.or_pages()) {}
    capi::callback_source source;
    shared_block_pool value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_shared_pool";
};

namespace {

[[nodiscard]] bool is_valid(std::string_view call, std::size_t bytes, std::size_t alignment,
                            const tn_block_source* source) noexcept {
    return capi::is_block_of_pool(call, bytes, alignment) && capi::callback_source::is_whole(source);
}

}

tn_pool* tn_pool_create(std::size_t bytes, std::size_t alignment, const tn_block_source* source) {
    const std::size_t aligned_to = capi::alignment_of(alignment);
    return is_valid("tn_pool_create", bytes, aligned_to, source) ? make<tn_pool>(bytes, aligned_to, source) : nullptr;
}

void tn_pool_destroy(tn_pool* pool) { capi::destroy_live(pool, __func__); }
void* tn_pool_allocate(tn_pool* pool) {
    if (!capi::is_live(pool, __func__)) return nullptr;
    return pool->value.allocate();
}
void tn_pool_deallocate(tn_pool* pool, void* block) {
    if (!capi::is_live(pool, __func__)) return;
    pool->value.deallocate(block);
}
void tn_pool_clear(tn_pool* pool) {
    if (!capi::is_live(pool, __func__)) return;
    pool->value.clear();
}
std::size_t tn_pool_trim(tn_pool* pool) {
    if (!capi::is_live(pool, __func__)) return 0;
    return pool->value.trim();
}
std::size_t tn_pool_size(const tn_pool* pool) {
    if (!capi::is_live(pool, __func__)) return 0;
    return pool->value.size();
}

void tn_pool_get_stats(const tn_pool* pool, tn_allocator_stats* stats) {
    if (!capi::is_live(pool, __func__)) return;
    capi::answer(stats, capi::figures(pool->value.stats()));
}

tn_shared_pool* tn_shared_pool_create(std::size_t bytes, std::size_t alignment, const tn_block_source* source) {
    const std::size_t aligned_to = capi::alignment_of(alignment);
    tn_shared_pool* const made = is_valid("tn_shared_pool_create", bytes, aligned_to, source)
                                     ? make<tn_shared_pool>(bytes, aligned_to, source)
                                     : nullptr;
    if (made == nullptr || made->value.is_usable()) return made;
    destroy(made); // out of memory
    return nullptr;
}

void tn_shared_pool_destroy(tn_shared_pool* pool) { capi::destroy_live(pool, __func__); }
void* tn_shared_pool_allocate(tn_shared_pool* pool) {
    if (!capi::is_live(pool, __func__)) return nullptr;
    return pool->value.allocate();
}
void tn_shared_pool_deallocate(tn_shared_pool* pool, void* block) {
    if (!capi::is_live(pool, __func__)) return;
    pool->value.deallocate(block);
}
void tn_shared_pool_clear(tn_shared_pool* pool) {
    if (!capi::is_live(pool, __func__)) return;
    pool->value.clear();
}
std::size_t tn_shared_pool_trim(tn_shared_pool* pool) {
    if (!capi::is_live(pool, __func__)) return 0;
    return pool->value.trim();
}
std::size_t tn_shared_pool_size(const tn_shared_pool* pool) {
    if (!capi::is_live(pool, __func__)) return 0;
    return pool->value.size();
}

void tn_shared_pool_get_stats(const tn_shared_pool* pool, tn_allocator_stats* stats) {
    if (!capi::is_live(pool, __func__)) return;
    capi::answer(stats, capi::figures(pool->value.stats()));
}
