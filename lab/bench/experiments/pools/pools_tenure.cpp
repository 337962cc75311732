// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// pool, block_pool, shared_pool, small_object, make and destroy in the pools experiment.

#include <array>
#include <new>
#include <string_view>

#include <tenure/heap/make.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>
#include <tenure/pool/small_object.hpp>

#include "bench/experiments/pools/pools_contestant.hpp"

namespace tenure::lab {

namespace {

template<std::size_t Bytes>
struct typed_pool {
    using object = test_object<Bytes>;

    object* construct(int number) { return objects.construct(number); }
    void destroy(object* made) { objects.destroy(made); }
    void drop() { objects.clear(); }
    void trim() { objects.trim(); }
    static constexpr std::string_view query = "pool::owns";
    [[nodiscard]] bool owns(const void* block) const { return objects.owns(block); }

    pool<object> objects;
};

template<std::size_t Bytes>
struct untyped_pool {
    using object = test_object<Bytes>;

    object* construct(int number) {
        void* const block = blocks.allocate();
        return block == nullptr ? nullptr : new (block) object(number);
    }
    void destroy(object* made) { blocks.deallocate(made); }
    void drop() { blocks.clear(); }
    void trim() { blocks.trim(); }
    static constexpr std::string_view query = "block_pool::owns";
    [[nodiscard]] bool owns(const void* block) const { return blocks.owns(block); }

    block_pool blocks{sizeof(object), alignof(object)};
};

template<std::size_t Bytes>
struct threaded_pool {
    using object = test_object<Bytes>;
    static constexpr bool shared = true;

    object* construct(int number) { return objects.construct(number); }
    void destroy(object* made) { objects.destroy(made); }
    void drop() { objects.clear(); }
    void trim() { objects.trim(); }
    static constexpr std::string_view query = "shared_pool::owns";
    [[nodiscard]] bool owns(const void* block) const { return objects.owns(block); }

    shared_pool<object> objects;
};

template<std::size_t Bytes>
struct derived_object {
    struct object : small_object, test_object<Bytes> {
        using test_object<Bytes>::test_object;
    };
    static_assert(sizeof(object) == Bytes);
    static constexpr bool shared = true;
    static constexpr std::size_t alignment = Bytes % 16 == 0 ? 16 : 8; // promised by its header

    object* construct(int number) { return new object(number); }
    void destroy(object* made) { delete made; }
    void trim() { small_object::trim(); }
    static constexpr std::string_view query = "small_object::stats, its count of objects alive";
    [[nodiscard]] std::size_t alive() const { return small_object::stats().live_count; }
};

/// The article's custom_new<T>() and custom_delete(): two functions for objects of any type, without a pool.
template<std::size_t Bytes>
struct made_object {
    using object = test_object<Bytes>;
    static constexpr bool shared = true;

    object* construct(int number) { return make<object>(number); }
    void destroy(object* made) { tenure::destroy(made); }
    void trim() { heap::process().trim(); }
    static constexpr std::string_view query = "process_memory::owns";
    [[nodiscard]] bool owns(const void* block) const { return process_memory::owns(block); }
};

constexpr std::array<contestant, 5> all{{
    {.name = "tenure pool",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = type_name<pool<test_object<64>>>(),
     .parts = pool_parts<typed_pool>(),
     .run = run_pool<typed_pool>},
    {.name = "tenure block_pool",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = type_name<block_pool>(),
     .parts = pool_parts<untyped_pool>(),
     .run = run_pool<untyped_pool>},
    {.name = "tenure shared_pool",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = type_name<shared_pool<test_object<64>>>(),
     .parts = pool_parts<threaded_pool>(),
     .run = run_pool<threaded_pool>},
    {.name = "tenure small_object",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = type_name<small_object>(),
     .note = "a base class with new and delete of its own; no drop",
     .parts = pool_parts<derived_object>(),
     .run = run_pool<derived_object>},
    {.name = "tenure make",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = type_name<process_memory>(),
     .note =
         "make<T>() and destroy() on the process heap, like the article's custom_new and custom_delete; no pool, no "
         "base class, no drop",
     .parts = pool_parts<made_object>(),
     .run = run_pool<made_object>},
}};

}

std::span<const contestant> tenure_in_pools() { return all; }

}
