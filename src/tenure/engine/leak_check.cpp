// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/leak_check.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/engine/address_table.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/program.hpp>
#include <tenure/platform/readable.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

struct holder_entry {
    std::uintptr_t key;
    const holder_kind* kind;
    std::uint64_t mark;
    holder_facts facts;
};

[[nodiscard]] bool is_as_registered(const holder_entry& entry) noexcept {
    const void* const holder = pointer_at(entry.key);
    return platform::is_object_readable(holder, entry.kind->bytes) && entry.kind->mark(holder) == entry.mark;
}

// Locks of shared pools, groups and heaps are taken under this one, by the report.
using holder_table = locked_table<holder_entry>;
constexpr platform::fork_steps steps_of_holders = platform::steps_of_lock<&holder_table::lock_of>;
constinit holder_table all_holders{platform::fork_order::thread_slots, steps_of_holders};

constinit leak_lister* listers = nullptr;      // changes only while the library is loaded
constinit std::atomic<bool> is_foreign{false}; // relaxed: set while the library is loaded
constinit std::uint64_t own_process = 0;

TENURE_AT_LOAD(note_process) { own_process = platform::process_id(); }

// Runs after the destructors of the program's objects of static duration, and after those of the libraries that use
// this one. A child of a fork has not made what it inherited.
TENURE_AT_UNLOAD(report_at_exit) {
    if (option_value(option::leak_check) == 0 || own_process != platform::process_id()) return;
    held_list list;
    list_held(list);
    list.write();
}

}

void leak_lister::enlist() noexcept {
    next = listers;
    listers = this;
}

void add_holder(const void* holder, const holder_kind& kind, std::size_t block_bytes) noexcept {
    if (option_value(option::leak_check) == 0) [[likely]]
        return;
    all_holders.change([&](auto& table) {
        const std::uint64_t mark = kind.mark(holder);
        const holder_entry* const found = table.find(address_of(holder));
        if (found == nullptr || found->kind != &kind || found->mark != mark)
            table.put({address_of(holder), &kind, mark, {nullptr, block_bytes}});
    });
}

void name_holder(const void* holder, const char* type) noexcept {
    if (all_holders.empty()) return;
    all_holders.change([&](auto& table) {
        if (holder_entry* const found = table.find(address_of(holder)); found != nullptr) found->facts.type = type;
    });
}

void share_holder(const void* from, const void* to) noexcept {
    if (all_holders.empty()) return;
    all_holders.change([&](auto& table) {
        const holder_entry* const found = table.find(address_of(from));
        if (found == nullptr) return;
        holder_entry moved = *found;
        moved.key = address_of(to);
        table.put(moved);
    });
}

void remove_holder(const void* holder) noexcept {
    if (all_holders.empty()) [[likely]]
        return;
    all_holders.change([&](auto& table) { table.erase(address_of(holder)); });
}

void serve_foreign_blocks() noexcept { is_foreign.store(true, std::memory_order_relaxed); }
bool serves_foreign_blocks() noexcept { return is_foreign.load(std::memory_order_relaxed); }

void list_held(held_list& to) noexcept {
    for (const leak_lister* each = listers; each != nullptr; each = each->next) each->list(to);
    const platform::patient_lock lock(all_holders.mutex(), to.patience());
    if (!lock) return to.add_busy("list of", " heaps, pools, groups and arenas");
    all_holders.for_each([&](const holder_entry& each) {
        const void* const holder = pointer_at(each.key);
        is_as_registered(each) ? each.kind->list(holder, each.facts, to) : to.add_lost(each.kind->part, holder);
    });
}

// GCC:   constexpr const char* tenure::...::signature_of() [with T = game::monster]
// clang: const char *tenure::...::signature_of() [T = game::monster]
std::string_view type_in(const char* signature) noexcept {
    if (signature == nullptr) return {};
    constexpr std::string_view mark = "T = ";
    const std::string_view whole = platform::text_or(signature, "T = (a type of an unloaded file)]");
    const std::size_t begin = whole.find(mark);
    if (begin == std::string_view::npos) return {};
    const std::string_view rest{whole.data() + begin + mark.size(), whole.size() - begin - mark.size()};
    return {rest.data(), rest.empty() ? 0 : rest.size() - 1};
}

std::string_view readable_name(std::string_view name) noexcept {
    return platform::text_or(name, "(its name was in an unloaded file)");
}

void held_list::add(const held_blocks& held) noexcept {
    if (held.count == 0) return;
    count_ += held.count;
    bytes_ += held.bytes;
    add_line(held, false);
}

void held_list::add_detail(const held_blocks& held) noexcept { add_line(held, true); }

void held_list::add_lost(std::string_view part, const void* holder) noexcept { lost_.add({part, {}, holder}); }

void held_list::add_busy(std::string_view part, std::string_view name, const void* holder) noexcept {
    busy_.add({part, name, holder});
}

void held_list::uncounted::add(const object& added) noexcept {
    if (count < max_named) objects[count] = added;
    ++count;
}

void held_list::add_line(const held_blocks& held, bool is_detail) noexcept {
    line added{};
    const auto append = [&](std::string_view part) noexcept {
        const std::size_t taken = std::min(part.size(), sizeof added.words - added.words_bytes);
        if (taken != 0) std::memcpy(added.words + added.words_bytes, part.data(), taken);
        added.words_bytes += taken;
        constexpr std::string_view cut = "...";
        if (taken < part.size()) std::memcpy(added.words + sizeof added.words - cut.size(), cut.data(), cut.size());
    };
    append(held.part);
    append(held.name);
    added.unit = held.unit;
    added.count = held.count;
    added.bytes = held.bytes;
    added.is_detail = is_detail;
    added.frame_count = std::min(held.stack_count, max_frames);
    std::copy_n(held.stack, added.frame_count, added.frames);
    for (std::size_t index = 0; index < line_count_; ++index) {
        line& present = lines_[index];
        if (present.is_detail != is_detail || present.words_bytes != added.words_bytes) continue;
        if (std::memcmp(present.words, added.words, added.words_bytes) != 0) continue;
        if (!std::equal(present.frames, present.frames + max_frames, added.frames)) continue;
        present.count += added.count;
        present.bytes += added.bytes;
        return;
    }
    if (line_count_ < max_lines) lines_[line_count_++] = added;
}

void held_list::write_lines(bool are_details) noexcept {
    for (std::size_t written = 0; written < max_written; ++written) {
        line* largest = nullptr;
        for (std::size_t index = 0; index < line_count_; ++index) {
            line& each = lines_[index];
            if (each.is_detail == are_details && each.count != 0 && (largest == nullptr || each.bytes > largest->bytes))
                largest = &each;
        }
        if (largest == nullptr) return;
        report_text text;
        text.text("  ").text({largest->words, largest->words_bytes}).text(": ").number(largest->count);
        text.text(" ").text(largest->unit).text(largest->count == 1 ? ", " : "s, ");
        text.number(largest->bytes).text(" bytes\n");
        host::write_report(text.view());
        host::write_stack(largest->frames, largest->frame_count);
        largest->count = 0; // written
    }
}

void held_list::uncounted::write(std::string_view why, std::string_view advice) const noexcept {
    if (count == 0) return;
    for (std::size_t index = 0; index < std::min(count, max_named); ++index) {
        const object& each = objects[index];
        report_text text;
        text.text("tenure: the ").text(each.part).text(each.name);
        if (each.name.empty() && each.at != nullptr) text.text(" at ").address(each.at);
        host::write_report(text.text(why).view());
    }
    if (count > max_named) {
        report_text more;
        more.text("tenure: The same holds for ").number(count - max_named).text(" more.\n");
        host::write_report(more.view());
    }
    host::write_report(advice);
}

void held_list::write() noexcept {
    lost_.write(
        " was unmapped, freed or overwritten before its destructor ran: its blocks are not counted.\n",
        "tenure: Destroy such an object before its memory goes away. A longjmp over its frame runs no destructor.\n");
    busy_.write(
        " was in use: a call of a thread holds its lock, so its blocks are not counted.\n",
        "tenure: Join the threads before the program ends, and do not end it in a signal handler. A thread that "
        "waits or was stopped inside a call keeps the lock.\n");
    if (count_ == 0) return;
    report_text text;
    text.text("tenure: ").number(count_).text(count_ == 1 ? " block of " : " blocks with ").number(bytes_);
    text.text(count_ == 1 ? " bytes is" : " bytes are").text(" still held at the end of the program, by\n");
    host::write_report(text.view());
    write_lines(false);
    std::size_t left = 0;
    bool has_details = false;
    for (std::size_t index = 0; index < line_count_; ++index) {
        left += !lines_[index].is_detail && lines_[index].count != 0 ? 1 : 0;
        has_details |= lines_[index].is_detail;
    }
    if (left != 0 || line_count_ == max_lines) {
        report_text more;
        host::write_report(more.text("  and others; the ").number(max_written).text(" largest are listed\n").view());
    }
    if (has_details) {
        host::write_report("tenure: of the process heap's blocks, these have a type:\n");
        write_lines(true);
    }
    host::write_report("tenure: Free them before the program ends. TENURE_LEAK_CHECK=0 turns this report off.\n");
}

}
