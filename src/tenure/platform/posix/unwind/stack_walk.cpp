// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <ucontext.h>

#include <cerrno>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/platform/fault.hpp>
#include <tenure/platform/posix/unwind/unwind_cache.hpp>
#include <tenure/platform/posix/unwind/unwind_rules.hpp>
#include <tenure/platform/readable.hpp>

// Call stacks by the unwind tables, as the compiler's runtime reads them, but on any stack. The runtime reads the code
// at a return address that it has no table for, and the slots that a table names, wherever they are. At the bottom of a
// coroutine's stack both may be anything. Here a return address without a table ends the walk, and memory is read only
// after the system has said that it can be read.

namespace tenure::inline TENURE_ABI::host {

namespace {

using platform::table_reader;
using platform::unwind_cache;
using platform::unwind_function;
using platform::unwind_registers;
using platform::unwind_rule;
using platform::unwind_stack_pointer;
using platform::unwind_step;

/// Reads words of memory that may not be there.
class careful_reader {
public:
    explicit careful_reader(readable_span& known) noexcept : known_(known) {}

    /// Returns   false if the word cannot be read.
    [[nodiscard]] bool read(std::uintptr_t address, std::uint64_t& value) noexcept {
        if (address % sizeof value != 0) return false;
        if (address - known_.begin >= known_.end - known_.begin && !learn(address)) return false;
        value = load(pointer_at(address));
        return true;
    }

private:
    /// Sanitizers know only of accesses by the program's own code.
    [[nodiscard]] __attribute__((noinline, no_sanitize_address, no_sanitize_thread)) static std::uint64_t
    load(const void* at) noexcept {
        return *static_cast<const volatile std::uint64_t*>(at);
    }

    /// Asks the system about the page of an address. It is remembered together with the known ones below it, if what
    /// lies between them is no more than large frames.
    [[nodiscard]] bool learn(std::uintptr_t address) noexcept {
        constexpr std::uintptr_t page_bytes = 4096; // the smallest OS page of any system
        const std::uintptr_t page = align_down(address, page_bytes);
        constexpr std::uintptr_t most_between = 256 * page_bytes;
        if (!platform::is_readable(pointer_at(address), sizeof(std::uint64_t))) return false;
        const std::uintptr_t between = page - known_.end;
        const bool is_joined = known_.end != 0 && page >= known_.end && between <= most_between &&
                               (between == 0 || platform::is_readable(pointer_at(known_.end), between));
        if (!is_joined && known_.end != 0 && page > known_.end) return true; // far away: it is asked for again
        if (!is_joined) known_.begin = page;
        known_.end = page + page_bytes;
        return true;
    }

    readable_span& known_;
};

/// The registers that a function's caller relies on, by DWARF's numbers.
struct machine {
    std::uint64_t of[unwind_registers];
    std::uintptr_t position;
    std::uintptr_t position_place; ///< where on the stack it was saved; zero: it was in a register
    /// Whether the position is the next instruction; else it is behind a call, which the tables' ranges begin before.
    bool is_exact;
};

/// An expression of a table: a stack machine, in the part that compilers, linkers and C libraries use.
class expression {
public:
    expression(const machine& now, careful_reader& memory) noexcept : now_(now), memory_(memory) {}

    /// Returns   false at an operation that is not known, or memory that cannot be read.
    [[nodiscard]] bool evaluate(const void* at, std::uint64_t& value) noexcept {
        table_reader in(at);
        const std::uint64_t bytes = in.unsigned_leb();
        const unsigned char* const end = in.at() + bytes;
        while (in.at() < end) {
            if (!step(in)) return false;
        }
        if (count_ == 0) return false;
        value = values_[count_ - 1];
        return true;
    }
    void push(std::uint64_t value) noexcept {
        if (count_ < max_values) values_[count_] = value;
        count_ += std::size_t{count_ < max_values};
    }

private:
    static constexpr std::size_t max_values = 8;

    [[nodiscard]] bool step(table_reader& in) noexcept {
        const auto code = in.next<std::uint8_t>();
        if (code >= 0x30 && code <= 0x4F) return push_checked(code - 0x30u);
        if (code >= 0x70 && code <= 0x8F) {
            const std::size_t number = code - 0x70u;
            const std::int64_t offset = in.signed_leb();
            return number < unwind_registers && push_checked(now_.of[number] + static_cast<std::uint64_t>(offset));
        }
        switch (code) {
        case 0x08: return push_checked(in.next<std::uint8_t>());
        case 0x09: return push_checked(static_cast<std::uint64_t>(in.next<std::int8_t>()));
        case 0x0A: return push_checked(in.next<std::uint16_t>());
        case 0x0B: return push_checked(static_cast<std::uint64_t>(in.next<std::int16_t>()));
        case 0x0C: return push_checked(in.next<std::uint32_t>());
        case 0x0D: return push_checked(static_cast<std::uint64_t>(in.next<std::int32_t>()));
        case 0x10: return push_checked(in.unsigned_leb());
        case 0x11: return push_checked(static_cast<std::uint64_t>(in.signed_leb()));
        case 0x06: return count_ >= 1 && memory_.read(values_[count_ - 1], values_[count_ - 1]);
        case 0x23: {
            const std::uint64_t added = in.unsigned_leb();
            return count_ >= 1 && (values_[count_ - 1] += added, true);
        }
        default: return step_of_two(code);
        }
    }
    [[nodiscard]] bool step_of_two(std::uint8_t code) noexcept {
        if (count_ < 2) return false;
        const std::uint64_t right = values_[--count_];
        std::uint64_t& left = values_[count_ - 1];
        switch (code) {
        case 0x1A: left &= right; return true;
        case 0x1C: left -= right; return true;
        case 0x22: left += right; return true;
        case 0x24: left = right < 64 ? left << right : 0; return true;
        case 0x2A:
            left = std::uint64_t{static_cast<std::int64_t>(left) >= static_cast<std::int64_t>(right)};
            return true;
        default: return false;
        }
    }
    [[nodiscard]] bool push_checked(std::uint64_t value) noexcept {
        push(value);
        return count_ < max_values;
    }

    const machine& now_;
    careful_reader& memory_;
    std::uint64_t values_[max_values]{};
    std::size_t count_ = 0;
};

[[nodiscard]] const void* expression_of(std::int64_t value) noexcept {
    return pointer_at(static_cast<std::uintptr_t>(value));
}

/// What one register was in the caller.
[[nodiscard]] bool recover(const machine& now, unwind_rule rule, std::int64_t value, std::uint64_t cfa,
                           careful_reader& memory, std::uint64_t& result) noexcept {
    const std::uint64_t at = cfa + static_cast<std::uint64_t>(value);
    switch (rule) {
    case unwind_rule::same:
    case unwind_rule::undefined: return true;
    case unwind_rule::at_offset: return memory.read(at, result);
    case unwind_rule::offset: result = at; return true;
    case unwind_rule::in_register: result = now.of[value]; return true;
    default: break;
    }
    expression found(now, memory);
    found.push(cfa);
    std::uint64_t computed = 0;
    if (!found.evaluate(expression_of(value), computed)) return false;
    if (rule == unwind_rule::at_expression) return memory.read(computed, result);
    result = computed;
    return true;
}

/// Removes the signature of a return address. User addresses have fewer bits.
[[nodiscard]] std::uintptr_t plain_address([[maybe_unused]] std::uint64_t address) noexcept {
#if defined(__aarch64__)
    return address & ((std::uint64_t{1} << 52) - 1);
#else
    return address;
#endif
}

/// Goes to the caller by rules of the cache.
[[nodiscard]] bool go_up(machine& now, const unwind_step& step, careful_reader& memory) noexcept {
    if (step.is_outermost) return false;
    const std::uint64_t cfa = now.of[step.cfa_register] + static_cast<std::uint64_t>(std::int64_t{step.cfa_offset});
    if (cfa < now.of[unwind_stack_pointer]) return false;
    now.of[unwind_stack_pointer] = cfa;
    now.position_place = 0;
    for (std::size_t saved = 0; saved < step.saved_count; ++saved) {
        const auto offset = std::int64_t{step.places[saved]} * static_cast<std::int64_t>(sizeof cfa);
        const std::uint64_t place = cfa + static_cast<std::uint64_t>(offset);
        if (!memory.read(place, now.of[step.numbers[saved]])) return false;
        if (step.numbers[saved] == step.return_column) now.position_place = place;
    }
    now.position = plain_address(now.of[step.return_column]);
    now.is_exact = false;
    return now.position != 0;
}

/// Goes to the caller. `cache` may be nullptr.
/// Returns   false at the end of the stack, or where the walk cannot go on.
[[nodiscard]] bool go_up(machine& now, careful_reader& memory, unwind_cache* cache) noexcept {
    unwind_function function;
    if (now.position == 0) return false;
    const std::uintptr_t inside = now.position - (now.is_exact ? 0 : 1);
    const unwind_step* const step = cache != nullptr ? cache->find(inside) : nullptr;
    if (step != nullptr) return go_up(now, *step, memory);
    if (!platform::find_unwind_rules(inside, function)) return false;
    if (cache != nullptr) cache->keep(inside, function);
    const platform::unwind_row& row = function.row;
    if (row.rules[function.return_column] == unwind_rule::undefined) return false;
    std::uint64_t cfa = now.of[row.cfa_register] + static_cast<std::uint64_t>(row.cfa_offset);
    if (row.cfa_expression != nullptr && !expression(now, memory).evaluate(row.cfa_expression, cfa)) return false;
    // Callers are further up, except beyond the frame of a signal handler, which may have had a stack of its own.
    if (!function.is_signal_frame && cfa < now.of[unwind_stack_pointer]) return false;
    machine caller = now;
    caller.of[unwind_stack_pointer] = cfa;
    for (std::size_t number = 0; number < unwind_registers; ++number) {
        if (!recover(now, row.rules[number], row.values[number], cfa, memory, caller.of[number])) return false;
    }
    const bool is_at_offset = row.rules[function.return_column] == unwind_rule::at_offset;
    caller.position_place = is_at_offset ? cfa + static_cast<std::uint64_t>(row.values[function.return_column]) : 0;
    caller.position = plain_address(caller.of[function.return_column]);
    caller.is_exact = function.is_signal_frame;
    now = caller;
    return now.position != 0;
}

TENURE_BEHIND_OTHERS(9) constinit unwind_cache rules_of_positions{};

/// The addresses of a walk that begins in the caller of the given machine. `remembered` may be nullptr.
[[nodiscard]] std::size_t walk(machine& now, void** frames, std::size_t capacity, readable_span& known,
                               unwind_cache* remembered, std::uintptr_t* places = nullptr) noexcept {
    careful_reader memory(known);
    std::size_t count = 0;
    unwind_cache* const cache = remembered != nullptr && remembered->begin() ? remembered : nullptr;
    while (count < capacity && go_up(now, memory, cache)) {
        if (places != nullptr) places[count] = now.position_place;
        frames[count++] = pointer_at(now.position);
    }
    if (cache != nullptr) cache->end();
    return count;
}

/// The machine is taken as it is in the middle of the function that this one is inlined into, whose own table then
/// leads to the caller.
[[nodiscard]] __attribute__((always_inline)) inline std::size_t
walk_from_here(void** frames, std::size_t capacity, [[maybe_unused]] readable_span& known,
               [[maybe_unused]] unwind_cache* remembered, [[maybe_unused]] std::uintptr_t* places) noexcept {
    const int saved = errno;
    machine now{};
    now.is_exact = true;
    std::size_t count = 0;
#if defined(__x86_64__)
    asm volatile("movq %%rbx, 24(%1)\n\t"
                 "movq %%rbp, 48(%1)\n\t"
                 "movq %%rsp, 56(%1)\n\t"
                 "movq %%r12, 96(%1)\n\t"
                 "movq %%r13, 104(%1)\n\t"
                 "movq %%r14, 112(%1)\n\t"
                 "movq %%r15, 120(%1)\n\t"
                 "leaq 0(%%rip), %0"
                 : "=&r"(now.position)
                 : "r"(now.of)
                 : "memory");
    count = walk(now, frames, capacity, known, remembered, places);
#elif defined(__aarch64__)
    asm volatile("stp x19, x20, [%1, #152]\n\t"
                 "stp x21, x22, [%1, #168]\n\t"
                 "stp x23, x24, [%1, #184]\n\t"
                 "stp x25, x26, [%1, #200]\n\t"
                 "stp x27, x28, [%1, #216]\n\t"
                 "stp x29, x30, [%1, #232]\n\t"
                 "mov %0, sp\n\t"
                 "str %0, [%1, #248]\n\t"
                 "adr %0, ."
                 : "=&r"(now.position)
                 : "r"(now.of)
                 : "memory");
    count = walk(now, frames, capacity, known, remembered, places);
#else
    if (capacity != 0) {
        if (places != nullptr) places[count] = 0;
        frames[count++] = __builtin_return_address(0);
    }
#endif
    errno = saved;
    return count;
}

}

__attribute__((noinline)) std::size_t walk_stack(void** frames, std::size_t capacity) noexcept {
    readable_span known;
    return walk_from_here(frames, capacity, known, &rules_of_positions, nullptr);
}

__attribute__((noinline)) std::size_t walk_stack_once(void** frames, std::size_t capacity) noexcept {
    readable_span known;
    return walk_from_here(frames, capacity, known, nullptr, nullptr);
}

__attribute__((noinline)) std::size_t walk_stack(void** frames, std::size_t capacity, readable_span& known,
                                                 std::uintptr_t* places) noexcept {
    constexpr std::uintptr_t page_bytes = 4096;
    const std::uintptr_t here = align_down(address_of(__builtin_frame_address(0)), page_bytes);
    if (here < known.begin || here >= known.end) {
        known = {here, here + page_bytes}; // another stack, or further down on this one
    } else {
        known.begin = here;
    }
    return walk_from_here(frames, capacity, known, &rules_of_positions, places);
}

}

namespace tenure::inline TENURE_ABI::platform {

std::size_t fault::walk_stack(void** frames, std::size_t capacity) const noexcept {
    if (capacity == 0 || context == nullptr) return 0;
    const int saved = errno;
    host::machine now{};
    now.is_exact = true;
    const auto& at_fault = static_cast<const ::ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    // The order of the system's registers, by DWARF's numbers.
    constexpr int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (std::size_t number = 0; number < 16; ++number)
        now.of[number] = static_cast<std::uint64_t>(at_fault.gregs[order[number]]);
    now.position = static_cast<std::uintptr_t>(at_fault.gregs[REG_RIP]);
#elif defined(__aarch64__)
    for (std::size_t number = 0; number < 31; ++number) now.of[number] = at_fault.regs[number];
    now.of[31] = at_fault.sp;
    now.position = at_fault.pc;
#else
    static_cast<void>(at_fault);
    static_cast<void>(frames);
    return 0;
#endif
    frames[0] = pointer_at(now.position);
    host::readable_span known;
    const std::size_t count = 1 + host::walk(now, frames + 1, capacity - 1, known, nullptr);
    errno = saved;
    return count;
}

}
