// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The mallocs that are found on this machine, with their versions; what is missing is named with what would bring it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/experiment.hpp"

namespace tenure::lab {

/// A malloc that comes in by LD_PRELOAD, by the name under which the dynamic loader finds it.
struct malloc_peer {
    std::string_view name;
    std::string_view file;    ///< "libjemalloc.so.2"
    std::string_view package; ///< Debian's and Ubuntu's
};

[[nodiscard]] std::span<const malloc_peer> malloc_peers();

/// A malloc, found or not.
struct found_malloc {
    std::string name;
    std::string library; ///< what is preloaded; empty: the C library's own malloc
    std::string version; ///< as it says itself, or as its package says; empty when nobody says
    bool found = false;
    std::string reason;       ///< why it is missing: one sentence
    std::string given;        ///< a file from the command line: as it was given there
    bool has_offsets = false; ///< it is no malloc: it has the functions of experiments/offset_peer.hpp
};

/// The name of the C library's malloc in every table.
inline constexpr std::string_view system_malloc_name = "glibc malloc";

/// The name of our own malloc, preloaded like the peers, in every table.
inline constexpr std::string_view own_malloc_name = "tenure";
/// The same with the caller's mistakes checked: what that costs.
inline constexpr std::string_view own_hardened_name = "tenure hardened";
[[nodiscard]] constexpr bool is_own_malloc(std::string_view name) {
    return name == own_malloc_name || name == own_hardened_name;
}

/// The C library's, our own, then every peer of the table. Each is asked in a process that has it preloaded, exactly as
/// it will be when it is measured.
[[nodiscard]] std::vector<found_malloc> find_mallocs();

/// A library of ours, by its file's name: beside the command in a build tree, where libraries lie once installed. Empty
/// when it is in neither place.
[[nodiscard]] std::string find_own_library(std::string_view file);

/// A library of ours that is to be preloaded: beside the command in a build tree, where libraries lie once installed.
[[nodiscard]] found_malloc find_own_malloc(std::string_view file);

/// Any file with a malloc in it, or an allocator of offsets. `found` is false, with the reason, when it is not there or
/// cannot be used.
[[nodiscard]] found_malloc find_malloc_file(const std::string& path);

/// The version of an installed package; empty when there is no package manager, or no such package.
[[nodiscard]] std::string package_version(std::string_view package);

/// The version of a library that contestants call directly: from its headers, else from its package.
[[nodiscard]] std::string version_of(const library_peer& peer);

/// The first word of a probing worker's command line, and what it then does: it writes which files its malloc and
/// operator new come from, and their version.
inline constexpr std::string_view probe_command = "probe-malloc";
int probe_main();

}
