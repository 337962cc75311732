// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A library that observes the process it is loaded into, and says what it heard.

extern "C" {
/// A letter for each call on any thread, in order: r(name) R for a region, n N for a promise, a A for a permission,
/// m(name) for a mark; the end in capitals. f for the end of a frame.
__attribute__((visibility("default"))) const char* listener_heard() noexcept;
__attribute__((visibility("default"))) void listener_forget() noexcept;
}
