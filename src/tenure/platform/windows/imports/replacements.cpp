// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/imports/replacements.hpp>

#include <algorithm>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::size_t replacements::position_of(std::uintptr_t function) const noexcept {
    const auto is_below = [](const entry& each, std::uintptr_t wanted) { return each.function < wanted; };
    return static_cast<std::size_t>(std::lower_bound(entries_, entries_ + count_, function, is_below) - entries_);
}

void replacements::add(const void* function, const void* replacement, replaced_in where) noexcept {
    const std::uintptr_t address = address_of(function);
    const std::size_t at = position_of(address);
    const bool is_present = at < count_ && entries_[at].function == address;
    if (address == 0 || is_present || count_ == capacity) return;
    std::copy_backward(entries_ + at, entries_ + count_, entries_ + count_ + 1);
    entries_[at] = {address, address_of(replacement), where};
    ++count_;
    filter_[bit_of(address) / 64] |= std::uint64_t{1} << bit_of(address) % 64;
}

// The filter keeps its bit, which others may share.
void replacements::remove(const void* function) noexcept {
    const std::size_t at = position_of(address_of(function));
    if (at == count_ || entries_[at].function != address_of(function)) return;
    std::copy(entries_ + at + 1, entries_ + count_, entries_ + at);
    --count_;
}

std::uintptr_t replacements::find(std::uintptr_t function, replaced_in where) const noexcept {
    if ((filter_[bit_of(function) / 64] >> bit_of(function) % 64 & 1) == 0) return 0;
    const std::size_t at = position_of(function);
    if (at == count_ || entries_[at].function != function) return 0;
    const bool is_there = entries_[at].where == where || entries_[at].where == replaced_in::all_modules;
    return is_there ? entries_[at].replacement : 0;
}

}
