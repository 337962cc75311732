// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/advice_words.hpp"

#include <array>

#include <fmt/format.h>

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

code_lines lines_for(const block_group& group, const lifetime_advice& advice) {
    const bool is_array = group.smallest != group.largest;
    switch (advice.kind) {
    case advice_kind::temp:
        if (advice.where == scope_place::frame)
            return {"void* block = tenure::temp::allocate(bytes); // no free: next_frame() ends it",
                    "void* block = Native.Allocate(bytes, Lifetime.Temp); // no free: NextFrame() ends it"};
        return {"tenure::temp_scope scope; void* block = scope.allocate(bytes); // no free: the scope ends it",
                "using var scope = TempScope.Begin(); Span<T> items = scope.Allocate<T>(count);"};
    case advice_kind::temp_job:
        return {
            "void* block = tenure::temp_job::allocate(bytes); … tenure::temp_job::deallocate(block);",
            "void* block = Native.Allocate(bytes, Lifetime.TempJob); … Native.Deallocate(block, Lifetime.TempJob);"};
    case advice_kind::pool:
        if (is_array)
            return {fmt::format("tenure::block_pool blocks({}); … blocks.allocate(), blocks.deallocate(block);",
                                advice.room_bytes),
                    fmt::format("using var blocks = new BlockPool({}); … blocks.Allocate(), blocks.Free(block);",
                                advice.room_bytes)};
        return {
            fmt::format("tenure::pool<T> objects; // sizeof(T) is {}; objects.make(…), objects.destroy(object)",
                        advice.room_bytes),
            "using var objects = new Pool<T>(); ref T one = ref objects.Construct(value); … objects.Free(ref one);"};
    case advice_kind::shared_pool:
        return {fmt::format("tenure::shared_block_pool blocks({}); … blocks.allocate(), blocks.deallocate(block);",
                            advice.room_bytes),
                fmt::format("using var blocks = new SharedBlockPool({}); … blocks.Allocate(), blocks.Free(block);",
                            advice.room_bytes)};
    case advice_kind::arena:
        return {"tenure::arena items; … items.allocate(bytes); … items.clear(); // once, instead of every free",
                "using var items = new Arena(); Span<T> some = items.Allocate<T>(count); … items.Clear();"};
    case advice_kind::reserve:
        return {fmt::format("list.reserve({} / sizeof(T)); // before the first element is added", advice.room_bytes),
                fmt::format("var list = new List<T>({} / sizeof(T));", advice.room_bytes)};
    case advice_kind::leave_alone: break;
    }
    return {};
}

std::string confidence_in_words(const lifetime_advice& advice) {
    if (advice.checked_on == 0)
        return fmt::format(
            "Confidence {}: learned on {} blocks, which the trace shows once; nothing is left to check it "
            "on.",
            name_of(advice.degree), advice.learned_on);
    return fmt::format("Confidence {}: learned on {} blocks, checked on {} others, {} violations.",
                       name_of(advice.degree), advice.learned_on, advice.checked_on, advice.violations);
}

std::string saving_in_words(const measured_saving& saving) {
    return fmt::format("{:.1f} % of the replay's time [{:.1f} to {:.1f}], {:.2f} ns per call of the program",
                       (1 - saving.time_ratio.median) * 100, (1 - saving.time_ratio.high) * 100,
                       (1 - saving.time_ratio.low) * 100, saving.saved_ns.median);
}

std::string threads_in_words(std::uint64_t count) { return fmt::format("{} thread{}", count, count == 1 ? "" : "s"); }

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
