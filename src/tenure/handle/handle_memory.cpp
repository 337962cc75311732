// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/handle_memory.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/file_map.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/resident.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

/// For the whole huge pages inside a block: the memory around them may belong to other blocks.
void ask_for_huge_pages(void* memory, std::size_t bytes) noexcept {
    const std::size_t page = platform::huge_page_bytes();
    if (page == 0 || bytes < page) return;
    const std::uintptr_t first = align_up(address_of(memory), page);
    const std::uintptr_t last = align_down(address_of(memory) + bytes, page);
    if (first < last) platform::huge_pages(pointer_at(first), last - first);
}

/// When malloc serves the heap, only calloc knows which pages the system has zeroed, but calloc has no alignment. So
/// from this size on, memory is cut out of a larger block, whose start is stored in front of it. The option may change
/// until the memory is freed, so the handle's releaser remembers. A releaser of the caller's own ends in
/// deallocate_held(), which does not know.
[[nodiscard]] bool is_to_be_cut_out(std::size_t bytes, const held_options& options) noexcept {
    constexpr std::size_t least_bytes = std::size_t{1} << 20;
    return bytes >= least_bytes && options.releaser == nullptr && passthrough_enabled(part::heap);
}

[[nodiscard]] void** begin_noted_at(void* memory) noexcept { return static_cast<void**>(memory) - 1; }

[[nodiscard]] void* cut_out(std::size_t bytes, std::size_t alignment, fill how) noexcept {
    const std::size_t aligned_to = std::max(alignment, default_alignment);
    if (aligned_to > max_object_bytes - bytes) return nullptr;
    void* const begin = heap::process().allocate(bytes + aligned_to, default_alignment, how);
    if (begin == nullptr) return nullptr;
    void* const memory = pointer_at(align_up(address_of(begin) + sizeof(void*), aligned_to));
    *begin_noted_at(memory) = begin;
    return memory;
}

void overwrite_freed(void* memory, std::size_t bytes) noexcept {
    // Only the start of a huge block: pages that were never touched must stay untouched.
    constexpr std::size_t max_filled_bytes = std::size_t{64} << 20;
    const std::size_t filled_bytes = std::min(bytes, max_filled_bytes);
    constexpr std::size_t max_filled_unseen = std::size_t{64} * 1024; // filling this much costs less than asking
    if (option_value(option::buffer_fill) != 0 || (checks::caller && bytes <= max_filled_unseen)) {
        std::memset(memory, freed_fill, filled_bytes);
    } else if constexpr (checks::caller) {
        platform::for_each_resident(memory, filled_bytes,
                                    [](void* part, std::size_t size) { std::memset(part, freed_fill, size); });
    }
}

void deallocate_cut_out(void* memory, std::size_t bytes) noexcept {
    overwrite_freed(memory, bytes);
    detail::process_deallocate(*begin_noted_at(memory));
}

[[nodiscard]] status entered(void* memory, std::size_t bytes, handle_releaser releaser, const char* kind,
                             handle& made) noexcept {
    const handle fresh = handle_table::process().add(memory, bytes, releaser, kind);
    if (fresh.entry == 0) return status::out_of_memory;
    made = fresh;
    return status::ok;
}

}

void deallocate_held(void* memory, std::size_t bytes) noexcept {
    overwrite_freed(memory, bytes);
    detail::process_deallocate(memory);
}

status allocate_held(std::size_t bytes, held_options options, handle& made) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("with a handle", bytes);
    check_alignment("A handle", options.alignment);
    if (!is_power_of_two(options.alignment)) return status::invalid_argument;
    if (bytes > max_object_bytes) return status::out_of_memory;
    const bool wants_huge = options.pages == page_size::huge;
    // Huge pages are requested before the first touch; promised zeros come with the pages.
    void* memory = nullptr;
    const bool is_cut_out = is_to_be_cut_out(bytes, options);
    if (is_cut_out)
        memory = cut_out(bytes, options.alignment, options.how);
    else if (options.how == fill::none)
        memory = detail::process_allocate(bytes, options.alignment);
    else
        memory = heap::process().allocate(bytes, options.alignment, options.how);
    if (memory == nullptr) return status::out_of_memory;
    if (wants_huge) ask_for_huge_pages(memory, bytes);
    const handle_releaser giver = is_cut_out ? &deallocate_cut_out : &deallocate_held;
    const handle_releaser releaser = options.releaser != nullptr ? options.releaser : giver;
    const char* const kind = options.kind != nullptr ? options.kind : "memory";
    const status how = entered(memory, bytes, releaser, kind, made);
    if (how != status::ok) giver(memory, bytes);
    return how;
}

status map_held(const char* path, std::size_t bytes, const char* kind, handle& made) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of a file with a handle", bytes);
    if (bytes == 0) return status::invalid_argument;
    platform::mapped_file file(path, bytes);
    if (file.memory() == nullptr) return file.why();
    const status how = entered(file.memory(), bytes, &platform::unmap_file, kind, made);
    if (how == status::ok) file.keep();
    return how;
}

}
