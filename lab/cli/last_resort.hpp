// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Turns an uncaught exception into a message and an exit code instead of an abort.

#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

/// Runs `body`.
/// Returns   its exit code, or exit_code::failed after an exception; the exception has been reported then.
template<class Body>
[[nodiscard]] int run_and_tell(Body&& body) {
    try {
        return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
        say("out of memory"); // allocates a few bytes, which are available again after unwinding
    } catch (const std::exception& failure) {
        say(fmt::format("failed: {}", failure.what()));
    } catch (...) {
        say("failed: an exception of unknown type");
    }
    return exit_code::failed;
}

}
