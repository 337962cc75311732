// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Functions of a loaded file by address, for reports: also those that are not exported. Allocates nothing.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// One file, mapped from open() to the next one: the names that find() gives are part of it.
class elf_symbols {
public:
    elf_symbols() noexcept = default;
    ~elf_symbols();
    elf_symbols(const elf_symbols&) = delete;
    elf_symbols& operator=(const elf_symbols&) = delete;

    /// Leaves the file before. A file that cannot be read, or has no table of symbols, has no functions.
    void open(const char* path) noexcept;

    /// Whether the file has the linker's table, and not only the functions that it exports.
    [[nodiscard]] bool has_all() const noexcept { return symbol_count_ != 0 && has_all_; }

    struct symbol {
        std::string_view name;
        std::uint64_t offset; ///< of the address from the function's begin
    };
    /// Finds the function that contains an address of the file, as the linker counted it.
    /// Returns   an empty name if there is none. Cost      O(symbols).
    [[nodiscard]] symbol find(std::uint64_t address) const noexcept;

private:
    void close() noexcept;
    void find_tables() noexcept;
    /// The bytes at an offset of the file; nullptr if they are not all in it.
    [[nodiscard]] const void* bytes_at(std::uint64_t offset, std::uint64_t count) const noexcept;

    const unsigned char* file_ = nullptr;
    std::size_t file_bytes_ = 0;
    const void* symbols_ = nullptr;
    std::size_t symbol_count_ = 0;
    const char* names_ = nullptr;
    std::size_t names_bytes_ = 0;
    bool has_all_ = false;
};

}
