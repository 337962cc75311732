// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Proves which allocator served a worker. A failed preload only prints a warning, and the C library's malloc runs
/// instead.
///
/// For the process's malloc, three conditions must hold: `malloc`, `free` and `operator new` resolve into the expected
/// file (or operator new into the C++ runtime, which calls malloc); that file is mapped; and live blocks of the run are
/// the allocator's own, according to a function that only this allocator has. An allocator without such a function is
/// identified by its symbols. The C library's malloc and ours must also count the blocks in mallinfo2. For any other
/// malloc the sentence says whether its mallinfo2 counts them or, if it has none, whether the C library's heap grew by
/// them.
///
/// An allocator that is called directly is asked through the contestant, if it has a call for it: whether it owns each
/// block, or how many it counts. An allocator without such a call is identified by its type alone, and the sentence
/// says so.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

struct proof_verdict {
    bool proven = false;
    std::string text; ///< what was proven, or why it was not: one sentence
};

class block_proof {
public:
    /// `library` is the preloaded file; empty for the C library. `type` is what an inlined contestant calls.
    block_proof(route how, std::string_view library, std::string_view type);

    /// Inspects up to 1000 of the blocks.
    void witness(std::span<void* const> live, std::size_t bytes_each, const block_owner& owner = {});

    [[nodiscard]] proof_verdict conclude() const;

private:
    void ask(std::span<void* const> live, const block_owner& owner);
    [[nodiscard]] proof_verdict conclude_malloc() const;
    [[nodiscard]] proof_verdict conclude_inlined() const;
    [[nodiscard]] proof_verdict conclude_offsets() const;
    [[nodiscard]] bool owner_denies() const { return acknowledged_ != put_to_owner_; }
    [[nodiscard]] std::string words_of_owner() const;
    [[nodiscard]] std::string wrong_symbol(const std::string& expected) const;

    route how_;
    std::string_view library_, type_;
    std::size_t shown_ = 0;  ///< number of blocks passed in
    std::size_t asked_ = 0;  ///< number of these that the allocator was asked about
    std::size_t owned_ = 0;  ///< number of these that it owns
    std::string_view query_; ///< how the contestant's own allocator is asked; empty when it cannot be asked
    bool counts_ = false;    ///< it counts live blocks and cannot be asked about single ones
    std::size_t put_to_owner_ = 0;
    std::size_t acknowledged_ = 0;
    std::size_t in_use_before_; ///< by mallinfo2
    bool counted_ = false;      ///< mallinfo2 grew by the bytes of the blocks, at the first witness
    bool witnessed_ = false;
};

}
