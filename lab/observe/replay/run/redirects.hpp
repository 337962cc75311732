// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The allocators of Tenure that serve redirected blocks: those that a program would use after the advice.

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "observe/replay/plan/replay_plan.hpp"

namespace tenure::lab {

/// One allocator per route. Shared by the threads of a replay: only TempJob and shared pools serve several at a time.
class redirects {
public:
    explicit redirects(std::span<const plan_route> routes) : routes_(routes) {
        made_.reserve(routes.size());
        for (const plan_route& each : routes) made_.push_back(make(each));
    }

    void* take(const plan_op& op) {
        const std::size_t alignment = std::size_t{1} << op.alignment_log2;
        const std::size_t bytes = static_cast<std::size_t>(op.bytes);
        one& from = *made_[static_cast<std::size_t>(op.route)];
        switch (routes_[static_cast<std::size_t>(op.route)].kind) {
        case route_kind::temp: return temp::allocate(bytes, alignment);
        case route_kind::temp_job: return temp_job::allocate(bytes, alignment);
        case route_kind::pool: return from.pool->allocate();
        case route_kind::shared_pool: return from.shared->allocate();
        case route_kind::arena: return from.arena->allocate(bytes, alignment);
        case route_kind::affinity: return from.group->allocate(bytes, alignment_in_group(op));
        case route_kind::malloc: break;
        }
        return nullptr;
    }

    /// As calloc, which Tenure's allocators have not: the program clears the block.
    void* take_zeroed(const plan_op& op) {
        void* const block = take(op);
        return block == nullptr ? nullptr : std::memset(block, 0, static_cast<std::size_t>(op.bytes));
    }

    void give(const plan_op& op, void* block) {
        one& to = *made_[static_cast<std::size_t>(op.route)];
        switch (routes_[static_cast<std::size_t>(op.route)].kind) {
        case route_kind::temp_job: return temp_job::deallocate(block);
        case route_kind::pool: return to.pool->deallocate(block);
        case route_kind::shared_pool: return to.shared->deallocate(block);
        case route_kind::affinity:
            return to.group->deallocate(block, static_cast<std::size_t>(op.bytes), alignment_in_group(op));
        default: return;
        }
    }

    void clear(const plan_op& op) { made_[static_cast<std::size_t>(op.route)]->arena->clear(); }

private:
    struct one {
        std::optional<block_pool> pool;
        std::optional<shared_block_pool> shared;
        std::optional<class arena> arena;
        std::optional<affinity_group> group;
    };

    /// As affinity_object asks: malloc aligns to 16 whatever the size, and most objects need 8.
    static constexpr std::size_t alignment_in_group(const plan_op& op) {
        constexpr std::uint8_t of_malloc_log2 = 4;
        if (op.alignment_log2 > of_malloc_log2) return std::size_t{1} << op.alignment_log2;
        return op.bytes % 16 == 0 ? 16 : 8;
    }

    static std::unique_ptr<one> make(const plan_route& route) {
        auto made = std::make_unique<one>();
        const std::size_t alignment = std::size_t{1} << route.alignment_log2;
        if (route.kind == route_kind::pool) made->pool.emplace(static_cast<std::size_t>(route.bytes), alignment);
        if (route.kind == route_kind::shared_pool)
            made->shared.emplace(static_cast<std::size_t>(route.bytes), alignment);
        if (route.kind == route_kind::arena) made->arena.emplace();
        if (route.kind == route_kind::affinity)
            made->group.emplace("advised", affinity_options{.sizes = size_on_free::required});
        return made;
    }

    std::span<const plan_route> routes_;
    std::vector<std::unique_ptr<one>> made_;
};

/// The scopes of Temp that a thread has open, which operations open and close.
class redirected_scopes {
public:
    /// Requires  fewer than max_open_scopes are open.
    void open() { ::new (static_cast<void*>(places_[open_++].bytes)) temp_scope; }
    void close() { std::launder(reinterpret_cast<temp_scope*>(places_[--open_].bytes))->~temp_scope(); }

private:
    struct place {
        alignas(temp_scope) unsigned char bytes[sizeof(temp_scope)];
    };

    std::array<place, max_open_scopes> places_;
    std::size_t open_ = 0;
};

}
