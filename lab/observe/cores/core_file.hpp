// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A core file (ELF, 64 bits): the memory of a process that was written when it ended, or by a debugger. The file may
/// be damaged, cut off, or made by somebody else: each number in it is checked before it is used.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "observe/cores/core_bytes.hpp"

namespace tenure::lab {

/// Why a core file is refused, as a sentence without the file's name. It leaves no function of core_profile.hpp.
class core_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Addresses of the process that have one kind of contents.
struct core_part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;                ///< of what the file contains
    std::uint64_t memory_end = 0;         ///< behind `end` the file has nothing
    std::uint64_t file_at = 0;            ///< where `begin` is in the core file
    std::uint32_t rights = 0;             ///< PF_R, PF_W, PF_X
    std::vector<std::uint64_t> touched{}; ///< a bit for each OS page with a byte that is not zero
};

/// A file that was mapped.
struct core_mapping {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t file_offset = 0; ///< of `begin`
    std::string path;
};

class core_file {
public:
    using file_opener = std::function<opened_bytes(const std::string& path)>;

    /// Reads what the file says of itself. `program`: the program's file, where it is elsewhere than when it ran;
    /// empty: where it was. `open`: opens mapped files, whose contents are not in the core.
    /// Throws    core_error
    core_file(std::unique_ptr<core_bytes> bytes, const std::string& program, file_opener open);

    [[nodiscard]] const std::vector<core_part>& parts() const { return parts_; }          ///< by address
    [[nodiscard]] const std::vector<core_mapping>& mappings() const { return mappings_; } ///< by address
    /// Build IDs in hex digits, by the address at which the file is mapped.
    [[nodiscard]] const std::map<std::uint64_t, std::string>& builds() const { return builds_; }
    [[nodiscard]] std::uint32_t process() const { return process_; }
    [[nodiscard]] const std::string& arguments() const { return arguments_; } ///< separated by blanks; may be cut off

    /// Copies memory of the process.
    /// Throws    core_error when it is not all known
    void read(std::uint64_t address, void* to, std::size_t count) const;
    [[nodiscard]] std::string read(std::uint64_t address, std::uint64_t count) const;
    [[nodiscard]] std::uint64_t number(std::uint64_t address, std::size_t count) const;
    [[nodiscard]] std::uint64_t word(std::uint64_t address) const { return number(address, 8); }

    /// Finds the pages with contents other than zeros. Reads all of the file.
    void find_touched();
    /// Calls `visit(address, bytes)` for the touched parts of a range. Returns   the pages that were looked at.
    /// Requires  find_touched(); both ends are multiples of the OS page.
    std::uint64_t for_each_touched(std::uint64_t begin, std::uint64_t end,
                                   const std::function<void(std::uint64_t, std::uint64_t)>& visit) const;
    [[nodiscard]] bool is_touched(std::uint64_t address) const;
    [[nodiscard]] const core_part* part_of(std::uint64_t address) const;
    [[nodiscard]] const core_mapping* mapping_of(std::uint64_t address) const;
    /// OS pages whose contents the file has.
    [[nodiscard]] std::uint64_t page_count() const { return page_count_; }

private:
    struct mapped_file;

    void read_parts();
    void read_notes(std::uint64_t at, std::uint64_t bytes);
    void read_mapped_files(const std::string& note);
    void read_builds();
    void replace_program(const std::string& program);
    [[nodiscard]] bool read_from_mapped_file(std::uint64_t address, void* to, std::size_t count) const;

    std::unique_ptr<core_bytes> bytes_;
    file_opener open_;
    std::vector<core_part> parts_;
    std::vector<core_mapping> mappings_;
    std::map<std::uint64_t, std::string> builds_;
    std::uint64_t page_count_ = 0;
    std::uint64_t entry_ = 0; ///< an address of the program's own code; zero: not known
    std::uint32_t process_ = 0;
    std::string arguments_;
    mutable std::map<std::string, std::unique_ptr<core_bytes>> opened_; ///< nullptr: not to be read
};

}
