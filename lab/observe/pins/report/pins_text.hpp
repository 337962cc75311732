// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where resident memory goes, and who keeps it, as text for a terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

struct pins_choice {
    std::size_t stacks = 10; ///< shown
    std::size_t frames = 6;  ///< shown of each
    std::size_t width = 100;
};

[[nodiscard]] std::string to_text(const named_profile& profile, const pinned_memory& pinned, const pins_choice& choice);

/// A part of the resident memory, in the words of all outputs.
struct memory_part {
    std::string_view key; ///< in JSON
    std::string_view name;
    std::string_view note; ///< what it is
    std::uint64_t bytes = 0;
};

/// All parts, in the order in which they are shown. `malloc_file` is that of a saved profile: empty for Tenure's heap.
[[nodiscard]] std::vector<memory_part> all_parts(const memory_parts& parts, std::string_view malloc_file);

/// Whether call stacks are known: no sample is in a core file of a program without a profile.
[[nodiscard]] bool has_stacks(const pinned_memory& pinned);

/// What the figures are of, and what cannot be known of a core file or of a malloc that is not ours; else empty.
struct malloc_words {
    std::string what;
    std::vector<std::string> unknown; ///< sentences
};
[[nodiscard]] malloc_words words_about(const pinned_memory& pinned);

/// The number of stacks that are shown: those that hold something come first.
[[nodiscard]] std::size_t stacks_that_hold(const pinned_memory& pinned);

/// "412 blocks (80.0 KiB) hold 96.0 MiB ± 2 MiB of pages; freed, they give back at least about 96.1 MiB".
[[nodiscard]] std::string sentence_of(const pinning_stack& stack, bool is_exact);

/// What to do with the blocks of a stack; empty when nothing is worth it.
[[nodiscard]] std::string advice_for(const pinning_stack& stack, const pinned_memory& pinned);

}
