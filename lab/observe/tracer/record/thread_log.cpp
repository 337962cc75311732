// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/thread_log.hpp"

#include <algorithm>

#include <tenure/platform/thread.hpp>

#include "observe/blocks/interpose/errno_scope.hpp"
#include "observe/tracer/record/address_limit.hpp"

namespace tenure::lab::tracer {

namespace format = trace_format;

bool thread_log::join() noexcept {
    if (is_busy_) return false;
    const busy_scope busy(*this);
    if (!begin_recording()) return false;
    const process_state& state = *state_of_process.load(std::memory_order_acquire);
    has_left_ = false;
    drop_known_stacks(); // their numbers are the parent's
    // What belonged to a recording of the parent stays there.
    last_block = last_freed = last_left_out = nullptr;
    at_ = end_ = nullptr;
    chunk_ = nullptr;
    sequence_ = 0;
    next_ = 0;
    number_ = std::atomic_ref(state.head->threads).fetch_add(1, std::memory_order_relaxed);
    generation_ = state.generation.load(std::memory_order_acquire);
    return true;
}

bool thread_log::renew_chunk(std::uint64_t now) noexcept {
    last_block = nullptr;
    const file_part added = add_chunk();
    if (added.memory == nullptr) {
        lose();
        return false;
    }
    const blocks::errno_scope errors;
    if (chunk_ != nullptr) release_chunk(*chunk_);
    if (chunk_ == nullptr) static_cast<void>(platform::at_thread_end(leave_thread_)); // first, or after leave()
    chunk_ = static_cast<format::chunk_header*>(added.memory);
    chunk_->kind = format::chunk_kind::events;
    chunk_->bytes = added.bytes;
    chunk_->thread = number_;
    chunk_->sequence = sequence_++;
    chunk_->number = next_;
    chunk_->ticks = now;
    chunk_->pair_ns = platform::monotonic_ns();
    chunk_->pair_ticks = now;
    chunk_->used = 0;
    std::atomic_ref(chunk_->magic).store(format::chunk_magic, std::memory_order_release);
    at_ = reinterpret_cast<unsigned char*>(chunk_ + 1);
    end_ = static_cast<unsigned char*>(added.memory) + added.bytes;
    ticks_ = now;
    other_number_ = 0;
    write_late_texts();
    return true;
}

void thread_log::lose(int why) noexcept {
    format::file_header& head = *state_of_process.load(std::memory_order_acquire)->head;
    std::atomic_ref(head.lost_events).fetch_add(1, std::memory_order_relaxed);
    if (why != 0) std::atomic_ref(head.last_error).store(static_cast<std::uint32_t>(why), std::memory_order_relaxed);
}

void thread_log::leave() noexcept {
    if (chunk_ == nullptr || generation_ != generation_of_process.load(std::memory_order_relaxed)->load()) return;
    const busy_scope busy(*this);
    const blocks::errno_scope errors;
    last_block = nullptr;
    release_chunk(*chunk_);
    chunk_ = nullptr;
    at_ = end_ = nullptr;
    has_left_ = true;
    drop_known_stacks();
}

namespace {

constexpr std::size_t known_stacks_bytes =
    (sizeof(known_stacks) + format::page_bytes - 1) / format::page_bytes * format::page_bytes;

}

known_stacks* thread_log::make_known_stacks() noexcept {
    const blocks::errno_scope errors;
    if (!may_take_addresses(known_stacks_bytes)) return nullptr;
    void* const made = platform::map(known_stacks_bytes, format::page_bytes);
    if (made == nullptr) return_addresses(known_stacks_bytes);
    return static_cast<known_stacks*>(made);
}

void thread_log::drop_known_stacks() noexcept {
    if (known_stacks_ != nullptr) {
        platform::unreserve(known_stacks_, known_stacks_bytes);
        return_addresses(known_stacks_bytes);
    }
    known_stacks_ = nullptr;
}

void thread_log::write_time(std::uint64_t now) noexcept {
    const format::file_header& head = *state_of_process.load(std::memory_order_relaxed)->head;
    const std::uint64_t units = (now - ticks_) >> head.tick_shift;
    other(format::other_event::time);
    number(units);
    ticks_ += units << head.tick_shift;
    // The longer the recording, the less a new pair of times says: the two clocks' rate is known ever better.
    constexpr std::uint64_t most_between = std::uint64_t{1} << 28;
    const std::uint64_t since = now - chunk_->pair_ticks;
    if (since < std::min(most_between, (chunk_->pair_ticks - head.first_ticks) / 8)) return;
    chunk_->pair_ns = platform::monotonic_ns();
    chunk_->pair_ticks = now;
}

}
