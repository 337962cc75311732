// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A contiguous array with one owner, as large as the machine's memory or as a file.
///
/// Use it for     thousands of millions of numbers or plain structures.
/// Not for        small arrays: buffer/safe_array.hpp.
/// Memory from    the process heap, which requests huge pages, or a file: what exceeds the machine's memory stays on
///                disk.
/// Cost           the first touch of each page, in steps of 2 MiB with huge pages; element access as in
///                buffer/safe_array.hpp.
/// Overhead       one page per array, and 60 bytes for its handle.
/// Threads        one at a time for the owner; any for leases. The array does not synchronize element accesses.
/// Fork           usable in the child; a mapped file is shared with the parent.
/// When full      make() and map_file() return an empty array that is not live. A full disk faults (SIGBUS) at the
///                first touch.
/// Example        examples/handles.cpp

#include <cstddef>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/safe_array.hpp>
#include <tenure/handle/handle_memory.hpp>

namespace tenure::inline TENURE_ABI {

template<plain_element T>
class huge_array : private safe_array<T> {
    using base = safe_array<T>;

public:
    using typename base::value_type;

    huge_array() noexcept = default;

    /// Default options of make(): requests 2 MiB pages.
    [[nodiscard]] static constexpr held_options huge_pages() noexcept {
        held_options options;
        options.pages = page_size::huge;
        options.kind = "huge_array";
        return options;
    }

    /// Allocates `count` elements, all zero unless the options say otherwise.
    [[nodiscard]] static huge_array make(std::size_t count, held_options options = huge_pages()) noexcept {
        return huge_array(base::make(count, options));
    }

    /// Maps the first `count` elements of a file. platform/file_map.hpp says how the file changes, and what a `path` of
    /// nullptr means. `why` gets the reason for a failure.
    [[nodiscard]] static huge_array map_file(const char* path, std::size_t count, status* why = nullptr) noexcept {
        huge_array made;
        handle memory;
        status how = status::out_of_memory;
        if (count <= max_object_bytes / sizeof(T)) how = map_held(path, count * sizeof(T), "huge_array", memory);
        if (why != nullptr) *why = how;
        if (how == status::ok) made.base::adopt(memory, count);
        return made;
    }

    using base::as_handle;
    using base::begin;
    using base::buffer;
    using base::deallocate;
    using base::empty;
    using base::end;
    using base::holders;
    using base::is_live;
    using base::lease;
    using base::size;
    using base::span;
    using base::try_at;
    using base::operator bool;
    using base::operator[];

private:
    explicit huge_array(base&& made) noexcept : base(std::move(made)) {}
};

}
