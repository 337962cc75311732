// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds the mallocs on this machine and their versions. For a missing one, the reason names the package to install.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

/// A malloc that is used through LD_PRELOAD, with the file name that the dynamic loader finds.
struct malloc_peer {
    std::string_view name;
    std::string_view file;    ///< "libjemalloc.so.2"
    std::string_view package; ///< in Debian and Ubuntu
};

[[nodiscard]] std::span<const malloc_peer> malloc_peers();

/// A malloc, found or not.
struct found_malloc {
    std::string name;
    std::string library; ///< the file to preload; empty for the C library's own malloc
    std::string version; ///< reported by the malloc itself, or by its package; empty when unknown
    bool found = false;
    std::string reason;       ///< why it is missing: one sentence
    std::string given;        ///< for a file from the command line: the path as given
    bool has_offsets = false; ///< it is not a malloc: it has the functions of offsets/offset_peer.hpp
    contestant_role role = contestant_role::peer;
};

/// The name of the C library's malloc in every table.
inline constexpr std::string_view system_malloc_name = "glibc malloc";

/// The name of our own malloc, preloaded like the peers, in every table.
inline constexpr std::string_view own_malloc_name = "tenure";
/// The name of our hardened malloc, which checks for the caller's mistakes, in every table.
inline constexpr std::string_view own_hardened_name = "tenure hardened";

/// The C library's malloc, ours, then every peer of the table. Each is probed in a process that has it preloaded,
/// exactly as it is when measured.
[[nodiscard]] std::vector<found_malloc> find_mallocs();

/// The path of one of our libraries, found by its file name: beside the command in a build tree, or in the
/// installation's library folder. Empty when it is in neither place.
[[nodiscard]] std::string find_own_library(std::string_view file);

/// One of our libraries for preloading: beside the command in a build tree, or in the installation's library folder.
[[nodiscard]] found_malloc find_own_malloc(std::string_view file);

/// Any file with a malloc or an offset allocator. `found` is false, with the reason, when it does not exist or cannot
/// be used.
[[nodiscard]] found_malloc find_malloc_file(const std::string& path);

/// The version of an installed package; empty when there is no package manager or no such package.
[[nodiscard]] std::string package_version(std::string_view package);

/// The version of a library that contestants call directly: from its headers, otherwise from its package.
[[nodiscard]] std::string version_of(const library_peer& peer);

/// The first word of a probe worker's command line. A probe writes the files that its malloc and operator new come
/// from, and their version.
inline constexpr std::string_view probe_command = "probe-malloc";
int probe_main();

}
