// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model: blocks with their sizes and the frame of their birth. Frames pass, threads come and go, and each frame the
// leak report must name exactly the blocks that have just become too old.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/frame_clock.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"
#include "support/model.hpp"

namespace {

using support::step;
using tenure::temp_job;

class temp_job_against_model {
public:
    std::string run(const step& each) {
        switch (each.kind % 64) {
        case 0:
        case 1:
        case 2:
        case 3: return next_frame();
        case 4: temp_job::trim(); return ledger_.check_all();
        case 5: return on_another_thread([&] { return many(each, &temp_job_against_model::allocate, 300); });
        case 6:
        case 7: return on_another_thread([&] { return many(each, &temp_job_against_model::free_any, 300); });
        case 8: return many(each, &temp_job_against_model::allocate, 500);
        case 9:
        case 10: return many(each, &temp_job_against_model::free_any, 500);
        default: return each.kind / 64 % 2 == 0 ? allocate(each) : free_any(each);
        }
    }

    std::string check() {
        if (!temp_job::valid()) return "TempJob is not valid";
        const tenure::temp_job_stats seen = temp_job::stats();
        if (seen.live_count != blocks_.size()) {
            return "TempJob counts " + std::to_string(seen.live_count) + " blocks, alive are " +
                   std::to_string(blocks_.size());
        }
        std::size_t bytes = 0;
        for (const auto& [at, each] : blocks_) bytes += each.bytes;
        if (seen.live_bytes != bytes) return "TempJob counts other bytes than are alive";
        if (seen.retained_bytes > seen.chunk_bytes) return "more is kept than there is";
        return {};
    }

    std::string finish() {
        std::string fault = ledger_.check_all();
        while (!blocks_.empty()) {
            const std::string found = free_any({0, blocks_.size() * 3, 0});
            if (fault.empty()) fault = found;
        }
        if (fault.empty()) fault = check();
        temp_job::trim();
        return fault;
    }

private:
    struct numbered {
        std::size_t bytes;
        std::uint64_t frame;
    };

    template<class Work>
    static std::string on_another_thread(Work work) {
        std::string fault;
        support::on_fresh_thread([&] { fault = work(); });
        return fault;
    }

    std::string allocate(const step& each) {
        support::random numbers(each.first);
        std::size_t bytes = numbers.below(200);
        if (numbers.one_in(20)) bytes = numbers.below(20'000);
        if (numbers.one_in(100)) bytes = numbers.below(300'000);
        const std::size_t alignment = std::size_t{1} << (numbers.one_in(8) ? numbers.below(18) : numbers.below(8));
        void* const block = temp_job::allocate(bytes, alignment);
        if (block == nullptr) return "TempJob refused";
        blocks_[block] = {bytes, tenure::frame_clock::now()};
        return ledger_.add(block, bytes, alignment);
    }

    std::string free_any(const step& each) {
        if (blocks_.empty()) return {};
        const auto gone = std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(each.first % blocks_.size()));
        void* const block = gone->first;
        std::string fault = ledger_.remove(block);
        temp_job::deallocate(block);
        blocks_.erase(gone);
        return fault;
    }

    std::string many(const step& each, std::string (temp_job_against_model::*what)(const step&), std::size_t most) {
        support::random numbers(each.second);
        std::string fault;
        for (std::size_t left = numbers.below(most); left != 0 && fault.empty(); --left)
            fault = (this->*what)({0, numbers.next(), 0});
        return fault;
    }

    std::string next_frame() {
        const support::heard_leaks leaks;
        tenure::next_frame();
        const std::uint64_t now = tenure::frame_clock::now();
        std::size_t due = 0;
        for (const auto& [at, each] : blocks_) {
            if (now - each.frame != tenure::option_value(tenure::option::temp_job_frames) + 1) continue;
            ++due;
            if (!leaks.has(at)) return "a block that is too old was not named";
            if (leaks.of(at).bytes != each.bytes || leaks.of(at).times != 1) return "a block was named wrongly";
        }
        return leaks.count() == due ? "" : "a block was named that is not too old, or not alive";
    }

    support::ledger ledger_;
    std::map<void*, numbered> blocks_;
};

std::string replay(std::span<const step> steps) {
    temp_job_against_model pair;
    std::size_t count = 0;
    std::string fault;
    for (const step& each : steps) {
        fault = pair.run(each);
        if (fault.empty() && ++count % 8 == 0) fault = pair.check();
        if (!fault.empty()) break;
    }
    const std::string at_end = pair.finish(); // always, so that the next stream begins with nothing
    return fault.empty() ? at_end : fault;
}

class temp_job_model : public support::temp_job_test {};

TEST_F(temp_job_model, agrees_with_temp_job) {
    for (int round = 0; round < 4; ++round) support::expect_agreement("temp_job", 1000, replay);
}

TEST_F(temp_job_model, agrees_with_temp_job_when_chunks_are_few) {
    const support::option_scope limit(tenure::option::temp_job_limit_bytes, 1 << 20);
    for (int round = 0; round < 2; ++round) support::expect_agreement("temp_job, 1 MiB of chunks", 600, replay);
}

}
