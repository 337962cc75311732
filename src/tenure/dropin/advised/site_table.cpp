// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/detail/advice.hpp>

#include <iterator>

namespace tenure::inline TENURE_ABI::dropin {

using detail::memory_order;

unsigned site_table::group_of_frames(platform::caller call, std::uint32_t found) const noexcept {
    std::uint32_t group_and_one = found % first_with_next;
    for (unsigned frames = 1; frames < max_site_frames; ++frames) {
        const std::uint64_t step = found / first_with_next;
        if (step == 0 || !platform::move_outwards(call, steps_[step])) break;
        if (call.position >> (position_bits - 1) != 0) break; // not a return address
        found = find(call.position | step << position_bits);
        if (found == 0) break;
        if (found % first_with_next != 0) group_and_one = found % first_with_next;
    }
    return group_and_one == 0 ? 0 : group_and_one - 1;
}

std::uint32_t site_table::find_behind(std::uint64_t key) const noexcept {
    for (std::size_t next = 1; next < max_lines; ++next) {
        const line& in = lines_[(line_of(key) + next) % std::size(lines_)];
        for (std::size_t index = 0; index < line_keys; ++index) {
            const std::uint64_t present = in.keys[index].load(memory_order::acquire);
            if (present == 0) return 0;
            if (present == key) return in.codes[index].load(memory_order::acquire);
        }
    }
    return 0;
}

detail::atomic<std::uint32_t>* site_table::find_or_add(std::uint64_t key) noexcept {
    for (std::size_t next = 0; next < max_lines; ++next) {
        line& in = lines_[(line_of(key) + next) % std::size(lines_)];
        for (std::size_t index = 0; index < line_keys; ++index) {
            const std::uint64_t present = in.keys[index].load(memory_order::relaxed);
            // A look-up that finds the key before its code is stored takes it for no site.
            if (present == 0) in.keys[index].store(key, memory_order::release);
            if (present == 0 || present == key) return &in.codes[index];
        }
    }
    return nullptr;
}

bool site_table::add(const std::uintptr_t* positions, std::size_t count, unsigned group, unsigned unloadable) noexcept {
    std::uint64_t step = 0;
    for (std::size_t index = 0; index < count; ++index) {
        if (positions[index] >> (position_bits - 1) != 0) return false;
        detail::atomic<std::uint32_t>* const code = find_or_add(positions[index] | step << position_bits);
        if (code == nullptr) return false;
        const std::uint32_t present = code->load(memory_order::relaxed);
        if (index + 1 == count) {
            code->store((present & ~(first_with_next - 1)) | (group + 1), memory_order::release);
            return true;
        }
        step = present / first_with_next;
        if (step != 0) continue;
        if (step_count_ + 1 == max_steps || !platform::find_caller_rule(positions[index], steps_[step_count_ + 1]))
            return false;
        steps_[step_count_ + 1].is_within_page = (unloadable >> index & 1) != 0;
        step = ++step_count_;
        code->store(present | static_cast<std::uint32_t>(step * first_with_next), memory_order::release);
    }
    return false;
}

void site_table::remove(std::uintptr_t begin, std::uintptr_t end) noexcept {
    for (line& in : lines_) {
        for (std::size_t index = 0; index < line_keys; ++index) {
            const std::uintptr_t position =
                in.keys[index].load(memory_order::relaxed) & ((std::uint64_t{1} << position_bits) - 1);
            if (position <= begin || position > end) continue;
            // The step stays: the same library may come back, and what it leads to is removed as well.
            const std::uint32_t code = in.codes[index].load(memory_order::relaxed);
            in.codes[index].store(code & ~(first_with_next - 1), memory_order::relaxed);
        }
    }
}

constinit site_table advised_sites{};

}
