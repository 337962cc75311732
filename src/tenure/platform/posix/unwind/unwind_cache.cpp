// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/posix/unwind/unwind_cache.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <limits>

// Since glibc 2.35. Other C libraries lack it.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
// NOLINTNEXTLINE(readability-redundant-declaration,readability-inconsistent-declaration-parameter-name): weak here
extern "C" __attribute__((weak)) int _dl_find_object(void* address, struct dl_find_object* found) noexcept;
#endif

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// An object's sorted index of its unwind tables (the segment PT_GNU_EH_FRAME of the Linux Standard Base): what it is
/// encoded as, where the tables are, their number, and for each the begin of its code and its place, relative to the
/// index. Linkers write this one encoding.
class table_index {
public:
    /// Finds the index of the object that is loaded at a position, without a lock.
    /// Returns   false if there is none, or the C library cannot tell.
    [[nodiscard]] bool find([[maybe_unused]] std::uintptr_t position) noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)                // glibc 2.35
        constexpr std::uint32_t known = 0x3B03'1B01; // version 1; relative to here, unsigned, relative to the index
        if (_dl_find_object == nullptr) return false;
        dl_find_object object{};
        if (_dl_find_object(reinterpret_cast<void*>(position), &object) != 0) return false;
        at_ = static_cast<const unsigned char*>(object.dlfo_eh_frame);
        return at_ != nullptr && word(0) == known;
#else
        return false;
#endif
    }
    [[nodiscard]] const unsigned char* at() const noexcept { return at_; }
    [[nodiscard]] std::uint32_t count() const noexcept { return word(2); }
    /// Relative to the index: where the code of a table begins, and where the table is.
    [[nodiscard]] std::int32_t code(std::uint32_t number) const noexcept {
        return static_cast<std::int32_t>(word(first + 2 * number));
    }
    [[nodiscard]] std::int32_t table(std::uint32_t number) const noexcept {
        return static_cast<std::int32_t>(word(first + 2 * number + 1));
    }

private:
    static constexpr std::uint32_t first = 3; // behind the head
    [[nodiscard]] std::uint32_t word(std::uint32_t number) const noexcept {
        std::uint32_t value;
        __builtin_memcpy(&value, at_ + std::size_t{number} * sizeof value, sizeof value);
        return value;
    }

    const unsigned char* at_ = nullptr;
};

/// A sum over an entry of unwind tables: its length, and so many bytes behind.
/// Returns   zero for one that is too long.
[[nodiscard]] std::uint64_t sum_of_entry(const unsigned char* entry) noexcept {
    constexpr std::size_t max_bytes = 512;
    std::uint32_t bytes = 0;
    __builtin_memcpy(&bytes, entry, sizeof bytes);
    if (bytes > max_bytes) return 0;
    std::uint64_t sum = bytes;
    const unsigned char* const begin = entry + sizeof bytes;
    for (std::size_t at = 0; at < bytes; at += sizeof sum) {
        std::uint64_t part = 0;
        __builtin_memcpy(&part, begin + at, std::min(sizeof part, bytes - at));
        sum = (sum ^ part) * 0x9E37'79B9'7F4A'7C15;
    }
    return sum | 1;
}

/// A sum over a function's table and the entry that it has in common with others, whose distance follows the length.
[[nodiscard]] std::uint64_t sum_of(const unsigned char* table) noexcept {
    const unsigned char* const distance_at = table + sizeof(std::uint32_t);
    std::int32_t distance = 0;
    __builtin_memcpy(&distance, distance_at, sizeof distance);
    const std::uint64_t own = sum_of_entry(table), common = sum_of_entry(distance_at - distance);
    return own != 0 && common != 0 ? (own ^ (common << 1)) | 1 : 0;
}

/// Returns   false if a step cannot express the rules.
[[nodiscard]] bool simplify(const unwind_function& function, unwind_step& step) noexcept {
    const unwind_row& row = function.row;
    step = {};
    step.is_outermost = row.rules[function.return_column] == unwind_rule::undefined;
    if (step.is_outermost) return true;
    constexpr std::int64_t word = sizeof(std::uint64_t);
    constexpr std::int64_t most = std::numeric_limits<std::int16_t>::max();
    if (function.is_signal_frame || row.cfa_expression != nullptr || row.cfa_register >= unwind_registers ||
        row.cfa_offset != static_cast<std::int32_t>(row.cfa_offset))
        return false;
    step.cfa_offset = static_cast<std::int32_t>(row.cfa_offset);
    step.cfa_register = row.cfa_register;
    step.return_column = static_cast<std::uint8_t>(function.return_column);
    for (std::size_t number = 0; number < unwind_registers; ++number) {
        const unwind_rule rule = row.rules[number];
        if (rule == unwind_rule::same || rule == unwind_rule::undefined) continue;
        const std::int64_t place = row.values[number] / word;
        const bool is_simple =
            rule == unwind_rule::at_offset && place * word == row.values[number] && place <= most && place >= -most;
        if (!is_simple || step.saved_count == unwind_step::max_saved) return false;
        step.numbers[step.saved_count] = static_cast<std::uint8_t>(number);
        step.places[step.saved_count] = static_cast<std::int16_t>(place);
        ++step.saved_count;
    }
    return true;
}

}

bool unwind_cache::place_of(std::uintptr_t position, const unwind_function& found, table_place& place) noexcept {
    table_index index;
    if (!index.find(position)) return false;
    const auto wanted = static_cast<std::int64_t>(position - reinterpret_cast<std::uintptr_t>(index.at()));
    std::uint32_t first = 0, last = index.count(); // the last table whose code begins at or before the position
    while (last - first > 1) {
        const std::uint32_t middle = first + (last - first) / 2;
        (index.code(middle) <= wanted ? first : last) = middle;
    }
    if (last == 0 || index.at() + index.table(first) != found.table) return false;
    place = {index.at(),
             first,
             {static_cast<std::uint32_t>(index.code(first)), static_cast<std::uint32_t>(index.table(first))},
             sum_of(found.table)};
    return place.sum != 0;
}

bool unwind_cache::is_still_there(std::uintptr_t position, const table_place& place) noexcept {
    table_index index;
    const bool is_same = index.find(position) && index.at() == place.index && place.number < index.count() &&
                         static_cast<std::uint32_t>(index.code(place.number)) == place.entry[0] &&
                         static_cast<std::uint32_t>(index.table(place.number)) == place.entry[1];
    return is_same && sum_of(index.at() + index.table(place.number)) == place.sum;
}

const unwind_step* unwind_cache::find(std::uintptr_t position) const noexcept {
    const entry& present = entries_[entry_for(position)];
    return present.position == position && is_still_there(position, present.table) ? &present.step : nullptr;
}

void unwind_cache::keep(std::uintptr_t position, const unwind_function& found) noexcept {
    entry added{position, {}, {}};
    if (simplify(found, added.step) && place_of(position, found, added.table)) entries_[entry_for(position)] = added;
}

}
