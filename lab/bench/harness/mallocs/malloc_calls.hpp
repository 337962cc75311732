// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Information about this process's malloc, obtained from functions that only that malloc has.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::lab {

/// A malloc family, recognized by a symbol of its own, whatever its file is called. Ours exports no such symbol and is
/// recognized by its file name.
struct malloc_calls {
    std::string_view family;         ///< "jemalloc"
    const char* mark;                ///< a symbol that only this family exports
    std::string (*version)();        ///< nullptr when it has no such function
    std::string_view query;          ///< the call that tells whether a block is its own; empty when there is none
    bool (*owns)(const void* block); ///< nullptr when there is none. Only for blocks that malloc returned
    std::string_view trim_call;      ///< the call that returns memory to the system; empty when there is none
    void (*trim)();                  ///< nullptr when there is none
    bool counts = false;             ///< its mallinfo2 is known to count every block in use
};

/// Prefix of our own malloc's file name, at every check level.
inline constexpr std::string_view own_malloc_prefix = "libtenure_malloc";

/// A library with this function is an offset allocator: see experiments/offsets/offset_peer.hpp.
inline constexpr const char* offset_library_mark = "tenure_offsets_create";

/// The family of this process's malloc, found by symbols. For an unknown malloc, the functions are nullptr.
[[nodiscard]] const malloc_calls& process_malloc_calls();

/// The file whose code runs when this process calls `symbol`; empty when no file exports it.
[[nodiscard]] std::string object_of_symbol(const char* symbol);

/// The C library itself.
[[nodiscard]] std::string c_library_object();

/// Whether two paths refer to the same file.
[[nodiscard]] bool same_file(const std::string& left, const std::string& right);

/// Bytes in use according to mallinfo2: that of a preloaded malloc if it has one, otherwise the C library's; 0 where
/// the C library has none. Allocates nothing.
[[nodiscard]] std::size_t counted_bytes_in_use();

}
