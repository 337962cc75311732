// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes an allocator's statistics piece by piece without allocating, as text or as a JSON object.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

enum class usage_form : std::uint8_t { text, json };

namespace detail {

/// Receives the pieces.
struct usage_writer {
    usage_form form;
    void (*function)(void* context, std::string_view piece);
    void* context;
    void operator()(std::string_view piece) const { function(context, piece); }
};

struct usage_figure {
    std::string_view key;   ///< in JSON
    std::string_view words; ///< in text
    std::size_t value;
    bool is_bytes;
};

/// Writes `kind name`, or `{"name": "name"`, and then the figures. The JSON object stays open for further members: the
/// caller closes it with "}\n". The name may contain any bytes: JSON output escapes them, and text output shows control
/// characters as question marks. UTF-8 is written unchanged.
void write_figures(const usage_writer& write, std::string_view kind, std::string_view name,
                   std::span<const usage_figure> figures);

}

}
