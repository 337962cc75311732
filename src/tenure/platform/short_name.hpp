// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Readable names of C++ functions for reports, without allocation: the runtime's demangler calls malloc, which a
/// report may not do inside the drop-in, in a fault handler or under a lock.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The qualified name of a function without its parameters; "<...>" stands for template arguments, and "{lambda}" for a
/// lambda, behind the function or variable whose initialiser it is in.
/// Returns   the text in `buffer`, truncated to `capacity`; `mangled` itself if it is no mangled name of a function, or
///           one in a form that is not known.
[[nodiscard]] std::string_view short_name(std::string_view mangled, char* buffer, std::size_t capacity) noexcept;

/// Whether a mangled name, or a name of C, is in this library's own namespace or begins as its C functions do.
[[nodiscard]] bool is_own_name(std::string_view mangled) noexcept;

/// Whether a mangled name is of a function of the standard library, which may call one of this library.
[[nodiscard]] bool is_standard_name(std::string_view mangled) noexcept;

/// Whether a mangled name is of operator new or delete of no class.
[[nodiscard]] bool is_global_new_or_delete(std::string_view mangled) noexcept;

/// The number of frames of the library at the begin of a stack: also those of the standard library that it called and
/// that call it, and operator new and delete where they are the library's. `reader` looks at a frame, and then tells
/// its function and whether that is the library's own.
template<class Reader>
[[nodiscard]] std::size_t own_frames(void* const* frames, std::size_t count, Reader& reader) noexcept {
    std::size_t own = 0;
    for (std::size_t index = 0; index < count; ++index) {
        reader.look(frames[index]);
        const std::string_view name = reader.function();
        const bool is_operator = index != 0 && index == own && is_global_new_or_delete(name);
        if (reader.is_own() || is_operator) {
            own = index + 1;
        } else if (!is_standard_name(name)) {
            break;
        }
    }
    return own;
}

}
