// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model: blocks in the order in which they were made; a scope is the number of the next one. Each replay runs on a
// thread of its own, because a thread reads its budget once.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"
#include "support/model.hpp"

namespace {

using support::step;
using tenure::temp;

class temp_against_model {
public:
    explicit temp_against_model(std::size_t budget) : max_bytes_(std::max<std::size_t>(budget / 4, 300)) {}
    ~temp_against_model() {
        while (!scopes_.empty()) close_scope();
        while (!tags_.empty()) tags_.pop_back();
    }

    std::string run(const step& each) {
        switch (each.kind % 32) {
        case 0: return reset();
        case 1: temp::trim(); return ledger_.check_all();
        case 2:
        case 3:
        case 4: return open_scope();
        case 5:
        case 6:
        case 7: return close_scope();
        case 8:
        case 9:
        case 10:
        case 11:
        case 12: return free_newest();
        case 13: return free_any(each);
        case 14: tags_.push_back(std::make_unique<tenure::tag_scope>(each.first % 2 == 0 ? "even" : "odd")); return {};
        case 15:
            if (!tags_.empty()) {
                tags_.pop_back();
            }
            return {};
        default: return allocate(each);
        }
    }

    std::string check() {
        if (std::string fault = ledger_.check_all(); !fault.empty()) return fault;
        if (!temp::valid()) return "Temp says that it is not valid";
        std::size_t live = 0;
        for (const numbered& each : blocks_) {
            live += each.bytes;
            if (!temp::owns(each.at)) return "Temp does not know its own block";
        }
        return temp::stats().used_bytes >= live ? "" : "more bytes are alive than Temp counts";
    }

    std::string finish() {
        while (!scopes_.empty()) {
            if (std::string fault = close_scope(); !fault.empty()) return fault;
        }
        return reset();
    }

private:
    struct numbered {
        unsigned char* at;
        std::size_t bytes;
        std::size_t asked;
        std::size_t number;
    };
    struct open {
        std::unique_ptr<tenure::temp_scope> scope;
        std::size_t number;
    };

    std::string allocate(const step& each) {
        support::random numbers(each.first);
        const std::size_t bytes = numbers.one_in(20) ? numbers.below(max_bytes_) : numbers.below(300);
        const std::size_t alignment = std::size_t{1} << (numbers.one_in(6) ? numbers.below(14) : numbers.below(5));
        void* const block = temp::allocate(bytes, alignment);
        if (block == nullptr) return "Temp refused";
        std::string fault = ledger_.add(block, bytes, alignment);
        blocks_.push_back({static_cast<unsigned char*>(block), std::max<std::size_t>(bytes, 1), bytes, next_number_++});
        return fault;
    }

    std::string free_at(std::size_t position) {
        const numbered gone = blocks_[position];
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position));
        std::string fault = ledger_.remove(gone.at);
        temp::deallocate(gone.at, gone.asked);
        return fault;
    }
    // Also blocks from before the innermost scope: whatever they open or close, what is alive stays as it is.
    std::string free_newest() { return blocks_.empty() ? "" : free_at(blocks_.size() - 1); }
    std::string free_any(const step& each) { return blocks_.empty() ? "" : free_at(each.first % blocks_.size()); }

    std::string open_scope() {
        scopes_.push_back({std::make_unique<tenure::temp_scope>(), next_number_});
        return {};
    }
    std::string drop_from(std::size_t number) {
        std::string fault;
        for (; !blocks_.empty() && blocks_.back().number >= number; blocks_.pop_back()) {
            if (std::string found = ledger_.remove(blocks_.back().at); !found.empty()) fault = found;
        }
        return fault;
    }
    std::string close_scope() {
        if (scopes_.empty()) return {};
        std::string fault = drop_from(scopes_.back().number);
        scopes_.pop_back();
        return fault;
    }
    std::string reset() {
        if (!scopes_.empty()) return {};
        std::string fault = drop_from(0);
        temp::reset();
        if (temp::stats().used_bytes != 0) return "bytes are in use after reset";
        return fault;
    }

    std::size_t max_bytes_;
    support::ledger ledger_;
    std::vector<numbered> blocks_;
    std::vector<open> scopes_;
    std::vector<std::unique_ptr<tenure::tag_scope>> tags_;
    std::size_t next_number_ = 0;
};

class temp_model : public testing::TestWithParam<std::size_t> {};

TEST_P(temp_model, agrees_with_temp) {
    const support::option_scope budget(tenure::option::temp_budget_bytes, GetParam());
    const auto replay = [](std::span<const step> steps) {
        std::string fault;
        support::on_fresh_thread([&] {
            temp_against_model pair(GetParam());
            std::size_t count = 0;
            for (const step& each : steps) {
                fault = pair.run(each);
                if (fault.empty() && ++count % 16 == 0) fault = pair.check();
                if (!fault.empty()) return;
            }
            fault = pair.check();
            if (fault.empty()) fault = pair.finish();
        });
        return fault;
    };
    for (int round = 0; round < 4; ++round) support::expect_agreement("temp", 1500, replay);
}

INSTANTIATE_TEST_SUITE_P(budgets, temp_model, testing::Values(4096, 5000, 16'384, 65'536, 262'144, 1 << 20));

}
