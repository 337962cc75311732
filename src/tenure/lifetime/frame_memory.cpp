// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/frame_memory.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/lifetime/detail/temp_guards.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>
#include <tenure/platform/readable.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

// A buffer belongs to the frame in `frame`. The first allocation of a later frame that maps to it recycles it: first it
// stores no_frame, then it resets the chunks, then it stores the new frame. A thread that was delayed since the old
// frame therefore sees another frame after it took memory of a chunk that was reset, and begins again; what it took is
// lost until the next reset. A thread of the new frame finds the buffer recycled, or waits for the lock. Chunks are
// released by trim() and the destructor only, so a late thread never touches memory of the source.
struct alignas(cache_line_bytes) frame_memory::chunk {
    chunk* next = nullptr;
    std::size_t bytes = 0;
    // Released when it is reset, after no_frame is stored: see above. Who takes memory acquires both.
    std::atomic<std::size_t> used{sizeof(chunk)};
};

namespace {
constexpr std::size_t max_request_bytes = max_object_bytes / 4;

static_assert(frame_memory::guard_bytes == detail::temp_head_bytes + detail::tail_guard_bytes);

/// In checked builds every allocation takes the lock, so that the guards of a chunk's blocks are complete when it is
/// recycled.
struct no_lock {
    explicit constexpr no_lock(const platform::mutex&) noexcept {}
    ~no_lock() = default;
};
using guarding_lock = std::conditional_t<checks::caller, platform::lock_guard, no_lock>;
}

frame_memory::frame_memory(std::size_t frames, block_source& source, std::size_t chunk_bytes) noexcept
    : frames_(frames >= 1 && frames <= max_frames ? frames : 1), is_possible_(frames_ == frames),
      chunk_bytes_(align_up(std::clamp<std::size_t>(chunk_bytes, 4096, max_request_bytes), cache_line_bytes)),
      source_(source) {
    if (checks::caller && !is_possible_)
        report_argument("The constructor of frame_memory", "frames", frames, "Memory lives for 1 to 8 frames.");
    detail::add_holder(this, as_holder);
}

constinit const detail::holder_kind frame_memory::as_holder{
    "frame_memory", sizeof(frame_memory),
    [](const void* holder) noexcept {
        const auto& held = *static_cast<const frame_memory*>(holder);
        return detail::mixed(detail::mixed(1, held.chunk_bytes_), address_of(&held.source_));
    },
    [](const void* holder, const detail::holder_facts&, detail::held_list& to) noexcept {
        const auto& held = *static_cast<const frame_memory*>(holder);
        const platform::patient_lock lock(held.mutex_, to.patience());
        if (!lock) return to.add_busy("frame_memory", {}, holder);
        std::size_t bytes = 0;
        for (const buffer& each : held.buffers_) {
            if (!held.is_valid_still(each)) continue;
            for (const chunk* in = each.first; in != nullptr; in = in->next) {
                // The source may be gone with the chunk.
                if (!platform::is_object_readable(in, sizeof(chunk))) return to.add_lost("frame_memory", holder);
                bytes += in->used.load(std::memory_order_relaxed) - sizeof(chunk);
            }
        }
        to.add({"frame_memory", {}, std::size_t{bytes != 0}, bytes, nullptr, 0, "object"});
    }};

/// Whether the frame of a buffer has not passed. Requires  the mutex.
bool frame_memory::is_valid_still(const buffer& each) const noexcept {
    const std::uint64_t frame = each.frame.load(std::memory_order_relaxed);
    return frame != no_frame && frame_clock::now() - frame < frames_;
}

frame_memory::~frame_memory() {
    detail::remove_holder(this);
    for (buffer& each : buffers_) recycle(each);
    release_list(free_);
}

std::size_t frame_memory::stripe_of_this_thread() noexcept {
    // Thread-local blocks are some KiB to MiB apart: the product's upper bits depend on all of the address.
    return (address_of(&detail::this_thread()) / cache_line_bytes * 0x9E37'79B9'7F4A'7C15) >> 61;
}

/// Takes memory of a chunk. Returns   nullptr, and changes nothing, if it has not enough.
void* frame_memory::bump(chunk& from, std::size_t bytes, std::size_t alignment) noexcept {
    const std::uintptr_t base = address_of(&from);
    const std::size_t asked = bytes + (bytes == 0);
    const std::size_t size = align_up(asked, default_alignment) + detail::tail_guard_bytes;
    std::size_t used = from.used.load(std::memory_order_relaxed);
    for (;;) {
        // No overflow: addresses have 57 bits, and max_request_bytes is below 2^61.
        const std::size_t begin = align_up(base + used + detail::temp_head_bytes, alignment) - base;
        const std::size_t end = begin + size;
        if (end > from.bytes) return nullptr;
        if (from.used.compare_exchange_weak(used, end, std::memory_order_acq_rel, std::memory_order_relaxed))
            [[likely]] {
            const std::uintptr_t block = base + begin;
            if constexpr (checks::caller) {
                detail::guard_temp_gap(base + used, block - detail::temp_head_bytes);
                detail::guard_temp_block(block, asked);
            }
            return pointer_at(block);
        }
    }
}

void* frame_memory::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::promised_allocation allocation("of frame_memory", bytes);
    check_alignment("frame_memory", alignment);
    if (bytes > max_request_bytes || alignment > max_request_bytes || !is_power_of_two(alignment)) return nullptr;
    const std::uint64_t now = frame_clock::now();
    buffer& mine = buffers_[now % frames_];
    if (mine.frame.load(std::memory_order_acquire) == now && !is_large(bytes, alignment)) [[likely]] {
        [[maybe_unused]] const guarding_lock lock(mutex_);
        chunk* const current = mine.current[stripe_of_this_thread()].load(std::memory_order_acquire);
        if (current != nullptr) [[likely]] {
            void* const block = bump(*current, bytes, alignment);
            if (block != nullptr && mine.frame.load(std::memory_order_acquire) == now) return block;
        }
    }
    return allocate_slow(bytes, alignment);
}

void* frame_memory::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    if (!is_possible_) return nullptr;
    const detail::hooked_call call("of frame_memory", bytes);
    const platform::lock_guard lock(mutex_);
    const std::uint64_t now = frame_clock::now();
    buffer& mine = buffers_[now % frames_];
    // A thread whose clock was behind must not bring an older frame back.
    if (mine.frame.load(std::memory_order_relaxed) != now) {
        mine.frame.store(no_frame, std::memory_order_release);
        recycle(mine);
        mine.frame.store(now, std::memory_order_release);
    }
    detail::atomic<chunk*>& current = mine.current[stripe_of_this_thread()];
    chunk* const present = current.load(std::memory_order_relaxed);
    const bool has_own_chunk = is_large(bytes, alignment);
    if (!has_own_chunk && present != nullptr) {
        // Another thread of this stripe may have taken a chunk meanwhile.
        if (void* const block = bump(*present, bytes, alignment); block != nullptr) return block;
    }
    // Chunks are aligned to a cache line. Checked builds have something in front of the block.
    const std::size_t least = checks::caller ? default_alignment : cache_line_bytes;
    const std::size_t gap = alignment > least ? alignment - least : 0;
    const std::size_t needed = sizeof(chunk) + gap + guard_bytes + align_up(bytes + (bytes == 0), default_alignment);
    for (;;) {
        chunk* const fresh = take_chunk(has_own_chunk ? needed : chunk_bytes_);
        if (fresh == nullptr) return nullptr;
        fresh->next = std::exchange(mine.first, fresh);
        void* const block = bump(*fresh, bytes, alignment);
        if (!has_own_chunk) current.store(fresh, std::memory_order_release);
        if (block != nullptr) [[likely]]
            return block;
        // Threads that were delayed since an earlier frame have filled it.
    }
}

/// Frees all chunks of a buffer. Requires  the mutex, or no other thread.
void frame_memory::recycle(buffer& which) noexcept {
    for (detail::atomic<chunk*>& each : which.current) each.store(nullptr, std::memory_order_relaxed);
    while (which.first != nullptr) {
        chunk* const each = std::exchange(which.first, which.first->next);
        if constexpr (checks::caller) {
            const std::size_t used = each->used.load(std::memory_order_relaxed);
            detail::check_temp_blocks(address_of(each) + sizeof(chunk), address_of(each) + used, "frame_memory");
            platform::poison_dropped(pointer_at(address_of(each) + sizeof(chunk)), used - sizeof(chunk));
        }
        each->used.store(sizeof(chunk), std::memory_order_release);
        each->next = std::exchange(free_, each);
    }
}

/// A free chunk of at least `bytes`, or a new one. Requires  the mutex.
frame_memory::chunk* frame_memory::take_chunk(std::size_t bytes) noexcept {
    for (chunk** link = &free_; *link != nullptr; link = &(*link)->next) {
        // A large chunk serves large blocks again, and not small ones, which would keep it from them.
        if ((*link)->bytes >= bytes && ((*link)->bytes == chunk_bytes_) == (bytes == chunk_bytes_))
            return std::exchange(*link, (*link)->next);
    }
    const std::size_t wanted = align_up(bytes, cache_line_bytes);
    void* const memory = detail::acquire_aligned(source_, wanted, cache_line_bytes);
    if (memory == nullptr) return nullptr;
    auto* const made = ::new (memory) chunk;
    made->bytes = wanted;
    if constexpr (checks::caller)
        platform::poison(pointer_at(address_of(made) + sizeof(chunk)), wanted - sizeof(chunk));
    held_bytes_ += wanted;
    peak_bytes_ = std::max(peak_bytes_, held_bytes_);
    ++chunk_count_;
    return made;
}

std::size_t frame_memory::release_list(chunk*& first) noexcept {
    std::size_t released = 0;
    while (first != nullptr) {
        chunk* const each = std::exchange(first, first->next);
        const std::size_t bytes = each->bytes;
        if constexpr (checks::caller) platform::unpoison(each, bytes);
        each->~chunk();
        source_.release(each, bytes);
        released += bytes;
        held_bytes_ -= bytes;
        --chunk_count_;
    }
    return released;
}

std::size_t frame_memory::trim() noexcept {
    const platform::lock_guard lock(mutex_);
    for (buffer& each : buffers_) {
        if (each.frame.load(std::memory_order_relaxed) == no_frame || is_valid_still(each)) continue;
        each.frame.store(no_frame, std::memory_order_release);
        recycle(each);
    }
    return release_list(free_);
}

bool frame_memory::owns(const void* pointer) const noexcept {
    const platform::lock_guard lock(mutex_);
    const auto is_in = [pointer](const chunk* first) {
        for (; first != nullptr; first = first->next)
            if (address_of(pointer) - address_of(first) - sizeof(chunk) < first->bytes - sizeof(chunk)) return true;
        return false;
    };
    return is_in(free_) ||
           std::any_of(buffers_.begin(), buffers_.end(), [&](const buffer& each) { return is_in(each.first); });
}

allocator_stats frame_memory::stats() const noexcept {
    const platform::lock_guard lock(mutex_);
    allocator_stats answer;
    for (const buffer& each : buffers_) {
        if (!is_valid_still(each)) continue;
        for (const chunk* in = each.first; in != nullptr; in = in->next)
            answer.live_bytes += in->used.load(std::memory_order_relaxed) - sizeof(chunk);
    }
    answer.reserved_bytes = held_bytes_;
    answer.peak_bytes = peak_bytes_;
    answer.source_blocks = chunk_count_;
    return answer;
}

}
