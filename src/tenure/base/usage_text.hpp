// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Figures of an allocator, written in pieces and without allocating: lines for people, or an object of JSON.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

enum class usage_form : std::uint8_t { text, json };

namespace detail {

/// Takes the pieces.
struct usage_writer {
    usage_form form;
    void (*function)(void* context, std::string_view piece);
    void* context;
    void operator()(std::string_view piece) const { function(context, piece); }
};

struct usage_figure {
    std::string_view key;   ///< in JSON
    std::string_view words; ///< for people
    std::size_t value;
    bool is_bytes;
};

/// `kind name`, or `{"name": "name"`, and the figures. JSON is left open for more: whoever is done writes "}\n".
/// The name may have anything in it: JSON escapes it; for people, controls are question marks. UTF-8 stays as it is.
void write_figures(const usage_writer& write, std::string_view kind, std::string_view name,
                   std::span<const usage_figure> figures);

}

}
