// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The list of subcommands. To add one, write a class like the one in subcommands/run.hpp and name it in
/// subcommand_list.cpp.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace CLI {
class App;
}

namespace tenure::lab {

/// Every subcommand of `tenure`, in the order of --help.
class subcommands {
public:
    static const char* const examples; ///< for --help

    /// Adds all subcommands to `app`.
    explicit subcommands(CLI::App& app);

    /// Runs the subcommand that was parsed.
    /// Returns   its exit code; nothing when the command line names none.
    [[nodiscard]] std::optional<int> run(int argc, char** argv) const;

private:
    template<class Command>
    void add(CLI::App& app);

    struct entry {
        std::function<bool()> chosen;
        std::function<int(int, char**)> run;
    };
    std::vector<entry> all_;
};

template<class Command>
void subcommands::add(CLI::App& app) {
    const auto command = std::make_shared<Command>(app); // options write into it when the command line is parsed
    all_.push_back({[command] { return command->chosen(); },
                    [command](int argc, char** argv) {
                        if constexpr (requires { command->run(argc, argv); }) {
                            return command->run(argc, argv);
                        } else {
                            static_cast<void>(argc);
                            static_cast<void>(argv);
                            return command->run();
                        }
                    }});
}

}
