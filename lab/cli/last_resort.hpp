// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What nobody has caught becomes a sentence and an exit code, not an abort.

#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

/// Runs `body`. Returns   its exit code, or exit_code::failed after an exception, which was said then.
template<class Body>
[[nodiscard]] int run_and_tell(Body&& body) {
    try {
        return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
        say("out of memory"); // allocates a few bytes: what did not fit is gone by now
    } catch (const std::exception& failure) {
        say(fmt::format("failed: {}", failure.what()));
    } catch (...) {
        say("failed: an exception that tells nothing of itself");
    }
    return exit_code::failed;
}

}
