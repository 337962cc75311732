// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The advised drop-in, libtenure_malloc_advised.so: blocks of chosen call sites have pages of their own.
///
/// `tenure advise -o FILE` learns from a trace which call sites allocate blocks that are freed together, and
/// TENURE_ADVICE=FILE names its file to this library (docs/design/advice-format.md). Each of up to seven groups of call
/// sites is an owner tag of the heap. A call is recognised by its return address and, where that does not decide, by
/// up to three more, which are found on the stack with rules that were looked up in advance.
///
/// Advice only separates: whatever group a call gets, its block is valid, and every free works. A group that has no
/// memory takes blocks from ordinary pages.
///
/// Cost      of a call that is no site: a hash and a load, below 1 ns. Of a site: about 1 ns for each further frame,
///           and some 3 ns for the cache of the group, in an allocation and in a free.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tenure/base/atomic.hpp>
#include <tenure/dropin/detail/out_of_memory.hpp>
#include <tenure/dropin/detail/quick.hpp>
#include <tenure/dropin/detail/tagged.hpp>
#include <tenure/platform/caller.hpp>

namespace tenure::inline TENURE_ABI::dropin {

constexpr unsigned max_groups = detail::max_known_caches; ///< numbered from 1
constexpr unsigned max_site_frames = 4;

/// Call sites by their frames. One thread at a time changes it while others look.
///
/// A rule for code that was unloaded, and replaced by other code, could lead outside the stack. Frames of code that can
/// be unloaded are therefore followed within an OS page only.
class site_table {
public:
    /// The group of the call of the function that this is inlined into; zero: none.
    [[nodiscard]] TENURE_ALWAYS_INLINE unsigned group_of_this_call() const noexcept {
        const std::uint32_t found = find(platform::caller_of_this_function().position);
        if (found == 0) [[likely]]
            return 0;
        return found < first_with_next ? found - 1 : group_of_frames(platform::caller_of_this_function(), found);
    }
    /// The same for another call.
    [[nodiscard]] unsigned group_of(const platform::caller& call) const noexcept {
        const std::uint32_t found = find(call.position);
        return found == 0 ? 0 : group_of_frames(call, found);
    }

    /// Adds a site, or changes the group of one that is there. Bit n of `unloadable`: frame n's code may be unloaded.
    ///
    /// Requires  `count` return addresses, from the allocation outwards, at most max_site_frames.
    /// Returns   false if the table has no room, or a frame cannot be followed.
    [[nodiscard]] bool add(const std::uintptr_t* positions, std::size_t count, unsigned group,
                           unsigned unloadable = 0) noexcept;
    /// Removes the sites whose last return address is in (begin, end].
    void remove(std::uintptr_t begin, std::uintptr_t end) noexcept;

private:
    // One cache line. Keys are used from the first on and stay for ever, so a look-up ends at the first zero, and the
    // code that it reads beside a key belongs to that key. What has no room in a line is in one of the next.
    static constexpr std::size_t line_keys = 4, line_bits = 11, max_lines = 4;
    struct alignas(64) line {
        // Released when they change, acquired by look-ups: a code comes with its step, and with the tags of the groups.
        detail::atomic<std::uint64_t> keys[line_keys];  ///< frame | step << 48
        detail::atomic<std::uint32_t> codes[line_keys]; ///< group + 1 | step << 8; zero: no site
    };
    static constexpr std::uint32_t first_with_next = 1u << 8;
    /// As many as 1,024 sites have frames before their last, and one that is not used.
    static constexpr std::size_t max_steps = 3 * 1024 + 1;
    static constexpr unsigned position_bits = 48;

    [[nodiscard]] static std::size_t line_of(std::uint64_t key) noexcept {
        return key * std::uint64_t{0x9E37'79B9'7F4A'7C15} >> (64 - line_bits);
    }
    /// Returns   zero if there is none.
    [[nodiscard]] TENURE_ALWAYS_INLINE std::uint32_t find(std::uint64_t key) const noexcept {
        const line& in = lines_[line_of(key)];
        for (std::size_t index = 0; index < line_keys; ++index) {
            const std::uint64_t present = in.keys[index].load(detail::memory_order::acquire);
            if (present == 0) [[likely]]
                return 0;
            if (present == key) return in.codes[index].load(detail::memory_order::acquire);
        }
        return find_behind(key);
    }
    [[nodiscard]] TENURE_NOINLINE std::uint32_t find_behind(std::uint64_t key) const noexcept;
    [[nodiscard]] TENURE_NOINLINE unsigned group_of_frames(platform::caller call, std::uint32_t found) const noexcept;
    [[nodiscard]] detail::atomic<std::uint32_t>* find_or_add(std::uint64_t key) noexcept;

    line lines_[std::size_t{1} << line_bits]{};
    platform::caller_rule steps_[max_steps]{}; ///< by step: how to go on from a frame
    std::uint32_t step_count_ = 0;             // all is zero at first, so none of it is in the file
};

extern site_table advised_sites;

// Requires  `group` is not zero.

[[nodiscard]] void* allocate_in_group(unsigned group, std::size_t bytes, std::size_t alignment, detail::fill how,
                                      const void* caller) noexcept;
/// As realloc: nullptr allocates, and zero bytes free.
[[nodiscard]] void* reallocate_in_group(unsigned group, void* block, std::size_t bytes, const void* caller) noexcept;

/// The group of the call of the entry point that this is inlined into; zero: none.
[[nodiscard]] TENURE_ALWAYS_INLINE unsigned group_of_this_call() noexcept {
    if constexpr (advised == advised_calls::all)
        return 1 + static_cast<unsigned>(platform::caller_of_this_function().position / 8 % max_groups);
    return advised_sites.group_of_this_call();
}

// Inlined into entry points. Without advice they are nothing.

/// Allocates in the group of the call, if it is of one.
/// Returns   false if it is of none; `block` is then as it was.
[[nodiscard]] TENURE_ALWAYS_INLINE bool allocate_as_advised([[maybe_unused]] void*& block,
                                                            [[maybe_unused]] std::size_t bytes,
                                                            [[maybe_unused]] std::size_t alignment,
                                                            [[maybe_unused]] detail::fill how) noexcept {
    if constexpr (is_advised) {
        if (const unsigned group = group_of_this_call(); group != 0) [[unlikely]] {
            block = allocate_in_group(group, bytes, alignment, how, TENURE_RETURN_ADDRESS());
            return true;
        }
    }
    return false;
}
[[nodiscard]] TENURE_ALWAYS_INLINE bool reallocate_as_advised([[maybe_unused]] void*& block,
                                                              [[maybe_unused]] std::size_t bytes) noexcept {
    if constexpr (is_advised) {
        if (const unsigned group = group_of_this_call(); group != 0) [[unlikely]] {
            block = reallocate_in_group(group, block, bytes, TENURE_RETURN_ADDRESS());
            return true;
        }
    }
    return false;
}

struct advice_figures {
    std::size_t sites = 0;  ///< in the file
    std::size_t found = 0;  ///< that are followed: their code is loaded
    bool has_match = false; ///< a file that the advice names was loaded, at some time
};
[[nodiscard]] advice_figures advice_now() noexcept;

/// Looks for call sites in libraries that were loaded since: after 64 slow calls, then after twice as many, some twenty
/// times in all. Reads the system's list of mappings; nobody waits for it.
void look_for_sites_again() noexcept;

/// Looks at once. Returns   false if another thread does.
bool look_for_sites_now() noexcept;

/// Prepares the warning below, if this is the process that `tenure run --advice` has become: TENURE_ADVICE_PROCESS has
/// its number.
void prepare_warning() noexcept;

enum class warned_when : std::uint8_t { running, exit };
/// Writes a line to standard error, at most once in a process, if it was prepared and no file that the advice names was
/// loaded. A process that has started others is let be: the advice may be for them.
void warn_of_no_match(warned_when when) noexcept;

}
