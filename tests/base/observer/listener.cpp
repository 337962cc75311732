// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// LISTENER_VERSION and LISTENER_BYTES are what its table says of itself.

#include "listener.hpp"

#include <atomic>
#include <cstddef>
#include <string_view>

#include <tenure/base/observer.hpp>

namespace {

constinit char text[4096] = {};
constinit std::atomic<std::size_t> length{0};

void note(std::string_view part) noexcept {
    const std::size_t at = length.fetch_add(part.size());
    for (std::size_t index = 0; index < part.size() && at + index < sizeof text - 1; ++index)
        text[at + index] = part[index];
}

void note_name(std::string_view kind, const char* name, std::size_t bytes) noexcept {
    note(kind);
    note("(");
    note({name, bytes});
    note(")");
}

}

extern "C" {

extern __attribute__((visibility("default"))) const tenure_observer_table tenure_observer;
const tenure_observer_table tenure_observer = {
    LISTENER_BYTES,
    LISTENER_VERSION,
    [](const char* name, std::size_t bytes) { note_name("r", name, bytes); },
    [] { note("R"); },
    [] { note("n"); },
    [] { note("N"); },
    [] { note("a"); },
    nullptr, // permissions that end are nothing to this one
    [](const char* name, std::size_t bytes) { note_name("m", name, bytes); },
    [] { note("w"); },
    [] { note("W"); },
    [] { note("f"); },
};

const char* listener_heard() noexcept { return text; }

void listener_forget() noexcept {
    for (char& each : text) each = '\0';
    length.store(0);
}
}
