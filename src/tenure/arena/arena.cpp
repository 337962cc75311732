// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/arena/arena.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/options.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/platform/readable.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <utility>

namespace tenure::inline TENURE_ABI {

namespace detail {

// The layout of a chunk:
//
//   chunk                    chunk + 64                                            chunk + bytes
//   | header (a cache line)  | blocks, bumped from the front ...        | not yet touched |
//
// Chunks form a list in the order in which they are filled. Those after the current one are empty and retained.
struct alignas(cache_line_bytes) arena_chunk {
    arena_chunk* next;
    arena_chunk* previous;
    std::size_t bytes;  // with this header
    std::size_t before; // bytes in use in all chunks before this one
    std::size_t lead; // bytes from malloc's address to begin(), for a passthrough chunk; zero for a chunk of the source

    [[nodiscard]] std::uintptr_t begin() const noexcept { return address_of(this) + sizeof(arena_chunk); }
    [[nodiscard]] std::uintptr_t end() const noexcept { return address_of(this) + bytes; }
};
static_assert(sizeof(arena_chunk) == cache_line_bytes);

}

using detail::arena_chunk;

namespace {
constexpr std::size_t min_chunk_bytes = 1024;
constexpr std::size_t max_chunk_bytes = std::size_t{8} << 20;
constexpr detail::sole_use one_thread{
    "arena", "An arena serves one thread at a time: give each thread its own, or hold a lock during every call."};
}

arena::arena(std::size_t first_chunk_bytes, block_source& source) noexcept
    : source_(source), next_bytes_(std::max(first_chunk_bytes, min_chunk_bytes)),
      passthrough_(passthrough_enabled(part::arena)) {
    detail::add_holder(this, as_holder); // here and not at the first chunk, where a caller may hold the lock of a heap
}

// NOLINTNEXTLINE(performance-move-constructor-init): all members are copied, and the other is made anew
arena::arena(arena&& other) noexcept : arena(static_cast<const arena&>(other)) {
    detail::share_holder(&other, this);
    link_.take(other.link_, this);
    ::new (&other) arena(next_bytes_, source_); // forgets the chunks
}

arena& arena::operator=(arena&& other) noexcept {
    if (this == &other) return *this;
    this->~arena();
    return *::new (this) arena(std::move(other));
}

arena::~arena() {
    if constexpr (checks::structures) check_invariant(valid(), "arena", this);
    detail::remove_holder(this);
    release_list(first_);
}

constinit const detail::holder_kind arena::as_holder{
    "arena", sizeof(arena),
    [](const void* holder) noexcept {
        return detail::mixed(1, address_of(&static_cast<const arena*>(holder)->source_));
    },
    [](const void* holder, const detail::holder_facts&, detail::held_list& to) noexcept {
        const auto& held = *static_cast<const arena*>(holder);
        const arena_chunk* const chunk = held.current_;
        if (chunk == nullptr) return;
        // Other members may have been overwritten alone, and the source may be gone with the chunk.
        const bool is_whole = platform::is_object_readable(chunk, sizeof(arena_chunk)) &&
                              (held.passthrough_ || (held.cursor_ >= chunk->begin() && held.cursor_ <= chunk->end()));
        if (!is_whole) return to.add_lost("arena", holder);
        const std::size_t bytes = held.live_bytes();
        to.add({"arena", {}, std::size_t{bytes != 0}, bytes, nullptr, 0, "arena"});
    }};

std::size_t arena::live_bytes() const noexcept {
    if (current_ == nullptr) return 0;
    return current_->before + (passthrough_ ? current_->end() : cursor_) - current_->begin();
}

void arena::enter(arena_chunk* chunk, std::uintptr_t cursor) noexcept {
    current_ = chunk;
    cursor_ = passthrough_ ? 0 : cursor;
    limit_ = passthrough_ ? 0 : chunk->end();
}

void* arena::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of an arena", bytes);
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return nullptr;
    const std::size_t size = bytes + (bytes == 0);
    if (!is_power_of_two(alignment)) {
        if constexpr (checks::caller) report_alignment("An arena", alignment);
        return nullptr;
    }
    if (size > max_object_bytes - sizeof(arena_chunk)) return nullptr;
    if (passthrough_) return allocate_passthrough(size, alignment);
    void* block = bump(bytes, alignment); // checked builds always come here
    if (block == nullptr) {
        arena_chunk* const chunk = next_chunk(size, alignment);
        if (chunk == nullptr) return nullptr;
        chunk->before = live_bytes();
        enter(chunk, chunk->begin());
        block = bump(bytes, alignment);
    }
    if constexpr (checks::caller) platform::unpoison(block, size);
    return block;
}

arena_chunk* arena::next_chunk(std::size_t bytes, std::size_t alignment) noexcept {
    // Add the padding that alignment may need. A chunk's first block is always aligned to a cache line.
    const std::size_t gap = alignment > cache_line_bytes ? alignment - cache_line_bytes : 0;
    if (gap > max_object_bytes - sizeof(arena_chunk) - bytes) return nullptr;
    const std::size_t needed = sizeof(arena_chunk) + gap + bytes;
    arena_chunk* const kept = current_ != nullptr ? current_->next : first_;
    if (kept != nullptr && kept->bytes >= needed) return kept;

    detail::allocation_attempt attempt;
    std::size_t size = std::max(needed, next_bytes_);
    void* memory = detail::acquire_aligned(source_, size, cache_line_bytes);
    if (memory == nullptr && size > needed) memory = detail::acquire_aligned(source_, size = needed, cache_line_bytes);
    if (memory == nullptr) return nullptr;
    attempt.succeeded();
    next_bytes_ = std::min(std::max(next_bytes_, 2 * size), std::max(max_chunk_bytes, next_bytes_));

    auto* const chunk = new (memory) arena_chunk{kept, current_, size, 0, 0};
    if (kept != nullptr) kept->previous = chunk;
    (current_ != nullptr ? current_->next : first_) = chunk;
    platform::add_leak_root(chunk, size);
    if constexpr (checks::caller) platform::poison(pointer_at(chunk->begin()), size - sizeof(arena_chunk));
    return chunk;
}

void* arena::allocate_passthrough(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t actual = std::max(alignment, cache_line_bytes);
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most) return nullptr;
    const std::size_t total = align_up(bytes, actual) + actual;
    void* const memory = host::aligned_from_malloc(total, actual);
    if (memory == nullptr) return nullptr;
    // The header is just before the block, so that the block itself has the requested alignment.
    const std::uintptr_t block = address_of(memory) + actual;
    auto* const chunk = new (pointer_at(block - sizeof(arena_chunk)))
        arena_chunk{nullptr, current_, bytes + sizeof(arena_chunk), live_bytes(), actual};
    (current_ != nullptr ? current_->next : first_) = chunk;
    enter(chunk, 0);
    return pointer_at(block);
}

void arena::drop_after(std::uintptr_t cursor) noexcept {
    if (cursor < cursor_) platform::poison_dropped(pointer_at(cursor), cursor_ - cursor);
}

void arena::deallocate_checked(void* block, std::size_t bytes) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call || !is_ours(block) || address_of(block) + bytes + (bytes == 0) != cursor_) return;
    drop_after(address_of(block));
    cursor_ = address_of(block);
}

std::uint64_t arena::log_marker() const noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return 0;
    detail::marker_log& log = markers_;
    if (log.count == log.capacity) {
        log.forgotten = log.open[0];
        std::memmove(log.open, log.open + 1, (log.capacity - 1) * sizeof(log.open[0]));
        --log.count;
    }
    return log.open[log.count++] = ++log.last;
}

/// Whether the arena may be rewound to the marker. Invalidates the markers set after it.
bool arena::is_open(marker to) const noexcept {
    arena_chunk* chunk = current_;
    while (chunk != to.chunk && chunk != nullptr) chunk = chunk->previous;
    if (chunk != to.chunk) return false;
    detail::marker_log& log = markers_;
    std::size_t count = log.count;
    while (count != 0 && log.open[count - 1] > to.number) --count;
    const bool is_known = count != 0 && log.open[count - 1] == to.number;
    if (!is_known && to.number > log.forgotten) return false;
    log.count = count;
    if (to.number == 0) log.forgotten = 0; // clear(): no markers remain
    return true;
}

void arena::rewind(marker to) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return;
    if constexpr (checks::caller) {
        if (!is_open(to)) {
            report_misuse(
                "arena::rewind got a marker that is not valid for this arena", this,
                "Rewind to this arena's markers in reverse order, and never to one set before clear() or trim().");
            return;
        }
    }
    peak_bytes_ = std::max(peak_bytes_, live_bytes());
    if (passthrough_) {
        arena_chunk* const dropped = to.chunk != nullptr ? to.chunk->next : first_;
        (to.chunk != nullptr ? to.chunk->next : first_) = nullptr;
        current_ = to.chunk;
        return release_list(dropped);
    }
    if constexpr (checks::caller) {
        for (; current_ != to.chunk; current_ = current_->previous) {
            drop_after(current_->begin());
            const std::uintptr_t end = current_->previous != nullptr ? current_->previous->end() : 0;
            cursor_ = end; // the end of the previous chunk: blocks in it may be dropped too
        }
        drop_after(to.cursor);
    }
    // The cursor may already be lower: a block from before the marker may have been freed after it.
    if (to.chunk != nullptr) return enter(to.chunk, to.chunk == current_ ? std::min(to.cursor, cursor_) : to.cursor);
    current_ = nullptr;
    cursor_ = limit_ = 0;
}

void arena::clear() noexcept {
    const marker start;
    rewind(start);
}

std::size_t arena::trim() noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return 0;
    arena_chunk*& kept = current_ != nullptr ? current_->next : first_;
    arena_chunk* const first_empty = kept;
    kept = nullptr;
    std::size_t bytes = 0;
    for (arena_chunk* chunk = first_empty; chunk != nullptr; chunk = chunk->next) bytes += chunk->bytes;
    release_list(first_empty);
    return bytes;
}

void arena::release_list(arena_chunk* first) noexcept {
    while (first != nullptr) {
        arena_chunk* const chunk = first;
        first = chunk->next;
        if (chunk->lead != 0) {
            host::free_aligned(pointer_at(chunk->begin() - chunk->lead));
            continue;
        }
        if constexpr (checks::caller) platform::unpoison(pointer_at(chunk->begin()), chunk->end() - chunk->begin());
        platform::remove_leak_root(chunk, chunk->bytes);
        source_.release(chunk, chunk->bytes);
    }
}

/// In checked builds, reports a block that is not in the arena. nullptr is allowed.
bool arena::is_ours(const void* block) const noexcept {
    if (block == nullptr) return false;
    if (owns(block)) return true;
    report_misuse("an arena was asked to free a pointer that it does not own", block,
                  "Free to an arena only blocks that it allocated.");
    return false;
}

bool arena::owns(const void* pointer) const noexcept {
    const std::uintptr_t address = address_of(pointer);
    for (arena_chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
        if (address >= chunk->begin() && address < chunk->end()) return true;
    }
    return false;
}

allocator_stats arena::stats() const noexcept {
    allocator_stats answer;
    for (arena_chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
        ++answer.source_blocks;
        answer.reserved_bytes += chunk->bytes;
    }
    answer.live_bytes = live_bytes();
    answer.peak_bytes = std::max(peak_bytes_, answer.live_bytes);
    return answer;
}

bool arena::valid() const noexcept {
    bool found_current = current_ == nullptr;
    arena_chunk* previous = nullptr;
    for (arena_chunk* chunk = first_; chunk != nullptr; previous = chunk, chunk = chunk->next) {
        if (chunk->previous != previous || chunk->bytes < sizeof(arena_chunk)) return false;
        if (chunk != current_) continue;
        found_current = true;
        if (!passthrough_ && (cursor_ < chunk->begin() || cursor_ > limit_ || limit_ != chunk->end())) return false;
    }
    return found_current;
}

}
