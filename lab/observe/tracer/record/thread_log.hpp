// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The events of one thread, written into chunks of the file.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tenure/base/host.hpp>
#include <tenure/platform/clock.hpp>

#include "observe/blocks/interpose/recorded.hpp"
#include "observe/trace/trace_format.hpp"
#include "observe/tracer/record/known_stacks.hpp"
#include "observe/tracer/record/process_state.hpp"

namespace tenure::lab::tracer {

/// Each thread has one, in its thread-local storage. Between begin_event() and end_event() the parts of an event are
/// written; a reader sees the event after end_event().
class thread_log {
public:
    /// Whether this thread may write an event now: the recording has begun, and the thread is not inside this library.
    [[nodiscard]] bool begins() noexcept {
        const std::uint32_t now =
            generation_of_process.load(std::memory_order_relaxed)->load(std::memory_order_acquire);
        if (now != generation_) [[unlikely]] {
            if (!join()) return false;
        }
        return !is_busy_;
    }

    /// Makes room for `bytes`, and writes the time if it has changed by a step. Returns   false if the file cannot
    /// grow: the event is counted as lost.
    [[nodiscard]] bool begin_event(std::size_t bytes) noexcept {
        const std::uint64_t now = platform::ticks();
        if (static_cast<std::size_t>(end_ - at_) < bytes + time_bytes) [[unlikely]] {
            if (!renew_chunk(now)) return false;
        }
        if (now - ticks_ >= time_step && now > ticks_) [[unlikely]]
            write_time(now);
        return true;
    }
    void end_event() noexcept {
        std::atomic_ref(chunk_->used)
            .store(static_cast<std::uint32_t>(at_ - reinterpret_cast<unsigned char*>(chunk_ + 1)),
                   std::memory_order_release);
    }

    /// Counts an event that is not recorded. `why`: an error number; zero: add_chunk() has noted it.
    void lose(int why = 0) noexcept;

    /// The thread ends: the rest of its chunk is for others. It may still record.
    void leave() noexcept;

    /// The name of the block that this event allocates or resizes.
    [[nodiscard]] token take_name() noexcept { return make_token(number_, next_++); }

    void byte(std::uint8_t value) noexcept { *at_++ = value; }
    void number(std::uint64_t value) noexcept {
        for (; value >= 128; value >>= 7) byte(static_cast<std::uint8_t>(value | 128));
        byte(static_cast<std::uint8_t>(value));
    }
    void signed_number(std::int64_t value) noexcept {
        number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    }
    void event(trace_format::event_kind kind, std::uint64_t value) noexcept {
        const auto low = static_cast<std::uint8_t>(kind);
        const auto first = [&](std::uint64_t payload) noexcept {
            byte(static_cast<std::uint8_t>(payload << trace_format::kind_bits | low));
        };
        const auto behind = [&](std::size_t bytes) noexcept {
            static_assert(std::endian::native == std::endian::little);
            std::memcpy(at_, &value, sizeof value); // there is room
            at_ += bytes;
        };
        constexpr std::uint64_t direct = trace_format::direct_values;
        if (value < direct) return first(value);
        if (value < direct + 256) return first(direct), value -= direct, behind(1);
        if (value < 65536) return first(direct + 1), behind(2);
        if (value < (std::uint64_t{1} << 32)) return first(direct + 2), behind(4);
        first(direct + 3), behind(8);
    }
    void other(trace_format::other_event which) noexcept {
        event(trace_format::event_kind::other, static_cast<std::uint64_t>(which));
    }
    /// The name of a block in a freeing event of its own.
    void free(token name) noexcept {
        if (thread_of(name) == number_) return event(trace_format::event_kind::free_own, own_distance(name));
        event(trace_format::event_kind::free_other, thread_of(name));
        other_number(name);
    }
    /// The name of a block inside another event.
    void name(token name) noexcept {
        if (thread_of(name) == number_) return number(own_distance(name) << 1 | 1);
        number(std::uint64_t{thread_of(name)} << 1);
        other_number(name);
    }

    /// Goes back to this place of the same chunk, to write the last event again.
    [[nodiscard]] unsigned char* place() const noexcept { return at_; }
    void go_back(unsigned char* place) noexcept {
        at_ = place;
        end_event();
    }

    /// Events of the thread while this is in scope are not recorded.
    class busy_scope {
    public:
        explicit busy_scope(thread_log& log) noexcept : log_(log) { log_.is_busy_ = true; }
        ~busy_scope() { log_.is_busy_ = false; }
        busy_scope(const busy_scope&) = delete;
        busy_scope& operator=(const busy_scope&) = delete;

    private:
        thread_log& log_;
    };

    static constexpr std::size_t event_bytes = max_event_bytes;

    // What the recorder remembers of the last event, so that operator new can say more of its block, and operator
    // delete's free is not taken for that of a block that was not seen.
    const void* last_block = nullptr;
    unsigned char* last_place = nullptr;
    std::uint32_t last_stack = 0;
    const void* last_freed = nullptr;
    const void* last_left_out = nullptr; ///< by the sample, or lost
    double sample_bytes = 0;             ///< until the next sample
    bool has_sample = false;
    host::readable_span readable_stack;
    /// nullptr when out of memory, and after leave(): what the C library frees at the very end of a thread would map
    /// it again, and nothing would unmap it.
    [[nodiscard]] known_stacks* known_stacks_of_thread() noexcept {
        if (known_stacks_ == nullptr && !has_left_) [[unlikely]]
            known_stacks_ = make_known_stacks();
        return known_stacks_;
    }

    using thread_function = void (*)() noexcept;
    /// `leave_thread` is called at the end of the thread, and calls leave().
    constexpr explicit thread_log(thread_function leave_thread) noexcept : leave_thread_(leave_thread) {}

private:
    static constexpr std::uint64_t time_step = std::uint64_t{1} << 16; ///< some 25 us
    static constexpr std::size_t time_bytes = 12;

    [[nodiscard]] std::uint64_t own_distance(token name) const noexcept { return next_ - 1 - number_of(name); }
    void other_number(token name) noexcept {
        signed_number(static_cast<std::int64_t>(number_of(name) - other_number_));
        other_number_ = number_of(name);
    }
    [[nodiscard]] static known_stacks* make_known_stacks() noexcept;
    void drop_known_stacks() noexcept;
    [[nodiscard]] bool join() noexcept;
    [[nodiscard]] bool renew_chunk(std::uint64_t now) noexcept;
    void write_time(std::uint64_t now) noexcept;

    thread_function leave_thread_;
    std::uint32_t generation_ = ~std::uint32_t{0};
    bool is_busy_ = false;
    bool has_left_ = false;
    std::uint32_t number_ = 0;   ///< of the thread
    std::uint32_t sequence_ = 0; ///< of its next chunk
    std::uint64_t next_ = 0;     ///< number of its next block
    unsigned char* at_ = nullptr;
    unsigned char* end_ = nullptr;
    trace_format::chunk_header* chunk_ = nullptr;
    std::uint64_t ticks_ = 0; ///< of the last time event
    std::uint64_t other_number_ = 0;
    known_stacks* known_stacks_ = nullptr;
};

}
