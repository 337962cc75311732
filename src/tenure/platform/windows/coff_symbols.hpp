// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// coff_symbols: names of functions from the symbol table of a program or library that GCC or Clang has linked.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Maps the file to read, and allocates nothing.
class coff_symbols {
public:
    struct symbol {
        std::string_view name; ///< as the compiler writes it; empty: unknown. It is valid until the next open()
        std::uint64_t offset = 0;
    };

    coff_symbols() noexcept = default;
    ~coff_symbols() { close(); }
    coff_symbols(const coff_symbols&) = delete;
    coff_symbols& operator=(const coff_symbols&) = delete;

    /// Instead of the file before. A file that cannot be read has no symbols.
    void open(std::string_view path) noexcept;

    /// The function that contains an address, counted from the begin of the module. Cost      O(symbols).
    [[nodiscard]] symbol find(std::uintptr_t offset_in_module) noexcept;

    /// Where the linker has placed the file.
    [[nodiscard]] std::uintptr_t preferred_begin() const noexcept { return preferred_begin_; }
    [[nodiscard]] bool has_any() const noexcept { return symbol_count_ != 0; }

private:
    void close() noexcept;
    [[nodiscard]] bool read_headers() noexcept;
    [[nodiscard]] std::string_view name_of(const IMAGE_SYMBOL& of) noexcept;

    const unsigned char* file_ = nullptr;
    std::size_t bytes_ = 0;
    const IMAGE_SECTION_HEADER* sections_ = nullptr;
    std::size_t section_count_ = 0;
    const unsigned char* symbols_ = nullptr;
    std::size_t symbol_count_ = 0;
    std::string_view strings_;
    std::uintptr_t preferred_begin_ = 0;
    char short_name_[9] = {};
};

}
