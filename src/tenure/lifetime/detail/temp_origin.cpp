// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/temp_origin.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/lifetime/detail/temp_guards.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::uint32_t key_of_state = 0x8000'0000; // set in the keys of a temp_state's stacks
// Relaxed: each stack gets another key, and a thread that uses a state reads that one was made.
std::atomic<std::uint32_t> newest_key{0};
std::atomic<bool> was_state_made{false};

const temp_record* stack_of_this_thread(bool is_second) noexcept {
    const thread_record* const record = this_thread().record;
    if (record == nullptr) return nullptr;
    return is_second ? &record->stacks().second_record : &record->stacks().first_record;
}

/// Calls `look()` with the stack's position in the thread-local words.
template<class Look>
bool look_at_stack(bool is_second, Look&& look) noexcept {
    if (this_thread().record == nullptr) return false;
    std::optional<on_second_stack> second;
    if (is_second) second.emplace(*this_thread().record);
    return look();
}

}

std::uint32_t next_stack_key() noexcept {
    std::uint32_t key = 0;
    while (key == 0) key = (newest_key.fetch_add(1, std::memory_order_relaxed) + 1) & ~key_of_state;
    return key;
}

void mark_stack_of_state(temp_record& stack) noexcept {
    stack.key |= key_of_state;
    was_state_made.store(true, std::memory_order_relaxed);
}

bool are_there_states() noexcept { return was_state_made.load(std::memory_order_relaxed); }

temp_moment temp_moment_of(bool is_second) noexcept {
    const temp_record* const stack = stack_of_this_thread(is_second);
    if constexpr (checks::caller) {
        if (stack != nullptr) return {stack->key, stack->open_scopes, stack->ends.count};
    }
    return {};
}

temp_end end_since(const temp_moment& then, bool is_second) noexcept {
    const temp_record* const stack = stack_of_this_thread(is_second);
    if (stack == nullptr || (then.stack != 0 && then.stack != stack->key)) return temp_end::none;
    if constexpr (checks::caller) {
        const scope_ends& ends = stack->ends;
        if (ends.count == then.ends) [[likely]]
            return temp_end::none;
        if (ends.of_depth[0] > then.ends) return ends.last_emptied;
        if (then.depth < scope_ends::max_depth && ends.of_depth[then.depth] > then.ends) return temp_end::scope;
    }
    return temp_end::none;
}

namespace {

[[maybe_unused]] void note_end(temp_record& stack, temp_end what) noexcept {
    stack.ends.last = what;
    ++stack.ends.count;
    if (&stack != stack_of_this_thread(false)) return;
    this_thread().stacks->first_ends = std::uint64_t{stack.key} << 32 | (stack.ends.count & 0xFFFF'FFFF);
}

}

void note_scope_end(temp_record& stack, std::uint32_t depth) noexcept {
    if constexpr (checks::caller) {
        note_end(stack, temp_end::scope);
        // One that ends out of order ends the scopes inside it.
        const auto past = std::min<std::size_t>(std::size_t{stack.open_scopes} + 1, scope_ends::max_depth);
        for (std::size_t each = depth; each < past; ++each) stack.ends.of_depth[each] = stack.ends.count;
    }
}

void note_emptied(temp_record& stack, temp_end what) noexcept {
    if constexpr (checks::caller) {
        note_end(stack, what);
        stack.ends.last_emptied = what;
        stack.ends.of_depth[0] = stack.ends.count;
    }
}

namespace {

/// Whether a stack with this key, which the calling thread does not use now, is a temp_state's or the thread's own.
bool is_in_other_state(std::uint32_t key) noexcept {
    if ((key & key_of_state) != 0) return true;
    const thread_record* const record = this_thread().record;
    return record != nullptr &&
           (record->own_stacks.first_record.key == key || record->own_stacks.second_record.key == key);
}

/// Says where something was begun, and where the thread is now.
void say_states(report_text& text, std::string_view verb, std::uint32_t key) noexcept {
    const bool was_state = (key & key_of_state) != 0;
    const bool is_state = this_thread().record != nullptr && this_thread().stacks != &this_thread().record->own_stacks;
    text.text(". It ").text(verb).text(was_state ? " a temp_state" : " the thread's own Temp").text(", and ");
    text.text(!is_state ? "the thread's own Temp" : was_state ? "another temp_state" : "a temp_state");
    text.text(" is the current one. ");
}

}

void report_scope_elsewhere(std::uint32_t key) noexcept {
    if (is_in_other_state(key)) {
        report_text text;
        text.text("a temp_scope ended while another temp_state than its own is current");
        say_states(text, "began in", key);
        text.text("Switch back before the scope ends (temp_state::switch_to, or the end of a temp_state_scope), or end "
                  "the scope before the switch.");
        return report(report_kind::misuse, text.view());
    }
    report_misuse("a temp_scope ended on another thread than it began on", nullptr,
                  "End each scope on its thread: Temp belongs to one thread. Memory that another thread frees is "
                  "temp_job's. A fiber or coroutine that moves between threads takes its Temp along in a "
                  "temp_state.");
}

void report_inner_growth() noexcept {
    report_misuse("a container over Temp grows inside a temp_scope that began after the container was made", nullptr,
                  "The end of the scope frees the new memory, and the container keeps using it. Let a function with "
                  "scratch memory take it from the other stack (scratch_scope, lifetime/scratch.hpp), reserve the "
                  "container's memory before the scope, or make the container inside it.");
}

void report_outlived(temp_end what, const void* container_or_block) noexcept {
    constexpr std::string_view advice =
        "Make the container anew inside each scope, job or frame, or let it allocate from TempJob or the heap.";
    if (what == temp_end::scope)
        return report_misuse("a container over Temp has outlived the temp_scope in which it got its memory",
                             container_or_block, advice);
    if (what == temp_end::frame)
        return report_misuse("a container over Temp has outlived its frame: next_frame() freed its memory",
                             container_or_block, advice);
    report_misuse("a container over Temp has outlived reset_temp(), which freed its memory", container_or_block,
                  advice);
}

namespace {

TENURE_COLD void report_free_elsewhere(std::uint32_t key, const void* block) noexcept {
    report_text text;
    text.text("a container over Temp freed memory while another temp_state than its own is current: ").address(block);
    say_states(text, "was made in", key);
    text.text("Let a container grow and end in the temp_state in which it was made, or make it anew after the switch.");
    report(report_kind::misuse, text.view());
}

}

bool temp_origin::check_free(void* block, std::size_t bytes) const noexcept {
    if (then_.stack != 0 && then_.stack != temp_moment_of(is_second_).stack) [[unlikely]] {
        const bool is_here = look_at_stack(is_second_, [&] { return is_inside_temp(block); });
        if (is_here || !is_in_other_state(then_.stack)) return true; // left to the allocator
        report_free_elsewhere(then_.stack, block);
        return false;
    }
    const temp_end ended = end();
    if (ended == temp_end::none) [[likely]]
        return true;
    const bool is_sound = look_at_stack(is_second_, [&] { return is_block_of_temp(block, bytes); });
    if (is_sound) return true; // allocated since
    report_outlived(ended, block);
    return false;
}

}
