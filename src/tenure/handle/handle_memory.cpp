// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/handle_memory.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/file_map.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

/// Of the whole huge pages inside a block: what lies around them may be others'.
void ask_for_huge_pages(void* memory, std::size_t bytes) noexcept {
    std::size_t const page = platform::huge_page_bytes();
    if (page == 0 || bytes < page) return;
    std::uintptr_t const first = align_up(address_of(memory), page);
    std::uintptr_t const last = align_down(address_of(memory) + bytes, page);
    if (first < last) platform::huge_pages(pointer_at(first), last - first);
}

[[nodiscard]] status entered(void* memory, std::size_t bytes, handle_releaser releaser, const char* kind,
                             handle& made) noexcept {
    handle const fresh = handle_table::process().add(memory, bytes, releaser, kind);
    if (fresh.entry == 0) return status::out_of_memory;
    made = fresh;
    return status::ok;
}

}

void give_held(void* memory, std::size_t bytes) noexcept {
    // The begin of it alone where it is huge: pages that were never touched are to stay so.
    constexpr std::size_t most_filled_bytes = std::size_t{64} << 20;
    bool const is_to_be_filled = checks::caller || option_value(option::buffer_fill) != 0;
    if (is_to_be_filled) std::memset(memory, freed_fill, std::min(bytes, most_filled_bytes));
    detail::process_deallocate(memory);
}

status allocate_held(std::size_t bytes, held_options options, handle& made) noexcept {
    if (!is_power_of_two(options.alignment)) return status::invalid_argument;
    if (bytes > max_object_bytes) return status::out_of_memory;
    bool const wants_huge = options.pages == page_size::huge;
    // Pages that are asked for before they are touched; zeros that were promised come with them.
    void* const memory = options.how == fill::none ? detail::process_allocate(bytes, options.alignment)
                                                   : heap::process().allocate(bytes, options.alignment, options.how);
    if (memory == nullptr) return status::out_of_memory;
    if (wants_huge) ask_for_huge_pages(memory, bytes);
    handle_releaser const releaser = options.releaser != nullptr ? options.releaser : &give_held;
    char const* const kind = options.kind != nullptr ? options.kind : "memory";
    status const how = entered(memory, bytes, releaser, kind, made);
    if (how != status::ok) give_held(memory, bytes);
    return how;
}

status map_held(const char* path, std::size_t bytes, const char* kind, handle& made) noexcept {
    if (bytes == 0) return status::invalid_argument;
    status why = status::ok;
    void* const memory = platform::map_file(path, bytes, why);
    if (memory == nullptr) return why;
    why = entered(memory, bytes, &platform::unmap_file, kind, made);
    if (why != status::ok) platform::unmap_file(memory, bytes);
    return why;
}

}
