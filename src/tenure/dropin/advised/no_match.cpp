// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Tells the user of `tenure run --advice` that the advice is for other files. Only the process that the command has
/// become says it: the programs that it starts inherit the environment, and most of them are not meant.

#include <atomic>
#include <string_view>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/dropin/detail/advice.hpp>
#include <tenure/platform/fork.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constinit platform::kept_file warned_file{}; // standard error as of the start: programs may close it before they end
// Relaxed: what is read with it was written at the start, before there were threads.
constinit std::atomic<std::uint64_t> warned_process{0}; // zero: nobody is to be warned
constinit std::uint64_t faults_at_start = 0;            // of children of the command, before it became this program

[[nodiscard]] std::uint64_t number_in(std::string_view digits) noexcept {
    std::uint64_t number = 0;
    for (const char each : digits) {
        if (each < '0' || each > '9' || number > UINT32_MAX) return 0;
        number = number * 10 + static_cast<std::uint64_t>(each - '0');
    }
    return number;
}

/// A daemon is a fork's child that has closed standard error: a copy would keep the caller's pipe open for as long as
/// it runs. The child warns nobody.
void close_copy_in_child() noexcept { platform::close_copy(warned_file); }

void do_nothing_at_fork() noexcept {}

TENURE_AMONG_DESTRUCTORS(warn_of_no_match_at_exit) { warn_of_no_match(warned_when::exit); }

}

void prepare_warning() noexcept {
    const char* const process = host::environment("TENURE_ADVICE_PROCESS");
    const std::uint64_t own = platform::process_id();
    if (process == nullptr || number_in(process) != own) return;
    // Without the handler, standard error itself has to do.
    warned_file = platform::copy_of_standard_error();
    if (!platform::at_fork(&do_nothing_at_fork, &do_nothing_at_fork, &close_copy_in_child))
        platform::close_copy(warned_file);
    faults_at_start = platform::page_faults_of_children();
    warned_process.store(own, std::memory_order_relaxed);
}

void warn_of_no_match(warned_when when) noexcept {
    const std::uint64_t process = warned_process.load(std::memory_order_relaxed);
    if (process == 0 || advice_now().has_match || process != platform::process_id()) return; // a fork's child
    if (platform::has_children() || platform::page_faults_of_children() != faults_at_start) return;
    // Libraries that were loaded late may be there now.
    if (when == warned_when::exit && (!look_for_sites_now() || advice_now().has_match)) return;
    if (warned_process.exchange(0, std::memory_order_relaxed) == 0) return;
    report_text text;
    text.text("tenure_malloc: ").text(platform::program_name()).text(" [").number(process);
    text.text(when == warned_when::exit ? "]: the advice had no effect: no" : "]: the advice has no effect so far: no");
    text.text(" file that it names was loaded, in the build that was recorded. Record this program again, and run "
              "`tenure advise -o`.\n");
    platform::write_to(warned_file, text.view());
    platform::close_copy(warned_file);
}

}
