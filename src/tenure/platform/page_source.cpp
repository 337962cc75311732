// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/page_source.hpp>

#include <tenure/base/align.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constinit page_source ordinary_pages{page_size::ordinary};

/// Hooks are told of blocks whose source is asked by another part than a heap.
void note_begin(const void* block, std::size_t bytes) noexcept {
    if (detail::tells_blocks() && detail::untold_source::is_told()) [[unlikely]]
        detail::tell_block_begin(block, bytes);
}
void note_end(const void* block) noexcept {
    if (detail::tells_blocks() && detail::untold_source::is_told()) [[unlikely]]
        detail::tell_block_end(block);
}
/// The block has another size at its address.
void note_size(const void* block, std::size_t bytes) noexcept {
    note_end(block);
    note_begin(block, bytes);
}

/// Rounds up to whole OS pages; zero when `bytes` is larger than any object.
std::size_t whole_pages(std::size_t bytes) noexcept {
    return bytes > max_object_bytes ? 0 : align_up(bytes, platform::page_bytes());
}

}

page_source& page_source::process() noexcept { return ordinary_pages; }

void* page_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t size = whole_pages(bytes);
    if (size == 0) return nullptr;
    const std::size_t huge = platform::huge_page_bytes();
    const bool wants_huge = pages_ == page_size::huge && huge != 0 && size >= huge;
    void* const block = platform::map(size, wants_huge && alignment < huge ? huge : alignment);
    if (block != nullptr && wants_huge) platform::huge_pages(block, size);
    note_begin(block, size);
    return block;
}

void page_source::release(void* block, std::size_t bytes) noexcept {
    note_end(block); // before another thread can have it
    platform::unreserve(block, whole_pages(bytes));
}

bool page_source::extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes <= old_bytes) return new_bytes == old_bytes;
    const std::size_t size = whole_pages(new_bytes);
    if (size == 0 || !platform::extend(block, whole_pages(old_bytes), size)) return false;
    const std::size_t huge = platform::huge_page_bytes();
    if (pages_ == page_size::huge && huge != 0 && size >= huge) platform::huge_pages(block, size); // it may be new
    note_size(block, size);
    return true;
}

void* page_source::remap(void* block, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    const std::size_t size = whole_pages(new_bytes);
    if (size == 0) return nullptr;
    note_end(block);
    void* const moved = platform::remap(block, whole_pages(old_bytes), size, alignment);
    moved != nullptr ? note_begin(moved, size) : note_begin(block, whole_pages(old_bytes));
    return moved;
}

bool page_source::shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    const std::size_t kept = whole_pages(new_bytes), before = whole_pages(old_bytes);
    if (kept == before) return true;
    platform::unreserve(pointer_at(address_of(block) + kept), before - kept);
    note_size(block, kept);
    return true;
}

bool page_source::decommit(void* part, std::size_t bytes) noexcept {
    const std::uintptr_t first = align_up(address_of(part), platform::page_bytes());
    const std::uintptr_t last = align_down(address_of(part) + bytes, platform::page_bytes());
    return first < last && platform::decommit(pointer_at(first), last - first);
}

}
