// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layout of the heap's records that the library carries (base/debug_layout.hpp), found in a core file. It needs no
/// symbols, and the core file may be of another release than this command.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/base/debug_layout.hpp>

#include "observe/cores/core_file.hpp"

namespace tenure::lab {

class core_layout {
public:
    /// Throws    core_error when it is damaged, or of another version
    core_layout(const core_file& core, std::uint64_t address);

    /// The addresses of all layouts: one for each copy of the library in the process.
    [[nodiscard]] static std::vector<std::uint64_t> find(const core_file& core);

    [[nodiscard]] const core_file& core() const { return core_; }
    /// The offset `record.member`, or another number that the library tells.
    /// Throws    core_error when it does not tell it
    [[nodiscard]] std::uint64_t operator[](std::string_view name) const;
    [[nodiscard]] std::uint64_t root(std::string_view name) const;
    [[nodiscard]] const std::vector<debug_layout::size_class>& classes() const { return classes_; }

    /// The member `name` of a record.
    [[nodiscard]] std::uint64_t word(std::uint64_t record, std::string_view name) const;
    [[nodiscard]] std::uint64_t number(std::uint64_t record, std::string_view name, std::size_t bytes) const;
    /// The addresses of the records of a linked list, from the one on that `first` is the address of.
    /// Throws    core_error when it has no end
    [[nodiscard]] std::vector<std::uint64_t> list(std::uint64_t first, std::string_view next,
                                                  std::string_view what) const;

private:
    const core_file& core_;
    std::map<std::string, std::uint64_t, std::less<>> facts_, roots_;
    std::vector<debug_layout::size_class> classes_;
};

/// A copy of a record's bytes, of which members are read by their offsets.
class record_bytes {
public:
    explicit record_bytes(std::string bytes) : bytes_(std::move(bytes)) {}

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    /// Throws    core_error past the end
    [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t count) const;

private:
    std::string bytes_;
};

}
