// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/advice_words.hpp"

#include <array>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tenure::lab {

std::string sizes_in_words(const block_group& group) {
    if (group.smallest == group.largest) return fmt::format("{} bytes", group.largest);
    return fmt::format("{} to {} bytes", group.smallest, group.largest);
}

std::string place_in_words(const block_group& group, const place_names& names) {
    const std::vector<std::string> frames = frames_in_words(group, names);
    return frames.empty() ? "blocks of " + sizes_in_words(group) : frames.front();
}

std::vector<std::string> frames_in_words(const block_group& group, const place_names& names) {
    std::vector<std::string> shown;
    if (group.stack == 0) return shown;
    const std::vector<std::string> frames = names(group.stack);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        // All of them may be functions that are not shown: then the first that is stands for them.
        if (i >= group.depth && !shown.empty()) break;
        if (!frames[i].empty()) shown.push_back(frames[i]);
    }
    if (group.stacks > 1 && !shown.empty()) shown.push_back(fmt::format("(from {} call stacks)", group.stacks));
    return shown;
}

std::string scope_in_words(const block_group& group, const lifetime_advice& advice, const place_names& names) {
    switch (advice.where) {
    case scope_place::frame: return "the frame, which tn_next_frame() or next_frame() ends";
    case scope_place::phase: return "each phase between two marks";
    case scope_place::function: {
        const std::vector<std::string> frames = names(group.stack);
        std::size_t place = advice.scope_frame;
        while (place < frames.size() && frames[place].empty()) ++place;
        if (place >= frames.size()) return {};
        if (place == 0 || frames[place - 1].empty()) return frames[place];
        const std::string& called = frames[place - 1];
        return fmt::format("{}, from before the call of {} until the last block is freed", frames[place],
                           called.substr(0, called.find(" at ")));
    }
    case scope_place::unknown: break;
    }
    return {};
}

std::string frees_in_words(const block_group& group, const place_names& names) {
    if (group.freed_stack == 0) return {};
    constexpr std::size_t most_frames = 2;
    std::string text;
    std::size_t shown = 0;
    for (const std::string& each : names(group.freed_stack)) {
        if (each.empty() || shown == most_frames) continue;
        text += (shown++ == 0 ? "" : ", called by ") + each;
    }
    if (shown == 0) return {};
    const double share = static_cast<double>(group.freed_there) / static_cast<double>(group.blocks.size() - group.left);
    return fmt::format("{} ({} of the frees; {})", text, share_text(share),
                       count_in_words(group.freed_stacks, "call stack"));
}

namespace {

/// The parts of a line that follow from what the blocks ask for.
struct line_words {
    std::string alignment;       ///< ", 64" behind the bytes; empty: every block has it
    std::string cleared;         ///< C++: the call that replaces calloc's
    std::string_view zeroed;     ///< C#: the end of the name that clears
    std::string cleared_objects; ///< where the blocks come from a pool
    std::string aligned_type;    ///< where the alignment is the type's
};

line_words words_of(const block_group& group, const lifetime_advice& advice) {
    line_words made;
    const std::uint64_t alignment = std::uint64_t{1} << advice.alignment_log2;
    if (alignment > 16) {
        made.alignment = fmt::format(", {}", alignment);
        made.aligned_type = fmt::format(" T is alignas({}).", alignment);
    }
    if (group.zeroed != 0) {
        made.cleared = " std::memset(block, 0, bytes);";
        made.zeroed = "Zeroed";
        made.cleared_objects = fmt::format(" // not zeroed, as calloc is: clear the {} bytes", advice.room_bytes);
    }
    return made;
}

code_lines temp_lines(const lifetime_advice& advice, const line_words& words) {
    const bool is_frame = advice.where == scope_place::frame;
    const std::string_view end = is_frame ? "next_frame() ends it" : "the scope ends it";
    const std::string_view cpp_from =
        is_frame ? "void* block = tenure::temp::allocate" : "tenure::temp_scope scope; void* block = scope.allocate";
    code_lines made{fmt::format("{}(bytes{});{} // no free: {}", cpp_from, words.alignment, words.cleared, end), {}};
    if (is_frame)
        made.csharp =
            fmt::format("void* block = Native.Allocate{}(bytes, Lifetime.Temp{}); // no free: NextFrame() ends it",
                        words.zeroed, words.alignment);
    else if (words.alignment.empty())
        made.csharp = fmt::format("using var scope = TempScope.Begin(); Span<T> items = scope.Allocate{}<T>(count);",
                                  words.zeroed);
    else
        made.csharp = fmt::format("using var scope = TempScope.Begin(); void* block = Native.Allocate{}(bytes, "
                                  "Lifetime.Temp{});",
                                  words.zeroed, words.alignment);
    return made;
}

code_lines pool_lines(const block_group& group, const lifetime_advice& advice, const line_words& words) {
    const bool is_shared = advice.kind == advice_kind::shared_pool;
    if (!is_shared && group.smallest == group.largest)
        return {fmt::format("tenure::pool<T> objects; // sizeof(T) is {}; objects.make(…), objects.destroy(object){}{}",
                            advice.room_bytes, words.aligned_type.empty() ? "" : ".", words.aligned_type),
                words.alignment.empty()
                    ? std::string("using var objects = new Pool<T>(); ref T one = ref objects.Construct(value); … "
                                  "objects.Free(ref one);")
                    : fmt::format("using var blocks = new BlockPool({}{}); … blocks.Allocate(), blocks.Free(block);",
                                  advice.room_bytes, words.alignment)};
    return {fmt::format("tenure::{}block_pool blocks({}{}); … blocks.allocate(), blocks.deallocate(block);{}",
                        is_shared ? "shared_" : "", advice.room_bytes, words.alignment, words.cleared_objects),
            fmt::format("using var blocks = new {}BlockPool({}{}); … blocks.Allocate(), blocks.Free(block);{}",
                        is_shared ? "Shared" : "", advice.room_bytes, words.alignment, words.cleared_objects)};
}

/// The replay's arena lives as long as the program: one that is made for each call would acquire its memory each time.
code_lines arena_lines(const line_words& words) {
    const std::string csharp =
        words.alignment.empty()
            ? fmt::format("readonly Arena items = new(); // a field, kept from call to call … Span<T> some = "
                          "items.Allocate{}<T>(count); … items.Clear();",
                          words.zeroed)
            : fmt::format("readonly Arena items = new(); // a field, kept from call to call … void* block = "
                          "items.AllocateBytes(bytes{}); … items.Clear();{}",
                          words.alignment, words.cleared.empty() ? "" : " // clear the block");
    return {fmt::format("tenure::arena items; // a member or static, kept from call to call … void* block = "
                        "items.allocate(bytes{});{} … items.clear(); // once, instead of every free",
                        words.alignment, words.cleared),
            csharp};
}

}

code_lines lines_for(const block_group& group, const lifetime_advice& advice) {
    const line_words words = words_of(group, advice);
    switch (advice.kind) {
    case advice_kind::temp: return temp_lines(advice, words);
    case advice_kind::temp_job:
        return {fmt::format("void* block = tenure::temp_job::allocate(bytes{});{} … "
                            "tenure::temp_job::deallocate(block);",
                            words.alignment, words.cleared),
                fmt::format("void* block = Native.Allocate{}(bytes, Lifetime.TempJob{}); … Native.Deallocate(block, "
                            "Lifetime.TempJob);",
                            words.zeroed, words.alignment)};
    case advice_kind::pool:
    case advice_kind::shared_pool: return pool_lines(group, advice, words);
    case advice_kind::arena: return arena_lines(words);
    case advice_kind::reserve:
        return {fmt::format("list.reserve({} / sizeof(T)); // before the first element is added", advice.room_bytes),
                fmt::format("var list = new List<T>({} / sizeof(T));", advice.room_bytes)};
    case advice_kind::leave_alone: break;
    }
    return {};
}

std::string confidence_in_words(const lifetime_advice& advice) {
    if (advice.checked_on == 0)
        return fmt::format("Confidence {}: learned on {}, which the trace shows once; nothing is left to check it on.",
                           name_of(advice.degree), count_in_words(advice.learned_on, "block"));
    return fmt::format("Confidence {}: learned on {}, checked on {} more, {}.", name_of(advice.degree),
                       count_in_words(advice.learned_on, "block"), advice.checked_on,
                       count_in_words(advice.violations, "violation"));
}

std::string saving_in_words(const measured_saving& saving) {
    const auto share = [](const paired_estimate& of) {
        return fmt::format("{:.1f} % [{:.1f} to {:.1f}]", (1 - of.median) * 100, (1 - of.high) * 100,
                           (1 - of.low) * 100);
    };
    const std::string first = saving.is_first_alone
                                  ? std::string("on a new heap")
                                  : fmt::format("on a warm heap, {} on a new one", share(saving.first_ratio));
    const std::string on_new_heap =
        saving.is_first_alone ? std::string() : fmt::format(", {:.2f} on a new heap", saving.first_saved_ns.median);
    return fmt::format("{} of the replay's time {}; {:.2f} ns per call of the program{}", share(saving.time_ratio),
                       first, saving.saved_ns.median, on_new_heap);
}

std::string settings_in_words(const advice_report& of) {
    if (of.comparisons == 0) return "Nothing was replayed: there is no advice to prove.";
    const std::string repeats = of.repeats == 1 ? "" : fmt::format(", {} in a process on a warm heap", of.repeats);
    return fmt::format("Replays: {} rounds{}, --touch {}, --seed {}. Comparisons: {}, each so certain that all of them "
                       "are right with 95 %.",
                       of.replay.rounds, repeats, name_of(of.replay.touch), of.replay.seed, of.comparisons);
}

std::vector<std::string> limits_in_words(const advice_report& of) {
    std::vector<std::string> lines;
    if (!of.is_complete)
        lines.emplace_back("The run was interrupted: what was not measured to the end is not among the advice.");
    if (!of.damage.empty())
        lines.push_back(fmt::format("The trace is damaged: {} What could be read is used.", of.damage));
    if (of.unknown_frees != 0)
        lines.push_back(
            fmt::format("Left out: {} of blocks from before the recording.", count_in_words(of.unknown_frees, "free")));
    if (!of.has_stacks)
        lines.emplace_back(
            "The trace has no call stacks: blocks are grouped by size class alone. Record with stacks to "
            "learn which calls allocate them.");
    if (!of.has_frames)
        lines.emplace_back(
            "The trace has no frames: TempJob, which is for a number of frames, is not among the advice. "
            "A program tells its frames by tn_next_frame().");
    return lines;
}

std::vector<std::string> rest_in_words(const advice_report& of) {
    std::vector<std::string> lines;
    if (of.other_groups != 0)
        lines.push_back(fmt::format("Not looked at (--groups N looks at more): {} with {}.",
                                    count_in_words(of.other_groups, "more group"),
                                    count_in_words(of.other_blocks, "block")));
    if (of.small_groups != 0)
        lines.push_back(fmt::format("Too small for a replay to see what they save: {} with {}.",
                                    count_in_words(of.small_groups, "group"),
                                    count_in_words(of.small_blocks, "block")));
    if (of.has_together && of.together.error.empty())
        lines.push_back(fmt::format("All of it together: {}; peak resident {:.1f} -> {:.1f} MiB.",
                                    saving_in_words(of.together), of.together.recorded_peak_mib,
                                    of.together.advised_peak_mib));
    if (of.has_together && !of.together.error.empty())
        lines.push_back(fmt::format("All of it together was not measured: {}.", of.together.error));
    lines.push_back(settings_in_words(of));
    lines.push_back(
        fmt::format("Savings are of the replayed calls, against {}. A replay knows nothing of the program's "
                    "own work, caches, waiting, and input and output: the share that it saves of the "
                    "program's time is smaller.",
                    of.base));
    return lines;
}

std::string_view name_of(scope_proof proof) {
    constexpr std::array<std::string_view, 3> names{"allocations", "frees", "separate calls"};
    return names[static_cast<std::size_t>(proof)];
}

std::string_view scope_warning(const lifetime_advice& advice) {
    if (advice.where != scope_place::function) return {};
    switch (advice.proof) {
    case scope_proof::frees:
        return "The trace shows that function freeing the blocks, or calling what frees them. It cannot tell one call "
               "from several that follow one another from the same place, nor the turns of a loop, where nothing is "
               "allocated or freed in between: make sure that no block stays for the next. A checked build reports it.";
    case scope_proof::separate_calls:
        return "The trace shows that function freeing the blocks, or calling what frees them, and another call of it "
               "for each scope. Only if a loop makes that call, and neither allocates nor frees until its last turn, a "
               "block could stay for the next turn. A checked build reports it.";
    case scope_proof::allocations: break;
    }
    if (advice.kind == advice_kind::arena)
        return "This is right only if that function frees the blocks itself or calls what frees them, and neither "
               "returns nor keeps them: the trace cannot prove it.";
    return "This is right only if that function frees the blocks itself or calls what frees them, and neither returns "
           "nor keeps them: the trace cannot prove it. Where a loop makes that call and nothing else in the loop "
           "allocates, the trace cannot tell its turns apart: put the scope around the loop, or make sure that no "
           "block stays for the next turn. A checked build reports it.";
}

std::string count_in_words(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string bytes_in_words(double bytes) {
    constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string time_in_words(std::uint64_t ns) {
    const double value = static_cast<double>(ns);
    if (value < 1e3) return fmt::format("{} ns", ns);
    if (value < 1e6) return fmt::format("{:.1f} us", value / 1e3);
    if (value < 1e9) return fmt::format("{:.1f} ms", value / 1e6);
    return fmt::format("{:.1f} s", value / 1e9);
}

}
