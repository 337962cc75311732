// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Perfetto's rules: Initialize before Register, both before a trace; a slice ends on the thread where it began. The
// "trace" counts the events.

#include "sdk/perfetto.h"

#include <atomic>

#include "stand_in.hpp"

namespace {

using stand_in::require;

bool is_initialized = false;
bool is_registered = false;
std::atomic<bool> has_session{false};
std::atomic<std::size_t> event_count{0};
thread_local int open_slices = 0;

void add_event() {
    if (has_session) ++event_count;
}

}

void perfetto::Tracing::Initialize(const TracingInitArgs& arguments) {
    require(arguments.backends != 0, "Initialize needs a backend");
    is_initialized = true;
}

void perfetto::TrackEvent::Register() {
    require(is_initialized, "Register comes after Initialize");
    is_registered = true;
}

void perfetto::TrackEvent::Flush() { require(has_session, "there is nothing to flush outside a trace"); }

std::unique_ptr<perfetto::TracingSession> perfetto::Tracing::NewTrace() {
    require(is_registered, "a trace comes after Register");
    return std::make_unique<TracingSession>();
}

void perfetto::TracingSession::Setup(const TraceConfig& config) {
    require(config.source.config.source == "track_event", "slices come from the data source track_event");
}

void perfetto::TracingSession::StartBlocking() { has_session = true; }
void perfetto::TracingSession::StopBlocking() { has_session = false; }
std::vector<char> perfetto::TracingSession::ReadTraceBlocking() {
    require(!has_session, "a trace is read after its end");
    return std::vector<char>(event_count);
}

void stand_in::begin_slice(std::string_view, std::string_view name, std::uint64_t) {
    require(!name.empty(), "a slice has a name");
    ++open_slices;
    add_event();
}

void stand_in::end_slice(std::string_view) {
    require(--open_slices >= 0, "a slice ends that has begun on this thread");
    add_event();
}

bool stand_in::is_recording() { return has_session; }

void stand_in::set_counter(std::string_view, std::string_view, std::int64_t value) {
    require(value >= 0, "no block ends that has not begun");
    add_event();
}
