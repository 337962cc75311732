// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The unwind tables of the process's code, in the part that call stacks need: how a function's caller had its
/// registers (DWARF 5, section 6.4, as extended by the Linux Standard Base).

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

#if defined(__x86_64__)
constexpr std::size_t unwind_registers = 17; ///< by DWARF's numbers; the last is the return address
constexpr std::size_t unwind_stack_pointer = 7;
#else
constexpr std::size_t unwind_registers = 32; ///< of the 64-bit Arm architecture
constexpr std::size_t unwind_stack_pointer = 31;
#endif

enum class unwind_rule : std::uint8_t {
    same,          ///< the register is unchanged
    undefined,     ///< it is lost; for the return address: there is no caller
    at_offset,     ///< stored at the CFA plus a number
    offset,        ///< is the CFA plus a number
    in_register,   ///< is in another register
    at_expression, ///< stored at the value of an expression
    expression,    ///< is the value of an expression
};

/// How the caller had its registers, for one position in a function. The CFA, the canonical frame address, is the
/// caller's stack pointer at the call.
struct unwind_row {
    std::int64_t values[unwind_registers]; ///< a number, a register, or the address of an expression
    unwind_rule rules[unwind_registers];
    std::uint8_t cfa_register;
    std::int64_t cfa_offset;
    const unsigned char* cfa_expression; ///< nullptr: register plus offset
};

struct unwind_function {
    unwind_row row;
    std::size_t return_column;
    bool is_signal_frame; ///< of the system, around a signal handler: its caller was interrupted, it did not call
    const unsigned char* table;
};

/// Finds the rules for a position. It reads the tables only, never the code or a stack.
/// Returns   false if no loaded object has a table for it, or the table uses what is not known here.
[[nodiscard]] bool find_unwind_rules(std::uintptr_t position, unwind_function& found) noexcept;

/// Reads values that tables encode.
class table_reader {
public:
    explicit table_reader(const void* at) noexcept : at_(static_cast<const unsigned char*>(at)) {}
    [[nodiscard]] const unsigned char* at() const noexcept { return at_; }
    template<class T>
    [[nodiscard]] T next() noexcept {
        T value;
        __builtin_memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    [[nodiscard]] std::uint64_t unsigned_leb() noexcept;
    [[nodiscard]] std::int64_t signed_leb() noexcept;
    void skip(std::uint64_t bytes) noexcept { at_ += bytes; }

private:
    const unsigned char* at_;
};

}
