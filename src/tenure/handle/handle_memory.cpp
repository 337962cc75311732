// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/handle_memory.hpp>

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/file_map.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

void give_to_heap(void* memory, std::size_t bytes) noexcept {
    if (checks::caller || option_value(option::buffer_fill) != 0) std::memset(memory, freed_fill, bytes);
    detail::process_deallocate(memory);
}

/// Gives memory that has no handle back, with the reason why it got none.
[[nodiscard]] status entered(void* memory, std::size_t bytes, handle_releaser releaser, const char* kind,
                             handle& made) noexcept {
    handle const fresh = handle_table::process().add(memory, bytes, releaser, kind);
    if (fresh.entry == 0) {
        releaser(memory, bytes);
        return status::out_of_memory;
    }
    made = fresh;
    return status::ok;
}

}

status allocate_held(std::size_t bytes, std::size_t alignment, fill how, const char* kind, handle& made) noexcept {
    if (!is_power_of_two(alignment)) return status::invalid_argument;
    if (bytes > max_object_bytes) return status::out_of_memory;
    void* const memory = how == fill::none ? detail::process_allocate(bytes, alignment)
                                           : heap::process().allocate(bytes, alignment, how);
    if (memory == nullptr) return status::out_of_memory;
    return entered(memory, bytes, &give_to_heap, kind, made);
}

status map_held(const char* path, std::size_t bytes, const char* kind, handle& made) noexcept {
    if (bytes == 0) return status::invalid_argument;
    status why = status::ok;
    void* const memory = platform::map_file(path, bytes, why);
    if (memory == nullptr) return why;
    return entered(memory, bytes, &platform::unmap_file, kind, made);
}

}
