// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Shared code of tenure.h's implementation: alignments, structures that hold their size, and block sources made of C
/// functions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/tenure.h>

namespace tenure::inline TENURE_ABI::capi {

[[nodiscard]] constexpr std::size_t alignment_of(std::size_t asked) noexcept {
    return asked == 0 ? default_alignment : asked;
}

[[nodiscard]] constexpr tn_text text_of(std::string_view text) noexcept { return {text.data(), text.size()}; }
[[nodiscard]] constexpr std::string_view view_of(tn_text text) noexcept {
    return text.length == 0 ? std::string_view{} : std::string_view{text.data, static_cast<std::size_t>(text.length)};
}

/// Whether an argument is allowed, which the caller has found out. Checked builds report one that is not.
[[nodiscard]] inline bool is_allowed(bool answer, std::string_view call, std::string_view argument, std::uint64_t value,
                                     std::string_view allowed) noexcept {
    if constexpr (checks::caller) {
        if (!answer) report_argument(call, argument, value, allowed);
    }
    return answer;
}
[[nodiscard]] inline bool is_alignment(std::string_view call, std::size_t alignment) noexcept {
    check_alignment(call, alignment);
    return is_power_of_two(alignment);
}
/// Whether a pool can have such blocks. The alignment is given last, as in the call.
[[nodiscard]] inline bool is_block_of_pool(std::string_view call, std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::size_t most = std::size_t{256} << 20; // block_pool::max_block_bytes
    return is_allowed(bytes != 0 && bytes <= most, call, "bytes", bytes, "A block has 1 to 268435456 bytes.") &&
           is_alignment(call, alignment) &&
           is_allowed(alignment <= most, call, "alignment", alignment, "It is at most 268435456.");
}

/// Whether a structure's size is set and at least `least` bytes. Checked builds report one that is not.
[[nodiscard]] inline bool says_size(const void* structure, std::size_t size, std::size_t least) noexcept {
    if constexpr (checks::caller) {
        if (size < least)
            report_misuse("a structure of tenure.h was passed without its size", structure,
                          "Set its first field before the call: options.size = sizeof options.");
    }
    return size >= least;
}

/// Fills the fields that the caller's structure has, and leaves its size as the caller set it. Returns   false when the
/// size is smaller than the size field itself: the caller forgot to set it.
template<class Info>
bool answer(Info* to, Info filled) noexcept {
    const std::uint32_t size = to->size;
    if (!says_size(to, size, sizeof size)) return false;
    filled.size = size;
    std::memcpy(static_cast<void*>(to), &filled, std::min<std::size_t>(size, sizeof(Info)));
    return true;
}

/// Size of a structure in the first version of tenure.h; it is never smaller.
template<class Options>
constexpr std::size_t first_bytes = 0;
template<>
inline constexpr std::size_t first_bytes<tn_block_source> = 32;
template<>
inline constexpr std::size_t first_bytes<tn_heap_options> = 56;
template<>
inline constexpr std::size_t first_bytes<tn_affinity_options> = 64;

/// Whether the caller's options have a valid size, or are nullptr.
template<class Options>
[[nodiscard]] bool is_sized(const Options* options) noexcept {
    static_assert(first_bytes<Options> != 0 && first_bytes<Options> <= sizeof(Options));
    return options == nullptr || says_size(options, options->size, first_bytes<Options>);
}

/// The caller's options, with zeros for the fields that the caller does not know; all zero for nullptr.
/// Requires  is_sized().
template<class Options>
[[nodiscard]] Options asked(const Options* options) noexcept {
    Options known{};
    if (options != nullptr) {
        const auto size = std::min<std::size_t>(options->size, sizeof(Options));
        std::memcpy(static_cast<void*>(&known), options, size);
    }
    return known;
}

[[nodiscard]] inline tn_allocator_stats figures(const allocator_stats& seen) noexcept {
    return {0, 0, seen.live_count, seen.live_bytes, seen.peak_bytes, seen.reserved_bytes, seen.source_blocks};
}

/// A block source that calls the caller's functions.
class callback_source final : public block_source {
public:
    explicit callback_source(const tn_block_source* functions) noexcept : functions_(asked(functions)) {}

    /// Requires  no block of the functions before is in use.
    void set(const tn_block_source* functions) noexcept { functions_ = asked(functions); }

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return functions_.acquire(functions_.context, bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        functions_.release(functions_.context, block, bytes);
    }
    [[nodiscard]] sharing threads() const noexcept override {
        return functions_.any_thread != 0 ? sharing::any_thread : sharing::one_thread;
    }
    /// This source, or the system's pages when the caller passed no functions.
    [[nodiscard]] block_source& or_pages() noexcept {
        if (functions_.acquire != nullptr) return *this;
        return page_source::process();
    }
    /// Whether the caller's functions are usable: both or none, in a structure with its size set.
    [[nodiscard]] static bool is_whole(const tn_block_source* functions) noexcept {
        if (!is_sized(functions)) return false;
        const tn_block_source known = asked(functions);
        const bool is_whole = (known.acquire == nullptr) == (known.release == nullptr);
        if constexpr (checks::caller) {
            if (!is_whole)
                report_misuse("a tn_block_source has only one of its functions acquire and release", functions,
                              "Set both, or none for the pages of the system.");
        }
        return is_whole;
    }

private:
    tn_block_source functions_;
};

/// A copy of a name that lives as long as its object.
class short_name {
public:
    explicit short_name(std::string_view text) noexcept : length_(std::min(text.size(), max_bytes)) {
        while (length_ < text.size() && length_ != 0 && is_inside_letter(text[length_])) --length_;
        if (length_ != 0) std::memcpy(text_, text.data(), length_);
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text_, length_}; }
    [[nodiscard]] std::string_view view_or(std::string_view unnamed) const noexcept {
        return length_ == 0 ? unnamed : view();
    }

private:
    static constexpr std::size_t max_bytes = 63;
    [[nodiscard]] static bool is_inside_letter(char byte) noexcept {
        return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; // UTF-8
    }
    std::size_t length_;
    char text_[max_bytes + 1] = {};
};

/// An option's value: zero selects the default, and the largest number means zero.
[[nodiscard]] constexpr std::uint64_t or_default(std::uint64_t asked_for, std::uint64_t usual) noexcept {
    if (asked_for == UINT64_MAX) return 0;
    return asked_for == 0 ? usual : asked_for;
}

}
