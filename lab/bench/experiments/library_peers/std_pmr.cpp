// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The standard library's memory resources, called through a std::pmr::memory_resource as containers call them.

#include <array>
#include <memory_resource>

#include "bench/experiments/library_peers/library_peers.hpp"
#include "bench/experiments/lifetimes/lifetimes_workload.hpp"
#include "bench/experiments/pools/pools_contestant.hpp"
#include "bench/harness/machine/build_info.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view peer_name = "std::pmr";

/// Keeps the virtual call: the compiler must not see which resource it is.
std::pmr::memory_resource* hidden(std::pmr::memory_resource* resource) {
    asm volatile("" : "+r"(resource));
    return resource;
}

class monotonic {
public:
    explicit monotonic(const task& asked)
        : pages_(untouched_bytes(asked)), first_(platform::map(pages_, 4096)), resource_(first_, pages_),
          called_(hidden(&resource_)) {}
    ~monotonic() { platform::unreserve(first_, pages_); }
    monotonic(const monotonic&) = delete;
    monotonic& operator=(const monotonic&) = delete;

    void* allocate(std::size_t bytes, std::size_t alignment) { return called_->allocate(bytes, alignment); }
    void deallocate(void* block, std::size_t bytes) { called_->deallocate(block, bytes); }
    void end_batch() { resource_.release(); }

private:
    static std::size_t untouched_bytes(const task& asked) {
        const std::size_t each = align_up(asked.options.size("bytes"), asked.options.size("align"));
        return align_up(each * asked.options.size("count") + 4096, platform::page_bytes());
    }

    std::size_t pages_;
    void* first_;
    std::pmr::monotonic_buffer_resource resource_;
    std::pmr::memory_resource* called_;
};

class unsynchronized_pool {
public:
    explicit unsynchronized_pool(const task& asked)
        : alignment_(asked.options.size("align")), called_(hidden(&resource_)) {}
    void* allocate(std::size_t bytes, std::size_t) { return called_->allocate(bytes, alignment_); }
    void deallocate(void* block, std::size_t bytes) { called_->deallocate(block, bytes, alignment_); }
    void end_batch() {}

private:
    std::pmr::unsynchronized_pool_resource resource_;
    std::size_t alignment_;
    std::pmr::memory_resource* called_;
};

constexpr std::array<contestant, 2> in_lifetimes{{
    {.name = "pmr monotonic",
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = peer_name,
     .kind = "library",
     .type = type_name<std::pmr::monotonic_buffer_resource>(),
     .note = "over a buffer that holds the batch, through the virtual call that containers make; its free does nothing",
     .parts = lifetimes_part::bit(lifetimes_part::one_thread),
     .run = one_thread<monotonic>},
    {.name = "pmr unsynchronized pool",
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = peer_name,
     .kind = "library",
     .type = type_name<std::pmr::unsynchronized_pool_resource>(),
     .note = "through the virtual call that containers make",
     .parts = lifetimes_part::bit(lifetimes_part::one_thread),
     .run = one_thread<unsynchronized_pool>},
}};

template<std::size_t Bytes, class Resource>
struct pmr_objects {
    using object = test_object<Bytes>;

    object* construct(int number) { return new (called->allocate(sizeof(object), alignof(object))) object(number); }
    void destroy(object* made) { called->deallocate(made, sizeof(object), alignof(object)); }
    void drop() { resource.release(); }
    void trim() { resource.release(); }

    Resource resource;
    std::pmr::memory_resource* called = hidden(&resource);
};

template<std::size_t Bytes>
using pmr_unsynchronized = pmr_objects<Bytes, std::pmr::unsynchronized_pool_resource>;

template<std::size_t Bytes>
struct pmr_synchronized : pmr_objects<Bytes, std::pmr::synchronized_pool_resource> {
    static constexpr bool shared = true;
};

template<std::size_t Bytes>
struct pmr_monotonic : pmr_objects<Bytes, std::pmr::monotonic_buffer_resource> {
    static constexpr bool pairs = false, one_by_one = false, singly = false; // no memory is reused before the release
};

constexpr std::array<contestant, 3> in_pools{{
    {.name = "pmr unsynchronized pool",
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = peer_name,
     .kind = "library",
     .type = type_name<std::pmr::unsynchronized_pool_resource>(),
     .note = "through the virtual call that containers make; drop and trim are release",
     .parts = pool_parts<pmr_unsynchronized>(),
     .run = run_pool<pmr_unsynchronized>},
    {.name = "pmr synchronized pool",
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = peer_name,
     .kind = "library",
     .type = type_name<std::pmr::synchronized_pool_resource>(),
     .note = "through the virtual call that containers make; drop and trim are release",
     .parts = pool_parts<pmr_synchronized>(),
     .run = run_pool<pmr_synchronized>},
    {.name = "pmr monotonic",
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = peer_name,
     .kind = "library",
     .type = type_name<std::pmr::monotonic_buffer_resource>(),
     .note = "no memory is reused before the release, so it takes part only in the drop",
     .parts = pool_parts<pmr_monotonic>(),
     .run = run_pool<pmr_monotonic>},
}};

}

library_peer std_pmr_peer() { return {peer_name, {}, "libstdc++ " TENURE_LAB_TEXT(_GLIBCXX_RELEASE), true, {}}; }

std::span<const contestant> std_pmr_in_lifetimes() { return in_lifetimes; }

std::span<const contestant> std_pmr_in_pools() { return in_pools; }

}
