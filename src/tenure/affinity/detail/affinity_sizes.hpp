// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How an affinity group rounds sizes, and which stream each size belongs to.

#include <cstddef>
#include <cstdint>

#include <tenure/affinity/detail/affinity_layout.hpp>
#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/min_max.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// A table for sizes up to affinity_table_limit_bytes. Larger ones are rounded to granules and share stream 0.
class affinity_sizes {
public:
    struct entry {
        std::uint16_t bytes; ///< the rounded size
        std::uint16_t stream;
    };

    /// All sizes in stream 0, rounded to granules.
    [[nodiscard]] static constexpr affinity_sizes mixed(std::size_t granule) noexcept {
        affinity_sizes made(granule);
        for (std::size_t index = 0; index < entry_count; ++index)
            made.table_[index] = {made.to_granules(max_of<std::size_t>(index * affinity_least_granule, 1)), 0};
        return made;
    }
    /// Each size in a stream of its own, rounded to a multiple of a cache line if that adds at most an eighth of it, so
    /// that no object is in two lines without need.
    [[nodiscard]] static constexpr affinity_sizes by_size(std::size_t granule) noexcept {
        affinity_sizes made = mixed(granule);
        const std::uint32_t shift = affinity_layout::stream_shift_of(granule);
        for (entry& each : made.table_) {
            const std::size_t lines = align_up(each.bytes, cache_line_bytes);
            if ((lines - each.bytes) * 8 <= lines) each.bytes = made.to_granules(lines);
            const auto stream = static_cast<std::uint16_t>(each.bytes >> shift);
            if (stream < affinity_stream_count) each.stream = stream; // larger sizes have no stream of their own
        }
        return made;
    }

    /// Requires  `bytes` is at most affinity_table_limit_bytes.
    [[nodiscard]] TENURE_LOCAL constexpr entry in_table(std::size_t bytes) const noexcept {
        return table_[(bytes + affinity_least_granule - 1) / affinity_least_granule];
    }
    /// Requires  `bytes` is at most the largest size in a block.
    [[nodiscard]] constexpr entry of(std::size_t bytes) const noexcept {
        return bytes <= affinity_table_limit_bytes ? in_table(bytes) : entry{to_granules(bytes), 0};
    }

private:
    constexpr explicit affinity_sizes(std::size_t granule) noexcept : granule_(granule) {}
    [[nodiscard]] constexpr std::uint16_t to_granules(std::size_t bytes) const noexcept {
        return static_cast<std::uint16_t>(align_up(bytes, granule_));
    }

    static constexpr std::size_t entry_count = affinity_table_limit_bytes / affinity_least_granule + 1;

    entry table_[entry_count]{};
    std::size_t granule_;
};

}
