// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/block_source.hpp>

#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>

namespace tenure::inline TENURE_ABI {

bool block_source::extend(void*, std::size_t, std::size_t) noexcept { return false; }

bool block_source::is_zeroed() const noexcept { return false; }

void* block_source::remap(void*, std::size_t, std::size_t, std::size_t) noexcept { return nullptr; }

bool block_source::decommit(void*, std::size_t) noexcept { return false; }

bool block_source::shrink(void*, std::size_t, std::size_t) noexcept { return false; }

std::size_t block_source::max_bytes() const noexcept { return max_object_bytes; }

namespace {

void report_misaligned(const void* block, std::size_t alignment) noexcept {
    report_text advice;
    advice.text("The block is returned to its source. Make acquire() and remap() return a multiple of ");
    advice.number(alignment).text(", the requested alignment.");
    report_misuse(detail::ignored_alignment, block, advice.view());
}

}

bool detail::has_alignment(const void* block, std::size_t alignment) noexcept {
    if (is_aligned(block, alignment)) [[likely]]
        return true;
    if constexpr (checks::caller) report_misaligned(block, alignment);
    return false;
}

void* detail::acquire_aligned(block_source& source, std::size_t bytes, std::size_t alignment) noexcept {
    void* const block = source.acquire(bytes, alignment);
    if (block == nullptr || has_alignment(block, alignment)) return block;
    source.release(block, bytes);
    return nullptr;
}

void* detail::misaligned_block::acquire(block_source& source, std::size_t bytes, std::size_t alignment) noexcept {
    void* const block = source.acquire(bytes, alignment);
    if (is_aligned(block, alignment)) [[likely]]
        return block; // also nullptr
    source.release(block, bytes);
    alignment_.store(alignment, std::memory_order_relaxed);
    at_.store(address_of(block), std::memory_order_release);
    return nullptr;
}

void detail::misaligned_block::write() noexcept {
    const std::uintptr_t at = at_.exchange(0, std::memory_order_acquire);
    if (at != 0) report_misaligned(pointer_at(at), alignment_.load(std::memory_order_relaxed)); // else already reported
}

}
