// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A little of every public part: what each consumer compiles, links and runs. Compiles without exceptions and RTTI.

#include <cstdio>
#include <cstring>

#include <tenure/arena/arena.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>
#include <tenure/pool/small_object.hpp>

namespace consumer {

struct node : tenure::small_object {
    node* next = nullptr;
    int value = 0;
};

/// Types of ours as members and as a base, which must bring no warning with them.
struct world {
    tenure::arena scratch;
    tenure::pool<long> numbers;
    tenure::shared_pool<node> nodes;
};

class pass_on final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return behind_.acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        ++released;
        behind_.release(block, bytes);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return behind_.threads(); }

    int released = 0;

private:
    tenure::block_source& behind_ = tenure::page_source::process();
};

inline bool filled(void* block, std::size_t bytes) {
    if (block == nullptr) return false;
    std::memset(block, 7, bytes);
    return true;
}

inline bool use_lifetimes() {
    const tenure::tag_scope owner{"consumer"};
    {
        const tenure::temp_scope scope;
        if (!filled(tenure::allocate(100, tenure::lifetime::temp), 100)) return false;
    }
    void* const job = tenure::allocate(200, tenure::lifetime::temp_job, 64);
    void* const kept = tenure::allocate(300, tenure::lifetime::persistent);
    const bool good = filled(job, 200) && filled(kept, 300);
    tenure::deallocate(job, 200, tenure::lifetime::temp_job);
    tenure::deallocate(kept, 300, tenure::lifetime::persistent);
    return good;
}

/// With a destructor, so that a pool visits what is left in it.
struct counted {
    explicit counted(int& alive) : alive_(&alive) { ++alive; }
    ~counted() { --*alive_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

private:
    int* alive_;
};

inline void count_block(void*) {}

/// What pools visit is inline here and exported there: a hidden symbol would not link.
inline bool visit_pools() {
    int alive = 0, seen = 0;
    {
        tenure::pool<counted> left;
        tenure::shared_pool<counted> shared;
        for (int i = 0; i < 3; ++i) {
            if (left.construct(alive) == nullptr || shared.construct(alive) == nullptr) return false;
        }
        left.for_each([&](counted&) { ++seen; });
        shared.for_each([&](counted&) { ++seen; });
        for ([[maybe_unused]] const counted& each : left) ++seen;
        for ([[maybe_unused]] const counted& each : shared) ++seen;
    }
    tenure::block_pool blocks(64);
    blocks.for_each(count_block);
    return alive == 0 && seen == 12;
}

inline bool use_pools() {
    tenure::pool<long> numbers;
    long* const number = numbers.construct(5L);
    tenure::shared_pool<long> shared;
    long* const other = shared.construct(6L);
    const bool good = number != nullptr && other != nullptr && *number + *other == 11;
    numbers.destroy(number);
    shared.destroy(other);

    node* const first = new node;
    first->value = 3;
    delete first;
    return good;
}

inline bool use_arena() {
    pass_on source;
    {
        tenure::arena scratch{source};
        const auto start = scratch.mark();
        if (!filled(scratch.allocate(1000), 1000)) return false;
        scratch.rewind(start);
    }
    world everything;
    return source.released == 1 && everything.numbers.construct(1L) != nullptr;
}

/// Returns 0 when everything gave what it should, and says on standard error what did not.
inline int use_everything(int expected_level) {
    int failures = 0;
    const auto expect = [&failures](bool good, const char* what) {
        if (good) return;
        std::fprintf(stderr, "consumer: %s failed\n", what);
        ++failures;
    };
    expect(tenure::checks::level == expected_level, "the check level that came with the target");
    expect(use_lifetimes(), "lifetimes");
    expect(use_pools(), "pools");
    expect(visit_pools(), "visits of pools");
    expect(use_arena(), "arena");
    tenure::next_frame();
    return failures;
}

}
