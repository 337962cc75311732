// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model is the set of blocks that are alive, with their contents.

#include <tenure/pool/block_pool.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>

#include "support/ledger.hpp"
#include "support/model.hpp"

namespace {

using support::step;
using tenure::block_pool;

struct shape {
    std::size_t bytes;
    std::size_t alignment;
    std::size_t segment_bytes;
    std::size_t most; // blocks alive at a time
};

class pool_against_model {
public:
    explicit pool_against_model(const shape& chosen)
        : shape_(chosen), pool_(chosen.bytes, chosen.alignment, chosen.segment_bytes, source_) {}

    std::string run(const step& each) {
        switch (each.kind % 64) {
        case 0: return clear();
        case 1:
        case 2: return trim();
        case 3: return visit();
        case 4: return visit_and_free(each);
        case 5: return pool_.valid() ? "" : "the pool is not valid";
        case 6:
        case 7:
        case 8: return many(each, &pool_against_model::allocate);
        case 9:
        case 10:
        case 11: return many(each, &pool_against_model::free_any);
        case 12: return many(each, &pool_against_model::free_and_allocate);
        default: return each.kind % 2 == 0 ? allocate(each) : free_any(each);
        }
    }

    std::string check() {
        if (pool_.size() != ledger_.size()) {
            return "the pool counts " + std::to_string(pool_.size()) + " blocks, alive are " +
                   std::to_string(ledger_.size());
        }
        const tenure::allocator_stats seen = pool_.stats();
        const bool same = seen.reserved_bytes == source_.live_bytes() && seen.source_blocks == source_.live_blocks();
        if (!same) return "the pool and its source count differently";
        if (seen.peak_bytes < seen.live_bytes) return "the peak is below what is alive";
        return {};
    }

    std::string finish() {
        if (std::string fault = ledger_.check_all(); !fault.empty()) return fault;
        if (std::string fault = visit(); !fault.empty()) return fault;
        while (!ledger_.empty()) {
            if (std::string fault = free_any({0, ledger_.size() * 5, 0}); !fault.empty()) return fault;
        }
        if (!pool_.valid()) return "the empty pool is not valid";
        pool_.trim();
        return source_.live_blocks() == 0 ? "" : "the empty pool holds segments after trim";
    }

private:
    std::string allocate(const step&) {
        if (ledger_.size() >= shape_.most) return {};
        void* const block = pool_.allocate();
        if (block == nullptr) return "the pool refused";
        if (!pool_.owns(block)) return "the pool does not know its own block";
        return ledger_.add(block, shape_.bytes, shape_.alignment);
    }

    std::string free_any(const step& each) {
        if (ledger_.empty()) return {};
        void* const block = ledger_.at(each.first % ledger_.size()).at;
        std::string fault = ledger_.remove(block);
        pool_.deallocate(block);
        return fault;
    }

    std::string free_and_allocate(const step& each) {
        std::string fault = free_any(each);
        return fault.empty() ? allocate(each) : fault;
    }

    std::string many(const step& each, std::string (pool_against_model::*what)(const step&)) {
        support::random numbers(each.second);
        std::string fault;
        for (std::size_t left = numbers.below(std::min<std::size_t>(400, 4 * shape_.most)); left != 0 && fault.empty();
             --left)
            fault = (this->*what)({0, numbers.next(), 0});
        return fault;
    }

    std::string clear() {
        std::string fault = ledger_.check_all();
        ledger_.forget_all();
        pool_.clear();
        return fault;
    }

    std::string trim() {
        const std::size_t before = source_.live_bytes();
        const std::size_t given_back = pool_.trim();
        if (before - source_.live_bytes() > given_back) return "trim gave back more than it says";
        return ledger_.check_all();
    }

    std::string visit() {
        std::set<void*> seen;
        std::string fault;
        pool_.for_each([&](void* block) {
            if (!ledger_.contains(block)) fault = "a block that is not alive was visited";
            if (!seen.insert(block).second) fault = "a block was visited twice";
        });
        if (fault.empty() && seen.size() != ledger_.size()) return "a block that is alive was not visited";
        return fault;
    }

    std::string visit_and_free(const step& each) {
        support::random numbers(each.first);
        std::string fault;
        pool_.for_each([&](void* block) {
            if (!numbers.one_in(3)) return;
            if (std::string found = ledger_.remove(block); !found.empty()) fault = found;
            pool_.deallocate(block);
        });
        return fault;
    }

    shape shape_;
    tenure::counting_source source_{tenure::page_source::process()};
    block_pool pool_;
    support::ledger ledger_;
};

class block_pool_model : public testing::TestWithParam<shape> {};

TEST_P(block_pool_model, agrees_with_the_pool) {
    const auto replay = [](std::span<const step> steps) {
        pool_against_model pair(GetParam());
        for (const step& each : steps) {
            if (std::string fault = pair.run(each); !fault.empty()) return fault;
            if (std::string fault = pair.check(); !fault.empty()) return fault;
        }
        return pair.finish();
    };
    for (int round = 0; round < 2; ++round) support::expect_agreement("block_pool", 600, replay);
}

constexpr std::size_t large = std::size_t{32} << 20;
constexpr shape shapes[] = {
    {1, 1, 4096, 9000},   {1, 1, large, 3000},     {3, 1, 4096, 4000},       {8, 8, 16384, 5000},
    {24, 8, 4096, 2000},  {24, 16, 65536, 3000},   {64, 64, 65536, 2000},    {280, 8, 65536, 1500},
    {280, 8, large, 800}, {5000, 8, 1 << 20, 300}, {100'000, 16, large, 20}, {100, 4096, 1 << 20, 500},
};

INSTANTIATE_TEST_SUITE_P(shapes, block_pool_model, testing::ValuesIn(shapes), [](const auto& each) {
    return std::to_string(each.param.bytes) + "_aligned_" + std::to_string(each.param.alignment) + "_in_" +
           std::to_string(each.param.segment_bytes);
});

}
