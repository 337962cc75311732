// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Traces of programs that were never run: each has a known shape. Allocations have call stacks. Frees have none, as
/// `tenure record --no-free-stacks` writes them, unless one is given.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/trace/trace.hpp"

namespace made {

namespace lab = tenure::lab;

/// Writes a trace as a program would make it.
class program {
public:
    /// A call stack, innermost first. The same frames give the same number.
    std::uint32_t stack(std::vector<std::uint64_t> frames) {
        const auto [found, is_new] = numbers_.try_emplace(frames, static_cast<std::uint32_t>(made_.stacks.size()));
        if (is_new) made_.stacks.push_back({std::move(frames)});
        return found->second;
    }

    std::uint64_t allocate(std::uint64_t bytes, std::uint32_t stack = 0, std::uint32_t thread = 0,
                           lab::trace_family family = lab::trace_family::malloc, std::uint8_t alignment_log2 = 4) {
        const std::uint64_t block = made_.blocks++;
        bytes_.push_back(bytes);
        add({block, bytes, 0, thread, stack, lab::trace_call::allocate, family, alignment_log2});
        return block;
    }
    void free(std::uint64_t block, std::uint32_t thread = 0) {
        add({block, bytes_[block], 0, thread, 0, lab::trace_call::deallocate, lab::trace_family::malloc, 4});
    }
    void free_at(std::uint64_t block, std::vector<std::uint64_t> frames) {
        made_.has_free_stacks = true;
        free(block);
        made_.events.back().stack = stack(std::move(frames));
    }
    void resize(std::uint64_t block, std::uint64_t bytes, std::uint32_t stack = 0, std::uint32_t thread = 0) {
        bytes_[block] = bytes;
        add({block, bytes, 0, thread, stack, lab::trace_call::resize, lab::trace_family::malloc, 4});
    }
    void frame(std::uint32_t thread = 0) {
        add({0, 0, 0, thread, 0, lab::trace_call::frame, lab::trace_family::malloc, 4});
    }
    void mark(std::uint32_t thread = 0) {
        if (made_.marks.empty()) made_.marks.emplace_back("phase");
        add({0, 0, 0, thread, 0, lab::trace_call::mark, lab::trace_family::malloc, 4});
    }

    [[nodiscard]] lab::trace take() { return std::move(made_); }

private:
    void add(lab::trace_event event) {
        event.time_ns = (time_ += 100);
        made_.threads = std::max(made_.threads, event.thread + 1);
        made_.events.push_back(event);
    }

    lab::trace made_;
    std::map<std::vector<std::uint64_t>, std::uint32_t> numbers_;
    std::vector<std::uint64_t> bytes_; // by block
    std::uint64_t time_ = 0;
};

/// A few random numbers, the same everywhere.
class numbers {
public:
    explicit numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
    std::uint64_t below(std::uint64_t bound) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (state_ >> 33) % bound;
    }

private:
    std::uint64_t state_;
};

/// Addresses of functions: call sites in them are these plus something.
inline constexpr std::uint64_t start_code = 0x1000, main_code = 0x2000, work_code = 0x3000, list_code = 0x4000,
                               other_code = 0x5000;

/// A function that is called `calls` times and needs `blocks` blocks while it runs. `escapes`: the last block of this
/// call is freed only during the next one; calls: never.
inline lab::trace scratch_program(std::uint64_t calls, std::uint64_t blocks, std::uint64_t escapes,
                                  bool has_stacks = true) {
    program made;
    numbers random(7);
    const std::uint32_t allocating =
        has_stacks ? made.stack({list_code + 8, work_code + 4, main_code + 4, start_code}) : 0;
    const std::uint32_t keeping = has_stacks ? made.stack({other_code + 16, main_code + 8, start_code}) : 0;
    const std::uint32_t between = has_stacks ? made.stack({other_code + 8, main_code + 8, start_code}) : 0;
    std::vector<std::uint64_t> kept;
    for (std::uint64_t call = 0; call < calls; ++call) {
        std::vector<std::uint64_t> mine;
        for (std::uint64_t i = 0; i < blocks; ++i) mine.push_back(made.allocate(40 + random.below(400), allocating));
        for (std::size_t i = mine.size(); i-- > (call == escapes ? 1U : 0U);) made.free(mine[i]);
        if (call == escapes) {
            made.allocate(64, between);
            made.free(mine[0]);
        }
        // What the program does beside it.
        kept.push_back(made.allocate(1024 + random.below(5000), keeping));
        if (kept.size() > 50) {
            const std::size_t which = random.below(kept.size());
            made.free(kept[which]);
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    return made.take();
}

/// Nodes of one size that live for different times. `odd`: this node (by number) has a larger size; ~0: none.
inline lab::trace node_program(std::uint64_t nodes, std::uint64_t live, std::uint64_t odd = ~std::uint64_t{0},
                               std::uint32_t threads = 1, lab::trace_family family = lab::trace_family::malloc) {
    program made;
    numbers random(11);
    const std::uint32_t allocating = made.stack({list_code + 8, main_code + 4, start_code});
    std::vector<std::uint64_t> kept;
    for (std::uint64_t i = 0; i < nodes; ++i) {
        kept.push_back(
            made.allocate(i == odd ? 4000 : 48, allocating, static_cast<std::uint32_t>(i % threads), family));
        if (kept.size() <= live) continue;
        const std::size_t which = random.below(kept.size());
        made.free(kept[which], static_cast<std::uint32_t>(random.below(threads)));
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(which));
    }
    return made.take();
}

/// Documents of many blocks of many sizes, which are freed together, the first block first. parse() makes one and frees
/// it, and calls another function after that. `early`: so many are freed before the others are allocated.
inline lab::trace document_program(std::uint64_t documents, std::uint64_t blocks, std::uint64_t early = 0) {
    program made;
    numbers random(13);
    const std::uint32_t allocating = made.stack({list_code + 8, work_code + 4, main_code + 4, start_code});
    const std::uint32_t after = made.stack({other_code + 8, work_code + 40, main_code + 4, start_code});
    for (std::uint64_t document = 0; document < documents; ++document) {
        std::vector<std::uint64_t> mine;
        for (std::uint64_t i = 0; i < blocks; ++i) {
            mine.push_back(made.allocate(24 + random.below(200), allocating));
            if (i != early) continue;
            for (std::uint64_t k = 0; k < early; ++k) made.free(mine[k]);
            mine.erase(mine.begin(), mine.end() - 1);
        }
        for (const std::uint64_t each : mine) made.free(each);
        made.allocate(1000, after);
    }
    return made.take();
}

/// The trace of the same program that does not free a block.
inline lab::trace without_free_of(lab::trace of, std::uint64_t block) {
    std::erase_if(of.events, [&](const lab::trace_event& each) {
        return each.call == lab::trace_call::deallocate && each.block == block;
    });
    return of;
}

/// Frames with blocks that live in them (`frames_alive` 0) or for some frames. `escapes`: in this frame one block lives
/// longer than any rule allows. `thread`: that allocates and frees; thread 0 ends the frames.
inline lab::trace frame_program(std::uint64_t frames, std::uint64_t blocks, std::uint64_t frames_alive,
                                std::uint64_t escapes = ~std::uint64_t{0}, std::uint32_t thread = 0) {
    program made;
    numbers random(17);
    const std::uint32_t allocating = made.stack({work_code + 4, main_code + 4, start_code});
    std::vector<std::vector<std::uint64_t>> held(frames + frames_alive + 12);
    for (std::uint64_t frame = 0; frame < held.size(); ++frame) {
        for (std::uint64_t i = 0; i < blocks && frame < frames; ++i) {
            const std::uint64_t ends = frame == escapes && i == 0 ? frame + 10 : frame + frames_alive;
            held[ends].push_back(made.allocate(16 + random.below(300), allocating, thread));
        }
        for (const std::uint64_t each : held[frame]) made.free(each, thread);
        made.frame();
    }
    return made.take();
}

/// Arrays that grow by reallocation to about the same size.
inline lab::trace growing_program(std::uint64_t arrays, std::uint64_t final_bytes) {
    program made;
    const std::uint32_t allocating = made.stack({list_code + 8, main_code + 4, start_code});
    for (std::uint64_t i = 0; i < arrays; ++i) {
        const std::uint64_t array = made.allocate(64, allocating);
        for (std::uint64_t bytes = 128; bytes <= final_bytes; bytes *= 2) made.resize(array, bytes, allocating);
        made.free(array);
    }
    return made.take();
}

/// Blocks of all families, sizes and orders; some stay.
inline lab::trace mixed_program(std::uint64_t events, std::uint64_t seed, std::uint32_t threads = 1) {
    program made;
    numbers random(seed);
    std::vector<std::pair<std::uint64_t, lab::trace_family>> live;
    for (std::uint64_t i = 0; i < events; ++i) {
        const auto thread = static_cast<std::uint32_t>(random.below(threads));
        const std::uint64_t what = random.below(10);
        if (live.empty() || what < 5) {
            const auto family = static_cast<lab::trace_family>(random.below(5));
            const bool aligned = family == lab::trace_family::aligned || family == lab::trace_family::aligned_new;
            const auto alignment = static_cast<std::uint8_t>(aligned ? 4 + random.below(5) : 4);
            const std::uint64_t bytes = random.below(20) == 0 ? random.below(200'000) : random.below(600);
            live.emplace_back(made.allocate(bytes, 0, thread, family, alignment), family);
            continue;
        }
        const std::size_t which = random.below(live.size());
        if (what < 7 && (live[which].second == lab::trace_family::malloc)) {
            made.resize(live[which].first, random.below(3000), 0, thread);
            continue;
        }
        made.free(live[which].first, thread);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
    return made.take();
}

}
