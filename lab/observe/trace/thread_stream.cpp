// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/thread_stream.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

void note(std::string& damage, std::string sentence) {
    if (damage.empty()) damage = std::move(sentence);
}

}

void thread_stream::begin(std::string& damage, bool is_part) {
    std::stable_sort(chunks_.begin(), chunks_.end(), [](const trace_chunk* a, const trace_chunk* b) {
        return a->header.sequence < b->header.sequence;
    });
    if (is_part) expected_sequence_ = chunks_.front()->header.sequence;
    advance(damage);
}

bool thread_stream::hold(const trace_chunk& chunk) {
    if (chunk.header.stored_as == trace_format::codec::plain) return true;
    const std::uint64_t left = budget_->left_bytes + held_bytes_, wanted = chunk.header.used;
    if (wanted > left) return false;
    held_bytes_ = wanted;
    budget_->left_bytes = left - wanted;
    return true;
}

void thread_stream::hold_nothing() {
    budget_->left_bytes += held_bytes_;
    held_bytes_ = 0;
    buffer_ = {};
}

bool thread_stream::open_next_chunk(std::string& damage) {
    while (next_chunk_ < chunks_.size()) {
        const trace_chunk& chunk = *chunks_[next_chunk_++];
        const std::uint32_t number = chunk.header.thread;
        if (chunk.header.sequence != expected_sequence_)
            note(damage, fmt::format("The file lacks part {} of the events of thread {}.", expected_sequence_, number));
        expected_sequence_ = std::uint64_t{chunk.header.sequence} + 1;
        std::string_view payload;
        std::string why;
        if (chunk.header.number < passed_) {
            note(damage, fmt::format("The file is damaged: thread {} has two blocks of one number.", number));
        } else if (!hold(chunk)) {
            note(damage, "The file has more threads than fit into memory: events of some were left out.");
        } else if (!payload_of(chunk, buffer_, payload, why)) {
            note(damage, why);
        } else {
            passed_ = chunk.header.number;
            segments_.push_back({passed_, blocks_.size(), 0});
            events_.clear();
            events_.emplace_back(file_, chunk.header, payload);
            return true;
        }
    }
    return false;
}

void thread_stream::advance(std::string& damage) {
    for (;;) {
        if (events_.empty() && !open_next_chunk(damage)) break;
        if (events_.front().next(now_)) {
            if (now_.is == chunk_event::what::stack) continue; // read before
            return;
        }
        if (events_.front().is_damaged())
            note(damage, fmt::format("The file is damaged: events of thread {} cannot be read.",
                                     chunks_[next_chunk_ - 1]->header.thread));
        events_.clear();
    }
    is_over_ = true;
    hold_nothing();
}

std::uint64_t* thread_stream::place_of(std::uint64_t number) {
    auto after = std::upper_bound(segments_.begin(), segments_.end(), number,
                                  [](std::uint64_t at, const segment& each) { return at < each.first; });
    if (after == segments_.begin()) return nullptr;
    --after;
    const std::uint64_t index = number - after->first;
    return index < after->count ? &blocks_[after->base + index] : nullptr;
}

std::uint64_t thread_stream::block_of(std::uint64_t number) {
    const std::uint64_t* const place = place_of(number);
    return place == nullptr ? no_block : *place;
}

void thread_stream::set_block(std::uint64_t number, std::uint64_t block) {
    // Numbers follow one another within a chunk.
    blocks_.push_back(block);
    ++segments_.back().count;
    passed_ = number + 1;
}

void thread_stream::forget(std::uint64_t number) {
    if (std::uint64_t* const place = place_of(number)) *place = no_block;
}

}
