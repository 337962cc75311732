// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which call sites of a program get heap pages of their own: what an advice file says. See
/// docs/design/advice-format.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

inline constexpr std::size_t max_advice_objects = 64, max_advice_sites = 1024, max_site_frames = 4;
inline constexpr std::uint8_t max_separated_classes = 7; ///< numbered from 1
inline constexpr std::uint8_t ordinary_class = 0;        ///< pages that the program's other blocks share
inline constexpr std::size_t max_class_name = 24;
// Limits of the reader inside a program, which allocates nothing.
inline constexpr std::size_t max_advice_line = 4352, max_object_path = 4096, max_build_id_digits = 128;

/// A file with code.
struct advice_object {
    std::string build_id; ///< in hex digits; empty: not known
    std::string path;

    friend bool operator==(const advice_object&, const advice_object&) = default;
};

/// Whether an advice file can name it: its path and its build ID are within the limits.
[[nodiscard]] bool can_be_read(const advice_object& object);

/// A return address, independent of where its file is mapped.
struct advice_frame {
    std::uint32_t object = 0; ///< index in separation::objects
    std::uint64_t offset = 0; ///< in the file, as the mapping says it

    friend bool operator==(const advice_frame&, const advice_frame&) = default;
};

struct advice_class {
    std::uint8_t number = 1;
    std::string name;

    friend bool operator==(const advice_class&, const advice_class&) = default;
};

/// Calls whose innermost frames are these. The longest match of a call decides.
struct advice_site {
    std::uint8_t number = 0;          ///< of its class; ordinary_class: an exception to a shorter site
    std::vector<advice_frame> frames; ///< from the allocation outwards

    friend bool operator==(const advice_site&, const advice_site&) = default;
};

struct separation {
    std::vector<advice_object> objects;
    std::vector<advice_class> classes;
    std::vector<advice_site> sites;

    friend bool operator==(const separation&, const separation&) = default;
};

/// Finds the mappings of a trace's return addresses.
class code_places {
public:
    /// Requires  `recorded` outlives the object.
    explicit code_places(const trace& recorded) : mappings_(recorded.mappings) {}

    struct place {
        const trace_mapping* mapping = nullptr; ///< nullptr: not in the code of a file
        std::uint64_t offset = 0;
    };
    [[nodiscard]] place find(std::uint64_t return_address) const;

private:
    const std::vector<trace_mapping>& mappings_;
};

/// The class of each stack of a trace, which may be of another run: files are recognised by their build IDs, or by
/// their paths where one of both has none.
[[nodiscard]] std::vector<std::uint8_t> classes_of(const trace& recorded, const separation& advised);

/// The site that decides each stack's class: an index in separation::sites, or no_site.
inline constexpr std::uint32_t no_site = 0xFFFFFFFF;
[[nodiscard]] std::vector<std::uint32_t> sites_of(const trace& recorded, const separation& advised);

}
