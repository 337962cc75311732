// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/check.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/block_guard.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/thread.hpp>

// Checked builds: thread caches stay empty, so the bits of a page say for every block whether it is in use, and each
// call detects its own mistake.

namespace tenure::inline TENURE_ABI::detail {

namespace {

constinit std::atomic<std::uint64_t> last_shared_draw{0};
TENURE_THREAD_LOCAL std::uint64_t last_draw TENURE_TLS_MODEL = 0; // zero: none yet

/// Numbers that are unpredictable without the process's secret. Each thread has a sequence of its own, which begins at
/// a random number, so that threads do not contend. Threads without a cache share one, because a program may allocate
/// before it has thread-local variables. After Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators" (2014).
[[nodiscard]] std::uint64_t next_draw(const thread_cache* cache) noexcept {
    constexpr std::uint64_t step = 0x9E37'79B9'7F4A'7C15;
    const auto mixed = [](std::uint64_t draw) {
        draw += platform::random_of_process();
        draw = (draw ^ (draw >> 30)) * 0xBF58'476D'1CE4'E5B9;
        draw = (draw ^ (draw >> 27)) * 0x94D0'49BB'1331'11EB;
        return draw ^ (draw >> 31);
    };
    if (cache == nullptr) return mixed(last_shared_draw.fetch_add(step, std::memory_order_relaxed));
    if (last_draw == 0) last_draw = mixed(last_shared_draw.fetch_add(step, std::memory_order_relaxed)) | 1;
    return mixed(last_draw += step);
}

TENURE_COLD void report_block(std::string_view what, const void* block, std::size_t bytes, std::size_t offset,
                              std::string_view advice) noexcept {
    report_text text;
    text.text(what).text(": the block at ").address(block).text(" of ").number(bytes).text(" bytes");
    if (offset != canary_overwritten) text.text(", first at byte ").number(offset);
    text.text(". ").text(advice);
    report(report_kind::misuse, text.view());
}

}

std::size_t heap_core::whole_bytes(const void* block, std::uint8_t number) const noexcept {
    if (number < small_class_count) return class_bytes(number);
    return number == large_class ? large_.usable_bytes(block) : huge_.asked_bytes(block);
}

void* heap_core::sample_guarded(const thread_cache* cache, std::size_t bytes, std::size_t alignment,
                                fill how) noexcept {
    const std::uint64_t one_in = option_value(option::heap_guard_sample);
    // A 32-bit draw is below 2^32 / one_in once in one_in draws; the option is below 2^32.
    if (one_in == 0 || (next_draw(cache) >> 32) * one_in >> 32 != 0) [[likely]]
        return nullptr;
    void* const block = guarded_.allocate(bytes, std::max(alignment, default_alignment));
    if (block != nullptr && how == fill::zero) std::memset(block, 0, bytes);
    return block;
}

void* heap_core::allocate_checked(thread_cache* cache, std::size_t class_index) noexcept {
    void* const block = small_.allocate_scattered(cache, class_index, next_draw(cache));
    if (block == nullptr) return nullptr;
    const std::size_t whole = class_bytes(class_index);
    platform::unpoison(block, whole);
    const std::size_t written = first_written(block, whole);
    if (written != whole) {
        report_block("memory was written after it was freed", block, whole, written,
                     "Look for a pointer that outlived its block; TENURE_HEAP_GUARD_SAMPLE=1 or AddressSanitizer finds "
                     "the writer.");
    }
    return block;
}

void* heap_core::set_canary(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) return nullptr;
    const std::size_t whole = whole_bytes(block, class_number_of(block, slice_number_of(block)));
    platform::unpoison(block, whole);
    set_guard_canary(block, whole, bytes);
    platform::poison(static_cast<unsigned char*>(block) + bytes, whole - bytes);
    return block;
}

std::size_t heap_core::checked_bytes(const void* block, std::uint8_t number) const noexcept {
    const std::size_t whole = whole_bytes(block, number);
    const auto* const bytes = static_cast<const unsigned char*>(block);
    platform::unpoison(bytes + whole - sizeof(std::uint64_t), sizeof(std::uint64_t));
    const std::size_t asked = guarded_bytes(block, whole);
    if (asked == canary_overwritten) return canary_overwritten;
    platform::unpoison(bytes + asked, whole - asked);
    const bool is_whole = guard_is_whole(block, whole, asked);
    platform::poison(bytes + asked, whole - asked);
    return is_whole ? asked : canary_overwritten;
}

bool heap_core::check_block(const void* block, std::uint8_t number, std::string_view what_for) const noexcept {
    bool is_begin = number == huge_class && huge_.block_of(block) == block;
    if (number == large_class) is_begin = large_.is_block(block);
    block_state state = is_begin ? block_state::allocated : block_state::no_begin;
    if (number < small_class_count) state = heap_shard::state_of(block, memory_.segment_bytes());
    if (state == block_state::allocated && checked_bytes(block, number) != canary_overwritten) [[likely]]
        return true;
    report_unsound(block, number, state, what_for);
    return false;
}

TENURE_COLD void heap_core::report_unsound(const void* block, std::uint8_t number, block_state state,
                                           std::string_view what_for) const noexcept {
    report_text text;
    if (number == no_class) {
        text.text("a pointer that is not a block of this heap was ").text(what_for).text(": ").address(block);
        text.text(". Free it where it was allocated: another heap, a pool or the C library. A block past 31 MiB that "
                  "was freed before is reported this way, too.");
    } else if (state == block_state::free) {
        text.text("a heap block that is already free was ").text(what_for).text(": ").address(block);
        text.text(". Look for a second owner of this block.");
    } else if (state == block_state::no_begin) {
        text.text("a pointer that is not the start of a block, or whose block is already free, was ").text(what_for);
        text.text(": ").address(block).text(". Pass what allocate() returned, once; look for a second owner.");
    } else {
        text.text("memory past the end of a heap block was overwritten: ").address(block).text(", of at most ");
        text.number(whole_bytes(block, number) - guard_bytes).text(" bytes, when it was ").text(what_for);
        text.text(". Look for a write past its end; TENURE_HEAP_GUARD_SAMPLE=1 or AddressSanitizer finds the writer.");
    }
    report(report_kind::misuse, text.view());
}

bool heap_core::resize_checked(void* block, std::size_t bytes, std::uint8_t number) noexcept {
    check_alone("resize");
    if (bytes > max_object_bytes / 4 || !check_block(block, number, "resized")) return false;
    const std::size_t whole = whole_bytes(block, number);
    platform::unpoison(block, whole);
    const bool is_resized = resize_to(block, bytes + guard_bytes, number);
    if (is_resized) return set_canary(block, std::max<std::size_t>(bytes, 1)) == block;
    // Restores the previous state: the guard is unchanged, and its bytes become inaccessible again.
    const std::size_t asked = guarded_bytes(block, whole);
    platform::poison(static_cast<unsigned char*>(block) + asked, whole - asked);
    return false;
}

void heap_core::retire(void* block, std::uint8_t number) noexcept {
    const std::size_t whole = whole_bytes(block, number);
    platform::unpoison(block, whole);
    if (number == huge_class) return; // goes back to the source at once
    fill_freed(block, whole);
    platform::poison(block, whole);
}

void heap_core::deallocate_sized(thread_cache* cache, void* block, std::size_t bytes) noexcept {
    const bool is_ours = block != nullptr && (guarded_.contains(block) || kind_of_head(block) != head_kind::none);
    const std::size_t asked = is_ours ? usable_bytes(block) : 0;
    if (checks::caller && asked != 0 && asked != std::max<std::size_t>(bytes, 1)) {
        report_text text;
        text.text("a heap block was freed with size ").number(bytes).text(", but its size is ").number(asked);
        text.text(": ").address(block).text(". Free it with the size that it was allocated with, or without a size.");
        report(report_kind::misuse, text.view());
    }
    if (!checks::caller || !is_ours || asked != 0) deallocate(cache, block); // already reported
}

void heap_core::check_alone(std::string_view what) const noexcept {
    const std::uint64_t thread = alone_.load(std::memory_order_relaxed);
    if (thread == 0) return;
    report_text text;
    text.text("a heap was used (").text(what).text(") ");
    text.text(thread == platform::thread_id() ? "by the function that walk() calls"
                                              : "by another thread during walk() or clear()");
    text.text(". Do not use the heap while walk() or clear() runs.");
    report(report_kind::misuse, text.view());
}

}
