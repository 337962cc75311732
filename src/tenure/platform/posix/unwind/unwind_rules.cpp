// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/posix/unwind/unwind_rules.hpp>

#include <algorithm>

#include <tenure/base/align.hpp>

// The compiler's runtime finds the table of a function. It does not read the code or the stack. Tables that a compiler
// at run time has registered are found if it uses the same copy of that runtime: the drop-in has one of its own, and
// its stacks end at such code.
extern "C" {
struct tenure_unwind_bases {
    void* text;
    void* data;
    void* function;
};
const void* tenure_find_unwind_table(void* position, tenure_unwind_bases* bases) __asm__("_Unwind_Find_FDE");
}

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// What a function's table shares with others.
struct common_entry {
    const unsigned char* program;
    const unsigned char* program_end;
    std::uint64_t code_unit;
    std::int64_t data_unit;
    std::uint64_t return_column;
    unsigned char pointer_encoding;
    bool has_augmentation, is_signal_frame;
};

/// Returns   zero for an encoding of no fixed size.
[[nodiscard]] std::size_t bytes_of_pointer(unsigned char encoding) noexcept {
    constexpr std::size_t bytes[] = {sizeof(void*), 0, 2, 4, 8, 0, 0, 0};
    constexpr unsigned char aligned = 0x50;
    return encoding == aligned ? 0 : bytes[encoding & 7];
}

[[nodiscard]] bool read_common(const unsigned char* entry, common_entry& found) noexcept {
    table_reader in(entry);
    const auto bytes = in.next<std::uint32_t>();
    if (bytes == 0xFFFF'FFFF) return false;
    found.program_end = entry + sizeof bytes + bytes;
    in.skip(4);
    const auto version = in.next<std::uint8_t>();
    if (version != 1 && version != 3) return false;
    const unsigned char* letters = in.at();
    while (in.next<std::uint8_t>() != 0) {}
    found.has_augmentation = *letters == 'z';
    if (*letters != 'z' && *letters != '\0') return false;
    found.code_unit = in.unsigned_leb();
    found.data_unit = in.signed_leb();
    found.return_column = version == 1 ? in.next<std::uint8_t>() : in.unsigned_leb();
    found.pointer_encoding = 0;
    found.is_signal_frame = false;
    if (found.has_augmentation) {
        const std::uint64_t augmentation_bytes = in.unsigned_leb();
        const unsigned char* const augmentation_end = in.at() + augmentation_bytes;
        for (++letters; *letters != '\0'; ++letters) {
            if (*letters == 'R') {
                found.pointer_encoding = in.next<std::uint8_t>();
            } else if (*letters == 'L') {
                in.skip(1);
            } else if (*letters == 'P') {
                const std::size_t pointer_bytes = bytes_of_pointer(in.next<std::uint8_t>());
                if (pointer_bytes == 0) return false;
                in.skip(pointer_bytes);
            } else if (*letters == 'S') {
                found.is_signal_frame = true;
            } else if (*letters != 'B') { // return addresses are signed, with the second key
                return false;
            }
        }
        in = table_reader(augmentation_end);
    }
    found.program = in.at();
    return found.return_column < unwind_registers;
}

/// Runs the instructions of a table up to a position.
class unwind_program {
public:
    unwind_program(const common_entry& common, std::uintptr_t begin, std::uintptr_t position) noexcept
        : common_(common), at_(begin), position_(position) {}

    /// Returns   false at an instruction that is not known.
    [[nodiscard]] bool run(const unsigned char* begin, const unsigned char* end, unwind_row& row) noexcept {
        table_reader in(begin);
        while (in.at() < end && at_ <= position_) {
            if (!step(in, row)) return false;
        }
        return true;
    }
    void set_initial(const unwind_row& row) noexcept { initial_ = row; }

private:
    static constexpr std::size_t max_remembered = 2; // compilers nest one

    static void set(unwind_row& row, std::uint64_t number, unwind_rule rule, std::int64_t value) noexcept {
        if (number >= unwind_registers) return; // of vectors
        row.rules[number] = rule;
        row.values[number] = value;
    }
    void restore(unwind_row& row, std::uint64_t number) const noexcept {
        if (number < unwind_registers) set(row, number, initial_.rules[number], initial_.values[number]);
    }
    [[nodiscard]] static std::int64_t expression_at(table_reader& in) noexcept {
        const unsigned char* const expression = in.at();
        in.skip(in.unsigned_leb());
        return static_cast<std::int64_t>(address_of(expression));
    }
    [[nodiscard]] static bool set_cfa(unwind_row& row, std::uint64_t number, std::int64_t offset) noexcept {
        row.cfa_register = static_cast<std::uint8_t>(number);
        row.cfa_offset = offset;
        row.cfa_expression = nullptr;
        return number < unwind_registers;
    }
    void advance(std::uint64_t units) noexcept { at_ += units * common_.code_unit; }
    [[nodiscard]] std::int64_t scaled(std::uint64_t offset) const noexcept {
        return static_cast<std::int64_t>(offset) * common_.data_unit;
    }

    [[nodiscard]] bool step(table_reader& in, unwind_row& row) noexcept {
        const auto code = in.next<std::uint8_t>();
        const std::uint64_t low = code & 0x3F;
        switch (code >> 6) {
        case 1: advance(low); return true;
        case 2: set(row, low, unwind_rule::at_offset, scaled(in.unsigned_leb())); return true;
        case 3: restore(row, low); return true;
        default: return low <= 0x0B ? step_simple(low, in, row) : step_other(low, in, row);
        }
    }
    [[nodiscard]] bool step_simple(std::uint64_t code, table_reader& in, unwind_row& row) noexcept {
        switch (code) {
        case 0x00: return true; // padding
        case 0x02: advance(in.next<std::uint8_t>()); return true;
        case 0x03: advance(in.next<std::uint16_t>()); return true;
        case 0x04: advance(in.next<std::uint32_t>()); return true;
        case 0x05: return set_number(in, row, unwind_rule::at_offset);
        case 0x06: restore(row, in.unsigned_leb()); return true;
        case 0x07: set(row, in.unsigned_leb(), unwind_rule::undefined, 0); return true;
        case 0x08: set(row, in.unsigned_leb(), unwind_rule::same, 0); return true;
        case 0x09: {
            const std::uint64_t number = in.unsigned_leb();
            const std::uint64_t other = in.unsigned_leb();
            set(row, number, unwind_rule::in_register, static_cast<std::int64_t>(other));
            return other < unwind_registers;
        }
        case 0x0A:
            if (remembered_count_ == max_remembered) return false;
            remembered_[remembered_count_++] = row;
            return true;
        case 0x0B:
            if (remembered_count_ == 0) return false;
            row = remembered_[--remembered_count_];
            return true;
        default: return false;
        }
    }
    [[nodiscard]] bool step_other(std::uint64_t code, table_reader& in, unwind_row& row) const noexcept {
        switch (code) {
        case 0x0C: {
            const std::uint64_t number = in.unsigned_leb();
            return set_cfa(row, number, static_cast<std::int64_t>(in.unsigned_leb()));
        }
        case 0x0D: return set_cfa(row, in.unsigned_leb(), row.cfa_offset);
        case 0x0E: return set_cfa(row, row.cfa_register, static_cast<std::int64_t>(in.unsigned_leb()));
        case 0x0F:
            row.cfa_expression =
                static_cast<const unsigned char*>(pointer_at(static_cast<std::uintptr_t>(expression_at(in))));
            return true;
        case 0x10: return set_expression(in, row, unwind_rule::at_expression);
        case 0x11: return set_signed(in, row, unwind_rule::at_offset);
        case 0x12: {
            const std::uint64_t number = in.unsigned_leb();
            return set_cfa(row, number, in.signed_leb() * common_.data_unit);
        }
        case 0x13: return set_cfa(row, row.cfa_register, in.signed_leb() * common_.data_unit);
        case 0x14: return set_number(in, row, unwind_rule::offset);
        case 0x15: return set_signed(in, row, unwind_rule::offset);
        case 0x16: return set_expression(in, row, unwind_rule::expression);
        case 0x2D: return true; // Arm: whether the return address is signed; the walk removes every signature
        case 0x2E: (void)in.unsigned_leb(); return true; // bytes of arguments
        default: return false;
        }
    }
    [[nodiscard]] bool set_number(table_reader& in, unwind_row& row, unwind_rule rule) const noexcept {
        const std::uint64_t number = in.unsigned_leb();
        set(row, number, rule, scaled(in.unsigned_leb()));
        return true;
    }
    [[nodiscard]] bool set_signed(table_reader& in, unwind_row& row, unwind_rule rule) const noexcept {
        const std::uint64_t number = in.unsigned_leb();
        set(row, number, rule, in.signed_leb() * common_.data_unit);
        return true;
    }
    [[nodiscard]] static bool set_expression(table_reader& in, unwind_row& row, unwind_rule rule) noexcept {
        const std::uint64_t number = in.unsigned_leb();
        set(row, number, rule, expression_at(in));
        return true;
    }

    const common_entry& common_;
    std::uintptr_t at_;
    const std::uintptr_t position_;
    std::size_t remembered_count_ = 0;
    unwind_row remembered_[max_remembered];
    unwind_row initial_{}; // what the common entry sets
};

}

std::uint64_t table_reader::unsigned_leb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = next<std::uint8_t>();
        if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return value;
    }
}

std::int64_t table_reader::signed_leb() noexcept {
    const unsigned char* const begin = at_;
    const std::uint64_t value = unsigned_leb();
    const auto bits = static_cast<unsigned>(7 * (at_ - begin));
    const bool is_negative = (at_[-1] & 0x40) != 0;
    return static_cast<std::int64_t>(is_negative && bits < 64 ? value | ~std::uint64_t{0} << bits : value);
}

bool find_unwind_rules(std::uintptr_t position, unwind_function& found) noexcept {
    tenure_unwind_bases bases{};
    const auto* const table = static_cast<const unsigned char*>(tenure_find_unwind_table(pointer_at(position), &bases));
    if (table == nullptr) return false;
    table_reader in(table);
    const auto bytes = in.next<std::uint32_t>();
    if (bytes == 0xFFFF'FFFF) return false;
    const unsigned char* const end = in.at() + bytes;
    const unsigned char* const distance_at = in.at();
    common_entry common{};
    if (!read_common(distance_at - in.next<std::int32_t>(), common)) return false;
    const std::size_t pointer_bytes = bytes_of_pointer(common.pointer_encoding);
    if (pointer_bytes == 0) return false;
    in.skip(2 * pointer_bytes); // the begin, which the bases have, and the length
    if (common.has_augmentation) in.skip(in.unsigned_leb());
    found.row = {};
    found.return_column = common.return_column;
    found.is_signal_frame = common.is_signal_frame;
    found.table = table;
    unwind_program program(common, address_of(bases.function), position);
    if (!program.run(common.program, common.program_end, found.row)) return false;
    program.set_initial(found.row);
    return program.run(in.at(), end, found.row);
}

}
