// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The call stacks of a trace while it is read: each one once, found by its number in the file.

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// A small file can define very many stacks, so their memory has a limit.
class call_stacks {
public:
    explicit call_stacks(std::uint64_t max_bytes) : left_bytes_(max_bytes), known_(by_frames{this}) {}
    call_stacks(const call_stacks&) = delete;
    call_stacks& operator=(const call_stacks&) = delete;

    /// The first definition of a number counts; 0 has none.
    /// Returns   false if the stack does not fit into the limit. It is then not recorded, as all that follow.
    bool add(std::uint32_t number, const std::vector<std::uint64_t>& frames);
    [[nodiscard]] bool is_full() const { return is_full_; }
    /// The index in what take() returns; 0: not recorded.
    [[nodiscard]] std::uint32_t index_of(std::uint32_t number) const;
    /// The stacks, the first of which is "not recorded". Numbers stay known, but none may be added any more.
    [[nodiscard]] std::vector<trace_stack> take();

    // Bytes that a number and a stack take, with nodes of the tables and the unused part of the vector.
    static constexpr std::uint64_t bytes_of_number = 48, bytes_of_stack = 144, bytes_of_frame = 8;

private:
    struct by_frames {
        using is_transparent = void;
        const call_stacks* of;
        [[nodiscard]] const std::vector<std::uint64_t>& frames(std::uint32_t index) const {
            return of->all_[index].frames;
        }
        bool operator()(std::uint32_t a, std::uint32_t b) const { return frames(a) < frames(b); }
        bool operator()(std::uint32_t a, const std::vector<std::uint64_t>& b) const { return frames(a) < b; }
        bool operator()(const std::vector<std::uint64_t>& a, std::uint32_t b) const { return a < frames(b); }
    };

    std::uint64_t left_bytes_;
    bool is_full_ = false;
    std::vector<trace_stack> all_{1};
    std::set<std::uint32_t, by_frames> known_;                 // indices
    std::unordered_map<std::uint32_t, std::uint32_t> indices_; // by number in the file
};

}
