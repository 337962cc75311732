// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Turns an uncaught exception into a message and an exit code instead of an abort.

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

/// Runs `body`. `hint`: what may help when out of memory, as the end of a sentence.
/// Returns   its exit code, or exit_code::failed after an exception; the exception has been reported then.
template<class Body>
[[nodiscard]] int run_and_tell(Body&& body, std::string_view hint = {}) {
    try {
        return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
        // This allocates a few bytes, which are available again after unwinding.
        say(hint.empty() ? "out of memory" : fmt::format("out of memory: {}", hint));
    } catch (const std::exception& failure) {
        say(fmt::format("failed: {}", failure.what()));
    } catch (...) {
        say("failed: an exception of unknown type");
    }
    return exit_code::failed;
}

}
