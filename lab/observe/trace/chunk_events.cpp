// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/chunk_events.hpp"

#include <algorithm>

#include "observe/trace/numbers.hpp"

namespace tenure::lab {

namespace format = trace_format;
using format::event_kind;
using format::other_event;

chunk_events::chunk_events(const format::file_header& file, const format::chunk_header& chunk, std::string_view payload)
    : payload_(payload), thread_(chunk.thread), has_stacks_(file.stack_frames != 0),
      has_free_stacks_(has_stacks_ && file.free_stacks != 0), tick_shift_(file.tick_shift), next_(chunk.number),
      ticks_(chunk.ticks) {}

std::uint64_t chunk_events::little(std::size_t bytes) {
    if (payload_.size() - at_ < bytes) {
        is_damaged_ = true;
        return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < bytes; ++index)
        value |= std::uint64_t{static_cast<unsigned char>(payload_[at_ + index])} << 8 * index;
    at_ += bytes;
    return value;
}

std::uint64_t chunk_events::number() {
    std::string_view rest = payload_.substr(at_);
    const std::uint64_t value = lab::take_number(rest, is_damaged_);
    at_ = payload_.size() - rest.size();
    return value;
}

std::int64_t chunk_events::signed_number() {
    std::string_view rest = payload_.substr(at_);
    const std::uint64_t value = take_signed(rest, is_damaged_);
    at_ = payload_.size() - rest.size();
    return static_cast<std::int64_t>(value);
}

block_name chunk_events::own_name(std::uint64_t distance) const { return {thread_, next_ - 1 - distance}; }

block_name chunk_events::other_name(std::uint64_t thread) {
    other_number_ += static_cast<std::uint64_t>(signed_number());
    if (thread > UINT32_MAX) is_damaged_ = true;
    return {static_cast<std::uint32_t>(thread), other_number_};
}

block_name chunk_events::any_name() {
    const std::uint64_t first = number();
    return first % 2 == 1 ? own_name(first / 2) : other_name(first / 2);
}

std::uint32_t chunk_events::stack_number() {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(number(), UINT32_MAX));
}

void chunk_events::take_number(chunk_event& to) {
    to.number = next_++;
    to.stack = has_stacks_ ? stack_number() : 0;
}

void chunk_events::read_allocation(event_kind kind, std::uint64_t value, chunk_event& to) {
    constexpr std::uint8_t usual_log2 = 4, most_log2 = 63;
    to.is = chunk_event::what::allocate;
    to.bytes = value;
    to.alignment_log2 = usual_log2;
    switch (kind) {
    case event_kind::operator_new: to.family = trace_family::operator_new; break;
    case event_kind::zeroed: to.family = trace_family::zeroed; break;
    case event_kind::aligned: {
        const std::uint64_t alignment = little(1);
        to.family = (alignment & format::aligned_is_new) != 0 ? trace_family::aligned_new : trace_family::aligned;
        to.alignment_log2 = static_cast<std::uint8_t>(alignment & ~std::uint64_t{format::aligned_is_new});
        if (to.alignment_log2 > most_log2) is_damaged_ = true;
        break;
    }
    default: to.family = trace_family::malloc;
    }
    take_number(to);
}

void chunk_events::read_stack(chunk_event& to) {
    constexpr std::uint64_t most_frames = 4096;
    to.is = chunk_event::what::stack;
    to.stack = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(), UINT32_MAX));
    const std::uint64_t count = number();
    if (count > most_frames) is_damaged_ = true;
    frames_.clear();
    std::uint64_t frame = 0;
    for (std::uint64_t index = 0; index < count && !is_damaged_; ++index) {
        frame += static_cast<std::uint64_t>(signed_number());
        frames_.push_back(frame);
    }
}

bool chunk_events::read_other(std::uint64_t which, chunk_event& to) {
    switch (static_cast<other_event>(which <= UINT8_MAX ? which : 0)) {
    case other_event::time: ticks_ += number() << tick_shift_; return false;
    case other_event::unknown_free: to.is = chunk_event::what::unknown_free; return true;
    case other_event::stack: read_stack(to); return true;
    case other_event::frame: to.is = chunk_event::what::frame; return true;
    case other_event::mark: {
        const std::uint64_t length = number();
        if (length > payload_.size() - at_) {
            is_damaged_ = true;
            return false;
        }
        to.is = chunk_event::what::mark;
        to.name = payload_.substr(at_, length);
        at_ += length;
        return true;
    }
    case other_event::unseen_free:
        to.is = chunk_event::what::deallocate;
        to.block = any_name();
        return true;
    default: is_damaged_ = true; return false;
    }
}

bool chunk_events::next(chunk_event& to) {
    constexpr std::uint64_t kinds = 1 << format::kind_bits, direct = format::direct_values;
    while (at_ < payload_.size() && !is_damaged_) {
        const std::uint64_t first = little(1);
        const auto kind = static_cast<event_kind>(first % kinds);
        std::uint64_t value = first / kinds;
        if (value >= direct) value = little(std::size_t{1} << (value - direct)) + (value == direct ? direct : 0);
        bool is_event = true;
        to = {};
        switch (kind) {
        case event_kind::free_own:
            to.is = chunk_event::what::deallocate;
            to.block = own_name(value);
            to.stack = has_free_stacks_ ? stack_number() : 0;
            break;
        case event_kind::free_other:
            to.is = chunk_event::what::deallocate;
            to.block = other_name(value);
            to.stack = has_free_stacks_ ? stack_number() : 0;
            break;
        case event_kind::resize:
            to.is = chunk_event::what::resize;
            to.bytes = value;
            to.block = any_name();
            take_number(to);
            break;
        case event_kind::other: is_event = read_other(value, to); break;
        default: read_allocation(kind, value, to);
        }
        to.ticks = ticks_;
        if (is_event && !is_damaged_) return true;
    }
    return false;
}

}
