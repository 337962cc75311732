// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Boost.Pool: pool, object_pool and fast_pool_allocator, the last with its mutex and without.

#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <boost/version.hpp>

#include <array>
#include <memory>
#include <new>

#include "bench/experiments/library_peers/boost_pool.hpp"
#include "bench/experiments/lifetimes/lifetimes_workload.hpp"
#include "bench/experiments/pools/pools_contestant.hpp"

namespace tenure::lab {

namespace {

/// BOOST_LIB_VERSION is "1_74".
constexpr auto dotted_version = [] {
    std::array<char, sizeof BOOST_LIB_VERSION> text{};
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = BOOST_LIB_VERSION[i];
        text[i] = letter == '_' ? '.' : letter;
    }
    return text;
}();

constexpr std::string_view boost_pool_query = "boost::pool::is_from";

class boost_pool_blocks {
public:
    explicit boost_pool_blocks(const task& asked) : pool_(asked.options.size("bytes")) {
        if (asked.options.size("align") > sizeof(void*)) asked.out.fail("boost::pool aligns to pointers at most");
    }
    void* allocate(std::size_t, std::size_t) { return pool_.malloc(); }
    void deallocate(void* block, std::size_t) { pool_.free(block); }
    void end_batch() {}
    static constexpr std::string_view query = boost_pool_query;
    [[nodiscard]] bool owns(const void* block) const { return pool_.is_from(const_cast<void*>(block)); }

private:
    boost::pool<> pool_;
};

template<std::size_t Bytes>
struct boost_pool_objects {
    using object = test_object<Bytes>;

    object* construct(int number) {
        void* const block = blocks.malloc();
        return block == nullptr ? nullptr : new (block) object(number);
    }
    void destroy(object* made) { blocks.free(made); }
    void drop() { blocks.purge_memory(); }
    void trim() { blocks.purge_memory(); }
    static constexpr std::string_view query = boost_pool_query;
    [[nodiscard]] bool owns(const void* block) const { return blocks.is_from(const_cast<void*>(block)); }

    boost::pool<> blocks{sizeof(object)};
};

/// The article's "Boost Pool" and, dropped whole, its "Boost Pool Ptr".
template<std::size_t Bytes>
struct boost_object_pool {
    using object = test_object<Bytes>;
    /// Each destroy walks the free list in front of its object. The article's 50 000 objects take 10 to 13 s at 8 and
    /// 64 bytes; at 280 bytes they no longer fit in many caches, where one destroy takes up to 456 us.
    static constexpr std::size_t max_whole = Bytes <= 64 ? 50'000 : 20'000;

    object* construct(int number) { return objects->construct(number); }
    void destroy(object* made) { objects->destroy(made); }
    void drop() { objects = std::make_unique<boost::object_pool<object>>(); }
    static constexpr std::string_view query = "boost::object_pool::is_from";
    [[nodiscard]] bool owns(const void* block) const {
        return objects->is_from(static_cast<object*>(const_cast<void*>(block)));
    }

    std::unique_ptr<boost::object_pool<object>> objects = std::make_unique<boost::object_pool<object>>();
};

/// The allocator's pool is a singleton per size; its mutex is a template argument.
template<std::size_t Bytes, class Mutex>
struct boost_fast_objects {
    using object = test_object<Bytes>;
    using user_allocator = boost::default_user_allocator_new_delete;
    using blocks = boost::fast_pool_allocator<object, user_allocator, Mutex>;
    using singleton = boost::singleton_pool<boost::fast_pool_allocator_tag, sizeof(object), user_allocator, Mutex>;
    static constexpr bool shared = std::is_same_v<Mutex, boost::details::pool::default_mutex>;

    object* construct(int number) { return new (blocks::allocate()) object(number); }
    void destroy(object* made) { blocks::deallocate(made); }
    void drop() { singleton::purge_memory(); }
    void trim() { singleton::purge_memory(); }
    static constexpr std::string_view query = "boost::singleton_pool::is_from";
    [[nodiscard]] bool owns(const void* block) const { return singleton::is_from(const_cast<void*>(block)); }
};
template<std::size_t Bytes>
using boost_fast_locked = boost_fast_objects<Bytes, boost::details::pool::default_mutex>;
template<std::size_t Bytes>
using boost_fast_unlocked = boost_fast_objects<Bytes, boost::details::pool::null_mutex>;

constexpr std::array<contestant, 4> in_pools{{
    {.name = boost_pool_rows[0],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = boost_pool_name,
     .kind = "library",
     .type = type_name<boost::pool<>>(),
     .note = "unordered malloc and free, no mutex; drop and trim are purge_memory",
     .parts = pool_parts<boost_pool_objects>(),
     .run = run_pool<boost_pool_objects>},
    {.name = boost_pool_rows[1],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = boost_pool_name,
     .kind = "library",
     .type = type_name<boost::object_pool<test_object<64>>>(),
     .note = "the article's; each destroy walks the free list in address order; drop is its destructor",
     .parts = pool_parts<boost_object_pool>(),
     .run = run_pool<boost_object_pool>},
    {.name = boost_pool_rows[2],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = boost_pool_name,
     .kind = "library",
     .type = type_name<boost_fast_locked<64>::blocks>(),
     .note = "with its default mutex",
     .parts = pool_parts<boost_fast_locked>(),
     .run = run_pool<boost_fast_locked>},
    {.name = boost_pool_rows[3],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = boost_pool_name,
     .kind = "library",
     .type = type_name<boost_fast_unlocked<64>::blocks>(),
     .note = "with boost::details::pool::null_mutex",
     .parts = pool_parts<boost_fast_unlocked>(),
     .run = run_pool<boost_fast_unlocked>},
}};

constexpr std::array<contestant, 1> in_lifetimes{{
    {.name = boost_pool_rows[0],
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = boost_pool_name,
     .kind = "library",
     .type = type_name<boost::pool<>>(),
     .note = "one size only; without a mutex",
     .parts = lifetimes_part::bit(lifetimes_part::one_thread),
     .run = one_thread<boost_pool_blocks>},
}};

}

library_peer boost_pool_peer() {
    return {boost_pool_name, boost_pool_package, std::string_view{dotted_version.data()}, true, {}};
}

std::span<const contestant> boost_pool_in_lifetimes() { return in_lifetimes; }

std::span<const contestant> boost_pool_in_pools() { return in_pools; }

}
