// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/replay_options.hpp"

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "observe/trace/trace_reader.hpp"

namespace tenure::lab {

void replay_options::add_to(CLI::App& command, std::uint32_t rounds) {
    rounds_ = rounds;
    const std::vector<std::string> policies(touch_names.begin(), touch_names.end());
    command.add_option("--rounds", rounds_, "Rounds; each runs every row once, in random order, in new processes")
        ->check(CLI::Range(1U, 10'000U))
        ->type_name("N")
        ->capture_default_str();
    command
        .add_option("--touch", touch_,
                    "What is written to a new block: nothing (none), a byte of each page (pages), also the first and "
                    "the last word (ends), or every byte (whole). A trace does not know what the program wrote")
        ->check(CLI::IsMember(policies))
        ->type_name("POLICY")
        ->capture_default_str();
    command
        .add_option("--repeat", repeat_,
                    "How often each process replays the trace, whose median counts; as often as three million calls "
                    "need if it is not given")
        ->check(CLI::Range(1U, 1'000'000U))
        ->type_name("N");
    command.add_option("--seed", seed_, "Order of the rows in each round; a random one if it is not given")
        ->type_name("N");
    command.add_option("--timeout", timeout_s_, "Seconds that one process may take, besides what it is told to wait")
        ->check(CLI::Range(1U, 86'400U))
        ->type_name("S")
        ->capture_default_str();
}

replay_settings replay_options::settings() const {
    replay_settings made;
    made.rounds = rounds_;
    made.repeat = repeat_;
    made.touch = touch_named(touch_).value_or(touch_policy::ends);
    made.timeout = std::chrono::seconds{timeout_s_};
    made.seed = seed();
    return made;
}

std::uint64_t replay_options::seed() const { return seed_ != 0 ? seed_ : std::random_device{}(); }

trace read_for_replay(const std::string& path) {
    trace found = load_trace(path);
    if (!found.ok())
        say(found.error);
    else if (!found.damage.empty())
        say(fmt::format("{}: {} What could be read is used.", path, found.damage));
    return found;
}

}
