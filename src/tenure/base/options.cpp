// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/options.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <iterator>
#include <utility>

#include <tenure/base/at_fork.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40;

constexpr std::array<option_info, option_count> table{{
    {option::temp_budget_bytes, option_form::bytes, "temp_budget_bytes", "TENURE_TEMP_BUDGET", 4 * mebibyte, 4096,
     tebibyte, "Bytes of Temp that each thread reserves; allocations past this budget overflow into TempJob's chunks."},
    {option::temp_job_frames, option_form::count, "temp_job_frames", "TENURE_TEMP_JOB_FRAMES", 4, 1, 1000,
     "Frames that a TempJob block may live before it is reported as a leak."},
    {option::temp_job_limit_bytes, option_form::bytes, "temp_job_limit_bytes", "TENURE_TEMP_JOB_LIMIT", tebibyte, 0,
     tebibyte,
     "Maximum bytes of chunks that TempJob acquires for the whole process; blocks past this limit come from the "
     "process heap one at a time."},
    {option::passthrough, option_form::parts, "passthrough", "TENURE_PASSTHROUGH", 0, 0, all_parts,
     "Parts that allocate each block with the process's malloc instead: all, none, or some of arena, temp, temp_job, "
     "pool, small_object, heap, affinity, separated by commas."},
    {option::malloc_stats, option_form::report, "malloc_stats", "TENURE_MALLOC_STATS", 0, 0, 2,
     "Statistics of the drop-in malloc that are written to standard error when the program ends: none, text, json."},
    {option::malloc_stats_signal, option_form::count, "malloc_stats_signal", "TENURE_MALLOC_STATS_SIGNAL", 0, 0, 64,
     "Number of a signal on which the drop-in malloc writes its statistics, in the form of malloc_stats or as text; a "
     "signal that the program handles or ignores is left alone; 0: none."},
    {option::heap_limit_bytes, option_form::bytes, "heap_limit_bytes", "TENURE_HEAP_LIMIT", 0, 0, tebibyte,
     "Maximum bytes of pages and larger blocks in use in the process heap; requests past this limit fail, and the "
     "first "
     "one writes a report of who holds what to standard error; 0: no limit."},
    {option::heap_purge_delay_ms, option_form::count, "heap_purge_delay_ms", "TENURE_HEAP_PURGE_DELAY_MS", 1000, 0,
     86'400'000,
     "Milliseconds that the process heap retains freed memory for reuse before it returns the memory to the system."},
    {option::heap_max_retained_bytes, option_form::bytes, "heap_max_retained_bytes", "TENURE_HEAP_MAX_RETAINED",
     256 * mebibyte, 0, tebibyte,
     "Maximum bytes of freed blocks past 31 MiB that the process heap retains; it retains more only while the program "
     "repeatedly requests blocks past this limit; 0: none."},
    {option::heap_background, option_form::count, "heap_background", "TENURE_HEAP_BACKGROUND", 1, 0, 1,
     "1: a background thread of the library returns freed memory when its purge delay is over, also between blocks in "
     "use. It exists only while there is something to return. 0: only calls of a heap return memory."},
    {option::heap_guard_sample, option_form::count, "heap_guard_sample", "TENURE_HEAP_GUARD_SAMPLE", 5000, 0, 1'000'000,
     "Checked builds place one in this many blocks of up to 64 KiB between guard pages; 0: none."},
    {option::heap_guard_bytes, option_form::bytes, "heap_guard_bytes", "TENURE_HEAP_GUARD_BYTES", 16 * mebibyte, 0,
     tebibyte,
     "Plain builds place about one block of up to 1 MiB in this many allocated bytes of the process heap between guard "
     "pages; below 4K, for tests: every block that no thread cache serves; 0: none."},
    {option::heap_mitigations, option_form::mitigations, "heap_mitigations", "TENURE_HEAP_MITIGATIONS", all_mitigations,
     0, all_mitigations,
     "What checked builds do for each block of a heap: all, none, or some of double_free, canary, front, form, size, "
     "fill, quarantine, shuffle, zero_size, guards, records, separated by commas."},
    {option::affinity_block_bytes, option_form::bytes, "affinity_block_bytes", "TENURE_AFFINITY_BLOCK", 2 * mebibyte,
     65'536, 1024 * mebibyte, "Bytes of a block of the ready-made affinity groups, rounded down to a power of two."},
    {option::affinity_alignment, option_form::count, "affinity_alignment", "TENURE_AFFINITY_ALIGNMENT", 0, 0, 1024,
     "Minimum alignment of objects in the ready-made affinity groups, rounded up to a power of two from 4 on; 0: 8 or "
     "16, as each group says."},
    {option::affinity_by_size, option_form::count, "affinity_by_size", "TENURE_AFFINITY_BY_SIZE", 0, 0, 1,
     "1: each size up to 512 bytes has its own pages in the ready-made affinity groups."},
    {option::affinity_size_required, option_form::count, "affinity_size_required", "TENURE_AFFINITY_SIZE_REQUIRED", 0,
     0, 1, "1: every free in the ready-made affinity groups passes the size, and the groups record nothing."},
    {option::affinity_huge_pages, option_form::count, "affinity_huge_pages", "TENURE_AFFINITY_HUGE_PAGES", 0, 0, 1,
     "1: the ready-made affinity groups use pages of 2 MiB, if the system has them."},
    {option::handle_report, option_form::report, "handle_report", "TENURE_HANDLE_REPORT", 0, 0, 2,
     "Report on handles that are still live, written to standard error when the program ends: none, text, json."},
    {option::handle_stack_frames, option_form::count, "handle_stack_frames", "TENURE_HANDLE_STACK_FRAMES", 0, 0, 16,
     "Return addresses of the creating call that each handle records for listings; costs microseconds per handle."},
    {option::buffer_fill, option_form::count, "buffer_fill", "TENURE_BUFFER_FILL", 0, 0, 1,
     "1: overwrite up to 64 MiB of a buffer's memory with 0xDF when the buffer is freed; checked builds always do."},
    {option::leak_check, option_form::count, "leak_check", "TENURE_LEAK_CHECK", checks::caller ? 1 : 0, 0, 1,
     "1: when the program ends, write to standard error what heaps, pools, arenas, affinity groups, frame_memory, "
     "stable_vectors and TempJob still hold; checked builds do so unless this is 0, and the drop-in malloc only if it "
     "is "
     "set."},
    {option::report_copies, option_form::count, "report_copies", "TENURE_REPORT_COPIES", 1, 0, 1,
     "1: a copy of the library writes one line to standard error when its first use finds another copy in the process, "
     "such as that of a plug-in."},
    {option::profile, option_form::count, "profile", "TENURE_PROFILE", 0, 0, 1,
     "1: record a profile of the process heap from the start, and save it when the program ends, in the folder that "
     "TENURE_PROFILE_DIR names or the working directory; `tenure profile` shows it."},
    {option::profile_sample_bytes, option_form::bytes, "profile_sample_bytes", "TENURE_PROFILE_SAMPLE", mebibyte / 2, 1,
     1024 * mebibyte,
     "Allocated bytes between two that a heap profile records, on average; with less, estimates are more precise and "
     "the program is slower."},
    {option::profile_every_ms, option_form::count, "profile_every_ms", "TENURE_PROFILE_EVERY_MS", 0, 0, 86'400'000,
     "Milliseconds after which a heap profile that was started by the option profile is saved again, if a "
     "recorded block was allocated or freed meanwhile; 0: only at the end."},
    {option::profile_at_peak, option_form::count, "profile_at_peak", "TENURE_PROFILE_AT_PEAK", 0, 0, 1,
     "1: a heap profile that was started by the option profile is also saved while the program holds most: each time "
     "that its live bytes have grown by a tenth since the last time, in place of that file."},
    {option::profile_signal, option_form::count, "profile_signal", "TENURE_PROFILE_SIGNAL", 0, 0, 64,
     "Number of a signal on which the drop-in malloc saves the heap profile, and starts one if none is being recorded; "
     "a signal that the program handles or ignores is left alone; 0: none."},
    {option::profile_pages, option_form::count, "profile_pages", "TENURE_PROFILE_PAGES", 0, 0, 1,
     "1: heap profiles that are saved without a call of the program also say what each page of the heap is used for, "
     "for `tenure pins`."},
}};

constexpr std::array<std::string_view, 3> report_names{"none", "text", "json"};

struct named_bit {
    template<class Bit>
    constexpr named_bit(std::string_view text, Bit which) noexcept
        : name(text), bit(static_cast<std::uint64_t>(which)) {}
    std::string_view name;
    std::uint64_t bit;
};
constexpr std::array<named_bit, 7> part_names{{{"arena", part::arena},
                                               {"temp", part::temp},
                                               {"temp_job", part::temp_job},
                                               {"pool", part::pool},
                                               {"small_object", part::small_object},
                                               {"heap", part::heap},
                                               {"affinity", part::affinity}}};

constexpr std::array<named_bit, 11> mitigation_names{{{"double_free", mitigation::double_free},
                                                      {"canary", mitigation::canary},
                                                      {"front", mitigation::front},
                                                      {"form", mitigation::form},
                                                      {"size", mitigation::size},
                                                      {"fill", mitigation::fill},
                                                      {"quarantine", mitigation::quarantine},
                                                      {"shuffle", mitigation::shuffle},
                                                      {"zero_size", mitigation::zero_size},
                                                      {"guards", mitigation::guards},
                                                      {"records", mitigation::records}}};

bool parse_set(std::span<const named_bit> names, std::uint64_t all, std::string_view text,
               std::uint64_t& value) noexcept {
    std::uint64_t found = 0;
    const std::string_view whole = text;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view word{text.data(), std::min(comma, text.size())};
        text.remove_prefix(std::min(word.size() + 1, text.size()));      // substr() would link libstdc++'s throws
        bool known = word == whole && (word == "none" || word == "all"); // beside other names they contradict them
        if (known && word == "all") found = all;
        for (const named_bit& candidate : names) {
            if (candidate.name != word) continue;
            found |= candidate.bit;
            known = true;
        }
        if (!known) return false;
    }
    value = found;
    return true;
}

bool parse_report(std::string_view text, std::uint64_t& value) noexcept {
    for (std::size_t index = 0; index < report_names.size(); ++index) {
        if (text != report_names[index]) continue;
        value = index;
        return true;
    }
    return false;
}

unsigned suffix_shift(std::string_view suffix) noexcept {
    constexpr unsigned unknown = 64;
    if (suffix.empty()) return 0;
    if (suffix == "K" || suffix == "k") return 10;
    if (suffix == "M" || suffix == "m") return 20;
    if (suffix == "G" || suffix == "g") return 30;
    return unknown;
}

struct settings {
    // Relaxed loads: read_all() releases `ready` after them, and each is one value.
    std::atomic<std::uint64_t> values[option_count];
    std::atomic<option_origin> origins[option_count]; // likewise
    std::atomic<int> ready{0}; // 0 not read, 1 being read, 2 read. Released after the values, acquired by readers
};
constinit settings current{};

constexpr std::string_view environment_prefix = "TENURE_";
static_assert(std::ranges::all_of(table, [](const option_info& each) {
    return each.environment.starts_with(environment_prefix);
}));

/// Returns  the environment's text if it is not valid, nullptr otherwise.
const char* read_environment(const option_info& info) noexcept {
    const auto index = static_cast<std::size_t>(info.id);
    const char* const text = host::environment(info.environment.data());
    if (text == nullptr) return nullptr;
    std::uint64_t value = 0;
    if (!parse_option(info, text, value)) return text;
    current.values[index].store(value);
    current.origins[index].store(option_origin::environment);
    return nullptr;
}

/// Appends a number in an option's own format, with the largest suffix that keeps it whole.
void say_value(report_text& message, const option_info& info, std::uint64_t value) noexcept {
    const char* suffix = "";
    for (const char* larger : {"K", "M", "G"}) {
        if (info.form != option_form::bytes || value == 0 || value % 1024 != 0) break;
        value /= 1024;
        suffix = larger;
    }
    message.number(value).text(suffix);
}

void say_what_is_valid(report_text& message, const option_info& info) noexcept {
    if (info.form == option_form::parts) {
        message.text("Valid values: \"all\", \"none\", or part names separated by commas. No part uses passthrough. ");
    } else if (info.form == option_form::mitigations) {
        message.text("Valid values: \"all\", \"none\", or names separated by commas. All mitigations are on. ");
    } else if (info.form == option_form::report) {
        message.text("Valid values: \"none\", \"text\" or \"json\". No report is written. ");
    } else {
        message.text("Valid values: ");
        say_value(message, info, info.lowest);
        message.text(" to ");
        say_value(message, info, info.highest);
        message.text(info.form == option_form::bytes ? " bytes, with an optional suffix K, M or G. Using the default "
                                                     : ". Using the default ");
        say_value(message, info, info.built_in);
        message.text(". ");
    }
    message.text(info.help);
}

constexpr char upper(char letter) noexcept {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

/// The number of letters to insert, delete or replace to get from one name to the other. Case does not count.
std::size_t edit_distance(std::string_view from, std::string_view to) noexcept {
    constexpr std::size_t max_letters = 63;
    if (from.size() > max_letters || to.size() > max_letters) return max_letters;
    std::size_t row[max_letters + 1]{};
    for (std::size_t column = 0; column <= to.size(); ++column) row[column] = column;
    for (std::size_t line = 1; line <= from.size(); ++line) {
        std::size_t diagonal = std::exchange(row[0], line);
        for (std::size_t column = 1; column <= to.size(); ++column) {
            const std::size_t replaced = diagonal + (upper(from[line - 1]) != upper(to[column - 1]) ? 1 : 0);
            diagonal = row[column];
            row[column] = std::min({replaced, row[column - 1] + 1, diagonal + 1});
        }
    }
    return row[to.size()];
}

/// Whether the variable belongs to someone else: the build (CMake reads TENURE_ROOT), or the folder of heap profiles.
bool is_of_others(std::string_view name) noexcept {
    constexpr std::string_view names[] = {"",
                                          "ROOT",
                                          "DIR",
                                          "HOME",
                                          "PREFIX",
                                          "SHARED",
                                          "LAB",
                                          "FUZZ",
                                          "VALGRIND",
                                          "CHECKS",
                                          "CHECKED_TESTS",
                                          "PRECOMPILED_HEADERS",
                                          "PERFETTO_SDK",
                                          "ADVICE",
                                          "ADVICE_PROCESS",
                                          "PROFILE_DIR",
                                          "CLANG"};
    name.remove_prefix(environment_prefix.size());
    return std::ranges::find(names, name) != std::end(names);
}

/// Whether it may: variables of `tenure watch` and `tenure record` for what they preload, of the .NET package for
/// jemalloc, of tests, the build, or a cluster with a service called "tenure", which describes it to every container. A
/// misspelt option may begin so, too.
bool may_be_of_others(std::string_view name) noexcept {
    constexpr std::string_view families[] = {"WATCH_",  "RECORD_", "JE_",     "TEST",     "BUILD",
                                             "VERSION", "LIB",     "INCLUDE", "SERVICE_", "PORT"};
    name.remove_prefix(environment_prefix.size());
    return std::ranges::any_of(families, [&](std::string_view family) { return name.starts_with(family); });
}

/// Not std::string_view::substr(), which would link libstdc++'s throws. Requires  `from` is at most the size.
constexpr std::string_view part_of(std::string_view text, std::size_t from, std::size_t count) noexcept {
    return {text.data() + from, count};
}

/// The option that is named like a variable but for up to three letters; nullptr if none is.
const option_info* nearest_option(std::string_view name) noexcept {
    constexpr std::size_t max_wrong_letters = 3;
    const option_info* nearest = nullptr;
    std::size_t least = max_wrong_letters + 1;
    for (const option_info& each : table) {
        const std::size_t distance = edit_distance(name, each.environment);
        if (distance >= least) continue;
        least = distance;
        nearest = &each;
    }
    return nearest;
}

/// The first option whose name begins with the variable's and more words: HEAP_GUARD_SAMPLE for HEAP_GUARD. One word
/// alone (HEAP) says too little. A name that lacks its first words is found, too: JOB_LIMIT.
const option_info* longer_option(std::string_view name) noexcept {
    const std::size_t prefix = environment_prefix.size();
    const std::string_view words = part_of(name, prefix, name.size() - prefix);
    const bool has_several = words.find('_') != std::string_view::npos;
    const auto is_longer = [&](const option_info& each) {
        const std::string_view whole = part_of(each.environment, prefix, each.environment.size() - prefix);
        if (whole.size() <= words.size() + 1 || words.empty()) return false;
        const std::size_t rest = whole.size() - words.size();
        const bool begins =
            has_several && whole[words.size()] == '_' && edit_distance(part_of(whole, 0, words.size()), words) == 0;
        return begins || (whole[rest - 1] == '_' && edit_distance(part_of(whole, rest, words.size()), words) == 0);
    };
    const auto* const found = std::ranges::find_if(table, is_longer);
    return found != table.end() ? found : nullptr;
}

/// Reports a variable that is no option, with the option that is nearly named like it if there is one.
void report_if_unknown(std::string_view name) noexcept {
    const auto is_this = [name](const option_info& each) { return each.environment == name; };
    if (std::ranges::any_of(table, is_this) || is_of_others(name)) return;
    const option_info* nearest = nearest_option(name);
    if (nearest == nullptr && may_be_of_others(name)) return;
    if (nearest == nullptr) nearest = longer_option(name);
    report_text message;
    message.text(name).text(" is not an option and was ignored. ");
    if (nearest != nullptr) message.text("Did you mean ").text(nearest->environment).text("? ");
    message.text("`tenure options` lists all.");
    report(report_kind::notice, message.view());
}

void report_unknown() noexcept {
    for (std::size_t index = 0;; ++index) {
        const char* const entry = host::environment_entry(environment_prefix, index);
        if (entry == nullptr) return;
        const std::string_view whole{entry};
        report_if_unknown({entry, std::min(whole.find('='), whole.size())});
    }
}

void read_all() noexcept {
    const char* wrong[option_count]{};
    for (std::size_t index = 0; index < option_count; ++index)
        current.values[index].store(table[index].built_in, std::memory_order_relaxed);
    // Most programs have none of the variables: one pass instead of one per option.
    const bool has_any = host::has_environment(environment_prefix);
    if (has_any) {
        for (std::size_t index = 0; index < option_count; ++index) wrong[index] = read_environment(table[index]);
    }
    current.ready.store(2, std::memory_order_release);
    // Reported only now, because the report handler may read options itself.
    for (std::size_t index = 0; index < option_count; ++index) {
        if (wrong[index] == nullptr) continue;
        report_text message;
        message.text(table[index].environment).text("=").text(wrong[index]);
        message.text(" is not valid and was ignored. ");
        say_what_is_valid(message, table[index]);
        report(report_kind::notice, message.view());
    }
    if (has_any) report_unknown();
    if (option_value(option::report_copies) != 0) host::report_other_copies();
}

void make_ready() noexcept {
    int expected = 0;
    if (current.ready.compare_exchange_strong(expected, 1)) read_all();
    // Another thread is reading; this takes microseconds, once.
    for (unsigned look = 0; current.ready.load(std::memory_order_acquire) != 2; ++look) host::let_others_run(look);
}

}

void detail::forget_reader_of_options() noexcept {
    int reading = 1;
    current.ready.compare_exchange_strong(reading, 0);
}

std::span<const option_info, option_count> option_table() noexcept { return table; }

bool parse_option(const option_info& info, std::string_view text, std::uint64_t& value) noexcept {
    if (info.form == option_form::parts) return parse_set(part_names, all_parts, text, value);
    if (info.form == option_form::mitigations)
        return !text.empty() && parse_set(mitigation_names, all_mitigations, text, value);
    if (info.form == option_form::report && parse_report(text, value)) return true;
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{}) return false;
    const std::string_view suffix{stop, static_cast<std::size_t>(end - stop)};
    const unsigned shift = info.form == option_form::bytes || suffix.empty() ? suffix_shift(suffix) : 64;
    if (shift >= 64 || number > (UINT64_MAX >> shift)) return false;
    number <<= shift;
    if (number < info.lowest || number > info.highest) return false;
    value = number;
    return true;
}

std::uint64_t option_value(option id) noexcept {
    if (current.ready.load(std::memory_order_acquire) != 2) make_ready();
    return current.values[static_cast<std::size_t>(id)].load(std::memory_order_relaxed);
}

option_origin option_source(option id) noexcept {
    if (current.ready.load(std::memory_order_acquire) != 2) make_ready();
    return current.origins[static_cast<std::size_t>(id)].load(std::memory_order_relaxed);
}

bool set_option(option id, std::uint64_t value) noexcept {
    const auto index = static_cast<std::size_t>(id);
    if (value < table[index].lowest || value > table[index].highest) return false;
    if (current.ready.load(std::memory_order_acquire) != 2) make_ready();
    current.values[index].store(value);
    current.origins[index].store(option_origin::program);
    return true;
}

}
