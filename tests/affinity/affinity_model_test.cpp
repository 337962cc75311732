// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model is the set of objects that are alive, with their contents.

#include <tenure/affinity/affinity_group.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "affinity/fixture.hpp"
#include "support/ledger.hpp"
#include "support/model.hpp"

namespace {

using affinity_tests::affinity_group;
using affinity_tests::affinity_options;
using support::step;

constexpr std::size_t max_live_bytes = std::size_t{12} << 20; // alive at a time

class group_against_model {
public:
    explicit group_against_model(const affinity_options& options)
        : group_("model", options, source_), is_found_(options.sizes == tenure::size_on_free::optional) {}

    std::string run(const step& each) {
        switch (each.kind % 64) {
        case 0: return each.first % 3 == 0 ? clear() : std::string{};
        case 1: return trim();
        case 2: return group_.valid() ? "" : "the group is not valid";
        case 3: return use();
        case 4:
        case 5:
        case 6: return many(each, &group_against_model::allocate);
        case 7:
        case 8:
        case 9: return many(each, &group_against_model::free_any);
        case 10: return free_in_order(each);
        case 11: return many(each, &group_against_model::free_and_allocate);
        default: return each.kind % 2 == 0 ? allocate(each) : free_any(each);
        }
    }

    std::string check() {
        if (group_.size() != ledger_.size()) {
            return "the group counts " + std::to_string(group_.size()) + " objects, alive are " +
                   std::to_string(ledger_.size());
        }
        const tenure::allocator_stats seen = group_.stats();
        if (seen.live_count != ledger_.size()) return "stats count other objects than size";
        if (seen.live_bytes < bytes_) return "fewer bytes are counted than are alive";
        if (seen.reserved_bytes != source_.live_bytes()) return "the group and its source count differently";
        if (seen.peak_bytes < seen.live_bytes) return "the peak is below what is alive";
        return {};
    }

    std::string finish() {
        if (std::string fault = ledger_.check_all(); !fault.empty()) return fault;
        while (!ledger_.empty()) {
            if (std::string fault = free_any({0, ledger_.size() * 5, 0}); !fault.empty()) return fault;
        }
        if (!group_.valid()) return "the empty group is not valid";
        if (group_.usage().reserved_bytes != 0) return "the empty group says that bytes are in use";
        group_.trim();
        return source_.live_blocks() == 0 ? "" : "the empty group holds blocks after trim";
    }

private:
    /// Mostly what a scene is made of; now and then something large, or with an alignment of its own.
    static std::size_t size_from(std::uint64_t number) {
        support::random numbers(number);
        if (numbers.one_in(200)) return numbers.between(16'000, 60'000);
        if (numbers.one_in(20)) return numbers.between(0, 16'384);
        if (numbers.one_in(3)) return numbers.between(0, 700);
        constexpr std::size_t usual[] = {8, 24, 32, 40, 48, 56, 64, 112, 128, 256, 512};
        return usual[numbers.below(std::size(usual))];
    }
    static std::size_t alignment_from(std::uint64_t number) {
        support::random numbers(number + 1);
        return numbers.one_in(8) ? std::size_t{1} << numbers.below(14) : 1;
    }

    std::string allocate(const step& each) {
        const std::size_t bytes = size_from(each.first), alignment = alignment_from(each.first);
        if (bytes_ > max_live_bytes) return {};
        void* const object = group_.allocate(bytes, alignment);
        if (object == nullptr) return "the group refused";
        if (!group_.owns(object)) return "the group does not know its own object";
        bytes_ += bytes;
        const std::string fault = ledger_.add(object, bytes, std::max(alignment, group_.alignment()));
        return fault.empty() ? ledger_.check(ledger_.at(each.first % ledger_.size())) : fault;
    }

    std::string release(support::block gone, bool may_leave_size_out) {
        std::string fault = ledger_.remove(gone.at);
        bytes_ -= std::min(bytes_, gone.bytes);
        const bool leaves_size_out = may_leave_size_out && is_found_;
        leaves_size_out ? group_.deallocate(gone.at) : group_.deallocate(gone.at, gone.bytes, gone.alignment);
        return fault;
    }

    std::string free_any(const step& each) {
        if (ledger_.empty()) return {};
        return release(ledger_.at(each.first % ledger_.size()), each.first % 5 < 3);
    }

    /// Neighbours, from the lowest address or from the highest: their runs grow together.
    std::string free_in_order(const step& each) {
        std::string fault;
        const std::size_t from = ledger_.empty() ? 0 : each.first % ledger_.size();
        for (std::size_t left = each.second % 300; left != 0 && !ledger_.empty() && fault.empty(); --left) {
            const std::size_t at =
                each.second % 2 == 0 ? std::min(from, ledger_.size() - 1) : std::min(from + left, ledger_.size() - 1);
            fault = release(ledger_.at(at), each.first % 2 == 0);
        }
        return fault;
    }

    std::string free_and_allocate(const step& each) {
        std::string fault = free_any(each);
        return fault.empty() ? allocate(each) : fault;
    }

    std::string many(const step& each, std::string (group_against_model::*what)(const step&)) {
        support::random numbers(each.second);
        std::string fault;
        for (std::size_t left = numbers.below(400); left != 0 && fault.empty(); --left)
            fault = (this->*what)({0, numbers.next(), 0});
        return fault;
    }

    std::string clear() {
        std::string fault = ledger_.check_all();
        ledger_.forget_all();
        bytes_ = 0;
        group_.clear();
        return fault;
    }

    std::string trim() {
        // Of blocks: what its heap gives back are bytes in use there, not those of its source.
        const std::size_t before = group_.usage().total_bytes;
        const std::size_t given_back = group_.trim();
        if (before - group_.usage().total_bytes > given_back) return "trim gave back more than it says";
        if (ledger_.empty() && group_.usage().total_bytes != 0) return "an empty block is left after trim";
        return ledger_.check_all();
    }

    std::string use() {
        const tenure::affinity_usage usage = group_.usage();
        if (usage.live_count != ledger_.size()) return "usage counts other objects than are alive";
        if (usage.reserved_bytes + usage.available_bytes + usage.bookkeeping_bytes != usage.total_bytes)
            return "the parts of the blocks do not add up";
        if (usage.reserved_bytes + usage.large_bytes < bytes_) return "usage has fewer bytes than are alive";
        if (usage.scattered_bytes > usage.free_bytes || usage.free_bytes > usage.available_bytes)
            return "more is scattered than free, or more free than available";
        return {};
    }

    tenure::counting_source source_{tenure::page_source::process()};
    affinity_group group_;
    bool is_found_;
    std::size_t bytes_ = 0;
    support::ledger ledger_;
};

class affinity_model : public testing::TestWithParam<affinity_options> {};

TEST_P(affinity_model, agrees_with_the_group) {
    const auto replay = [](std::span<const step> steps) {
        group_against_model pair(GetParam());
        for (const step& each : steps) {
            if (std::string fault = pair.run(each); !fault.empty()) return fault;
            if (std::string fault = pair.check(); !fault.empty()) return fault;
        }
        return pair.finish();
    };
    support::expect_agreement(affinity_tests::name_of(GetParam()).c_str(), 400, replay);
}

INSTANTIATE_TEST_SUITE_P(options, affinity_model, testing::ValuesIn(affinity_tests::every_option({4, 8, 16, 64})),
                         [](const auto& each) { return affinity_tests::name_of(each.param); });

/// Groups of any thread take the same paths under a lock; one thread at a time may use them as well.
std::vector<affinity_options> shared_options() {
    std::vector<affinity_options> all = affinity_tests::every_option({4, 8});
    for (affinity_options& each : all) each.threads = tenure::sharing::any_thread;
    return all;
}
INSTANTIATE_TEST_SUITE_P(shared, affinity_model, testing::ValuesIn(shared_options()),
                         [](const auto& each) { return affinity_tests::name_of(each.param); });

}
