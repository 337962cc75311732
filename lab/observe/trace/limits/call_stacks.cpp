// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/limits/call_stacks.hpp"

#include <utility>

namespace tenure::lab {

bool call_stacks::add(std::uint32_t number, const std::vector<std::uint64_t>& frames) {
    if (is_full_) return false;
    if (number == 0 || indices_.contains(number)) return true;
    const auto found = known_.find(frames);
    const bool is_new = found == known_.end();
    const std::uint64_t bytes = bytes_of_number + (is_new ? bytes_of_stack + frames.size() * bytes_of_frame : 0);
    is_full_ = bytes > left_bytes_;
    if (is_full_) return false;
    left_bytes_ -= bytes;
    const auto index = is_new ? static_cast<std::uint32_t>(all_.size()) : *found;
    if (is_new) {
        all_.push_back({frames});
        known_.insert(index);
    }
    indices_.emplace(number, index);
    return true;
}

std::uint32_t call_stacks::index_of(std::uint32_t number) const {
    const auto found = indices_.find(number);
    return found == indices_.end() ? 0 : found->second;
}

std::vector<trace_stack> call_stacks::take() {
    known_.clear();
    return std::exchange(all_, {});
}

}
