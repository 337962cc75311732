// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an offset allocator shows of itself, as values that a test can compare.

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/offset/offset_allocator.hpp>

namespace support {

inline constexpr std::uint64_t max_capacity = tenure::offset_allocator::max_capacity;

struct walked_range {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool is_free = false;

    friend bool operator==(const walked_range&, const walked_range&) = default;
    friend std::ostream& operator<<(std::ostream& out, const walked_range& range) {
        return out << (range.is_free ? "free " : "held ") << range.offset << "+" << range.size;
    }
};

inline std::vector<walked_range> walked(const tenure::offset_allocator& of) {
    std::vector<walked_range> all;
    of.walk([&all](std::uint64_t offset, std::uint64_t size, bool is_free) { all.push_back({offset, size, is_free}); });
    return all;
}

inline std::string json_of(const tenure::offset_allocator& of) {
    std::string all;
    of.write_json([](void* context, std::string_view piece) { static_cast<std::string*>(context)->append(piece); },
                  &all);
    return all;
}

/// All that can be seen of an allocator: when it is the same before and after, a call has changed nothing.
struct everything_seen {
    std::vector<walked_range> ranges;
    std::string json;
    std::size_t record_bytes;

    explicit everything_seen(const tenure::offset_allocator& of)
        : ranges(walked(of)), json(json_of(of)), record_bytes(of.usage().record_bytes) {}
    friend bool operator==(const everything_seen&, const everything_seen&) = default;
};

}
