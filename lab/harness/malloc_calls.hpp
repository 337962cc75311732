// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the malloc of this process says about itself, through functions that only it has.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::lab {

/// A malloc that is known by a symbol of its own, whatever the name of its file; our own, which exports none, by that
/// name.
struct malloc_calls {
    std::string_view family;         ///< "jemalloc"
    const char* mark;                ///< a symbol that only this family exports
    std::string (*version)();        ///< null: it has no call for it
    std::string_view query;          ///< how it is asked whether a block is its own; empty: it cannot be asked
    bool (*owns)(const void* block); ///< null: it cannot be asked. Only for blocks that malloc returned
    std::string_view trim_call;      ///< how it is asked to give memory back; empty: it cannot be asked
    void (*trim)();                  ///< null: it cannot be asked
    bool counts = false;             ///< its mallinfo2 is known to count every block that is in use
};

/// What the file of our own malloc, of whatever check level, begins with.
inline constexpr std::string_view own_malloc_prefix = "libtenure_malloc";

/// A library that has this function hands out offsets: experiments/offset_peer.hpp.
inline constexpr const char* offset_library_mark = "tenure_offsets_create";

/// The one that serves this process: found by symbols. Never null; a malloc that nobody knows answers with nulls.
[[nodiscard]] const malloc_calls& process_malloc_calls();

/// The file whose code runs when this process calls `symbol`; empty when nobody exports it.
[[nodiscard]] std::string object_of_symbol(const char* symbol);

/// The C library itself.
[[nodiscard]] std::string c_library_object();

/// Whether two names lead to one file.
[[nodiscard]] bool same_file(const std::string& left, const std::string& right);

/// Bytes given out, as mallinfo2 says: that of a preloaded malloc which has one, else the C library's own. Allocates
/// nothing.
[[nodiscard]] std::size_t counted_bytes_in_use();

}
