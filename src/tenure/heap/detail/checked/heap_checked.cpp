// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/check.hpp>
#include <tenure/base/options.hpp>
#include <tenure/engine/block_owner.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/thread.hpp>

// Checked builds: a block has a canary behind it and a state beside it, so each call detects its own mistake.

namespace tenure::inline TENURE_ABI::detail {

std::size_t heap_core::whole_bytes(const void* block, std::uint8_t number) const noexcept {
    if (number < small_class_count) return class_bytes(number);
    return number == large_class ? large_.usable_bytes(block) : huge_.asked_bytes(block);
}

void* heap_core::sample_guarded(thread_cache& cache, std::size_t bytes, std::size_t alignment, fill how,
                                block_form form) noexcept {
    quarantine& resting = *cache.resting;
    if (resting.until_sample != 0) [[likely]] {
        --resting.until_sample;
        return nullptr;
    }
    resting.until_sample = resting.draw_sample_distance();
    if (!memory_.is_plentiful() || option_value(option::heap_guard_sample) == 0) return nullptr;
    if (memory_.limit_of_use().is_set()) return nullptr; // which does not count guarded blocks
    void* const block = guarded_.allocate(bytes, std::max(alignment, default_alignment), form);
    if (block != nullptr && how == fill::zero) std::memset(block, 0, bytes);
    return block;
}

void* heap_core::set_canary(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) return nullptr;
    const std::size_t whole = whole_bytes(block, class_number_of(block, slice_number_of(block)));
    platform::unpoison(block, whole);
    set_guard(block, whole, bytes, keys_of_canaries());
    platform::poison(static_cast<unsigned char*>(block) + bytes, whole - bytes);
    return block;
}

std::size_t heap_core::checked_bytes(const void* block, std::uint8_t number) const noexcept {
    const std::size_t whole = whole_bytes(block, number);
    const auto* const bytes = static_cast<const unsigned char*>(block);
    platform::unpoison(bytes + whole - sizeof(std::uint64_t), sizeof(std::uint64_t));
    const std::size_t asked = asked_bytes_of(block, whole, keys_of_canaries());
    if (asked == canary_overwritten) return canary_overwritten;
    platform::unpoison(bytes + asked, whole - asked);
    const bool is_whole = is_guard_whole(block, whole, asked);
    platform::poison(bytes + asked, whole - asked);
    return is_whole ? asked : canary_overwritten;
}

std::size_t heap_core::asked_or_whole(const void* block, std::uint8_t number) const noexcept {
    const std::size_t asked = checked_bytes(block, number);
    return asked != canary_overwritten ? asked : whole_bytes(block, number) - guard_bytes;
}

bool heap_core::check_block(const void* block, std::uint8_t number, std::string_view what_for,
                            block_form form) const noexcept {
    block_finding found = block_finding::no_begin;
    if (number < small_class_count) {
        found = checked_.check(block, number, form);
    } else if (number == large_class ? large_.is_block(block)
                                     : number == huge_class && huge_.block_of(block) == block) {
        found = block_finding::sound;
    }
    const bool may_look = found == block_finding::sound || found == block_finding::written_before;
    if (may_look && has(mitigations_on(), mitigation::canary) && checked_bytes(block, number) == canary_overwritten)
        found = block_finding::written_past_end;
    if (found == block_finding::sound) [[likely]]
        return true;
    report_unsound(block, number, found, what_for, form);
    return false;
}

TENURE_COLD void heap_core::report_unsound(const void* block, std::uint8_t number, block_finding found,
                                           std::string_view what_for, block_form form) const noexcept {
    constexpr std::string_view writer =
        ". Look for a write past its end; TENURE_HEAP_GUARD_SAMPLE=1 or AddressSanitizer finds the writer.";
    report_text text;
    const bool is_foreign = number == no_class || found == block_finding::no_begin;
    const std::string_view owner = is_foreign ? owner_of_block(block) : std::string_view{};
    if (!owner.empty()) {
        text.text("a block of ").text(owner).text(" was ").text(what_for).text(" as one of the heap: ").address(block);
        text.text(
            ". Free it with the lifetime that it was allocated with; an object, with the destroy() of that part.");
    } else if (number == no_class) {
        text.text("a pointer that is not a block of this heap was ").text(what_for);
        return report_misuse(text.view(), block,
                             "Free it where it was allocated: another heap, a pool or the C library. A large block "
                             "that was freed before is reported this way, too.");
    } else if (found == block_finding::freed) {
        text.text("a heap block that is already free was ").text(what_for).text(": ").address(block);
        text.text(". Look for a second owner of this block.");
    } else if (found == block_finding::no_begin) {
        text.text("a pointer that is not the start of a block, or whose block is already free, was ").text(what_for);
        return report_misuse(text.view(), block, "Pass what allocate() returned, once; look for a second owner.");
    } else if (found == block_finding::other_form) {
        const block_form from = checked_.form(block, number);
        text.text("a block that was allocated by ").text(name_of_allocation(from));
        text.text(" was freed by ").text(name_of_free(form));
        text.text(": ").address(block).text(". Free it by ");
        text.text(name_of_free(from)).text(".");
    } else if (found == block_finding::written_before) {
        text.text("memory in front of a heap block was overwritten: ").address(block).text(", when it was ");
        text.text(what_for).text(". Look for a write in front of this block, or past the end of the block before it; "
                                 "AddressSanitizer finds the writer.");
    } else {
        text.text("memory past the end of a heap block was overwritten: ").address(block).text(", of at most ");
        text.number(whole_bytes(block, number) - guard_bytes).text(" bytes, when it was ").text(what_for);
        text.text(writer);
    }
    report(report_kind::misuse, text.view());
}

bool heap_core::resize_checked(void* block, std::size_t bytes, std::uint8_t number) noexcept {
    check_alone("resize");
    if (bytes > max_object_bytes / 4 || !check_block(block, number, "resized")) return false;
    const std::size_t asked = std::max<std::size_t>(bytes, 1);
    const std::size_t whole = whole_bytes(block, number);
    platform::unpoison(block, whole);
    const bool is_resized = resize_to(block, asked + guard_bytes, number);
    if (is_resized) return set_canary(block, asked) == block;
    // Restores the previous state: the guard is unchanged, and its bytes become inaccessible again.
    const std::size_t before = asked_or_whole(block, number);
    platform::poison(static_cast<unsigned char*>(block) + before, whole - before);
    return false;
}

/// Returns   false if the block is small and another thread freed it at the same time.
bool heap_core::retire(void* block, std::uint8_t number) noexcept {
    if (number < small_class_count) {
        if (checked_.end(block, number)) return true;
        report_unsound(block, number, block_finding::freed, "freed", block_form::any);
        return false;
    }
    const std::size_t whole = whole_bytes(block, number);
    platform::unpoison(block, whole);
    if (number == huge_class) return true; // goes back to the source at once
    if (has(mitigations_on(), mitigation::fill)) fill_larger(block, whole);
    platform::poison(block, whole);
    return true;
}

/// Reports a size that is not the block's.
/// Returns   false if the block is not sound, which has been reported, too.
bool heap_core::check_size(const void* block, std::size_t bytes) const noexcept {
    if (bytes == unknown_size || !has(mitigations_on(), mitigation::size)) return true;
    if (!guarded_.contains(block) && !fenced_.contains(block) && kind_of_head(block) == head_kind::none) return true;
    // Not by usable_bytes(), whose report would say that the size was queried.
    const bool is_apart =
        is_passthrough(block) || guarded_.contains(block) || zero_.contains(block) || fenced_.contains(block);
    if (checked_.sound_bytes(block) == 0 && !is_apart &&
        !check_block(block, class_number_of(block, slice_number_of(block)), "freed"))
        return false;
    const std::size_t asked = usable_bytes(block);
    if (asked == 0 || asked == std::max<std::size_t>(bytes, 1)) return asked != 0;
    const bool has_canary = !guarded_.contains(block) && !fenced_.contains(block);
    if (has_canary && checked_bytes(block, class_number_of(block, slice_number_of(block))) == canary_overwritten)
        return true; // nobody looks at canaries (mitigation::canary), and the size was behind it
    report_text text;
    text.text("a heap block was freed with size ").number(bytes).text(", but its size is ").number(asked);
    text.text(": ").address(block).text(". Free it with the size that it was allocated with, or without a size.");
    report(report_kind::misuse, text.view());
    return true;
}

void* heap_core::allocate_fenced(const thread_cache* cache, std::size_t bytes, std::size_t alignment,
                                 fill how) noexcept {
    const bool is_of_process = passthrough_form_ == passthrough_form::plain && (cache == nullptr || cache->tag == 0);
    const bool may_fence = bytes > fenced_blocks::least_bytes && is_of_process && memory_.is_plentiful();
    if (!may_fence || !has(mitigations_on(), mitigation::guards) || !memory_.may_use(bytes)) return nullptr;
    void* const block = fenced_.allocate(bytes, alignment, how == fill::zero ? contents::zero : contents::unknown);
    if (block != nullptr) memory_.count_use(bytes);
    return block;
}

void heap_core::deallocate_fenced(void* block) noexcept {
    const std::size_t bytes = fenced_.bytes_of(block);
    const fenced_blocks::finding found = fenced_.deallocate(block);
    if (found == fenced_blocks::finding::freed) {
        memory_.uncount_use(bytes);
        return purge_expired(platform::coarse_ns());
    }
    if (found == fenced_blocks::finding::no_begin)
        return report_unsound(block, huge_class, block_finding::no_begin, "freed", block_form::any);
    report_misuse("memory past the end of a heap block was overwritten", block,
                  "Look for a write past its end; it changed the rest of the block's last page.");
}

bool heap_core::resize_fenced(void* block, std::size_t bytes) noexcept {
    const std::size_t before = fenced_.bytes_of(block);
    if (bytes > before && !memory_.may_use(bytes - before)) return false;
    if (!fenced_.resize(block, bytes)) return false;
    memory_.count_use(bytes);
    memory_.uncount_use(before);
    return true;
}

void heap_core::deallocate_zero(const void* block, std::string_view what_for) noexcept {
    if (zero_.deallocate(block)) return;
    const bool is_begin = is_aligned(block, default_alignment);
    report_unsound(block, huge_class, is_begin ? block_finding::freed : block_finding::no_begin, what_for,
                   block_form::any);
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
