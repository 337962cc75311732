// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile that a process has saved (base/profile_format.hpp), read and checked. The file may be damaged, cut
/// off, or made by somebody else: each number in it is checked before it is used.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/base/profile_format.hpp>

namespace tenure::lab {

constexpr std::uint64_t max_profile_bytes = std::uint64_t{4} << 30U; ///< of a file; larger ones are refused

/// A range of the process's addresses, with the file that is mapped there.
struct profile_mapping {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t file_offset = 0; ///< of `begin`
    std::string path;              ///< empty or "[heap]": no file
    bool is_code = false;
    std::string build_id; ///< of the file, in hex digits; empty: not known
};

/// A range of the process's addresses, with what of it is in memory.
struct resident_mapping {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t resident_bytes = 0;
    std::string name; ///< of the file, or "[heap]", "[stack]", …; empty: none
};

/// Of a profile that was made from a core file.
struct core_facts {
    bool is_set = false;
    bool has_stacks = false;          ///< a profile was being recorded
    std::vector<std::string> unknown; ///< what the core file does not tell, in sentences
};

struct saved_profile {
    profile_format::file_header header{};
    std::vector<profile_format::site> sites;
    std::vector<std::uint64_t> frames;
    std::vector<profile_format::live_sample> live;
    std::vector<profile_format::size_class> classes;
    std::vector<profile_format::size_class> classes_before; ///< empty: not known
    std::vector<profile_mapping> mappings;                  ///< by address
    // What the heap's pages are used for: empty unless the file was saved with pages.
    std::vector<profile_format::page_run> pages; ///< by address; no two overlap
    std::vector<profile_format::cached_blocks> cached;
    std::string malloc_file; ///< the file of the program's own malloc, whose pages these are; empty: Tenure's heap
    std::vector<resident_mapping> memory;
    core_facts from_core;
    std::map<std::uint32_t, std::string> tags;
    std::vector<std::string> arguments; ///< the command line
    std::string error;                  ///< empty when all else is valid; otherwise a sentence, without the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
    [[nodiscard]] bool has_pages() const { return !pages.empty() || !malloc_file.empty() || from_core.is_set; }
    /// "server", or "process 1234" if the command line is not known.
    [[nodiscard]] std::string program() const;
    /// The mapping of an address; nullptr when there is none.
    [[nodiscard]] const profile_mapping* mapping_of(std::uint64_t address) const;
};

[[nodiscard]] saved_profile read_profile(std::string_view bytes);

/// Reads a file. `error` then begins with its name.
[[nodiscard]] saved_profile load_profile(const std::string& path);

/// A sum of estimates: their blocks, bytes and variances add up, because blocks are sampled independently.
void add(profile_format::estimate& to, const profile_format::estimate& from);

/// The probability with which a block of this size is sampled.
[[nodiscard]] double chance_of(std::uint64_t block_bytes, std::uint64_t mean_bytes);

}
