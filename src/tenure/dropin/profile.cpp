// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The heap profile on a signal, enabled by TENURE_PROFILE_SIGNAL.

#include <atomic>

#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/dropin/detail/reports.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::dropin {

void save_profile() noexcept {
    if (!heap_profile::is_running() && heap_profile::start() != status::ok) return;
    detail::heap_profile_events::save_now(profile_format::occasion::signal);
}

namespace {

// As for statistics: a thread that holds none of the locks may wait for them.
void save_or_ask() noexcept {
    if (detail::heap_profile_events::may_save()) {
        save_profile();
    } else {
        wanted_reports.fetch_or(wanted::heap_profile_file, std::memory_order_relaxed);
    }
}

__attribute__((constructor)) void prepare_profile() noexcept {
    const auto number = static_cast<int>(option_value(option::profile_signal));
    if (number == 0 || platform::on_signal(number, &save_or_ask)) return;
    report_text text;
    text.text("TENURE_PROFILE_SIGNAL=").number(static_cast<std::uint64_t>(number));
    text.text(
        " has no effect: the signal is ignored or handled in this process, or it cannot be handled. Choose another, "
        "for example 12 (SIGUSR2).");
    report(report_kind::notice, text.view());
}

}

}
