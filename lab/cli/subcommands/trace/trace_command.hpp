// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure trace`: shows and exports what `tenure record` has recorded, and imports what other tools have.

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

class trace_command {
public:
    explicit trace_command(CLI::App& app);
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const;

private:
    [[nodiscard]] int show_info() const;
    [[nodiscard]] int write_events() const;
    [[nodiscard]] int write_part() const;
    [[nodiscard]] int import_recording() const;

    /// A part of a trace, in nanoseconds. It is all of it if neither time was given.
    struct range {
        std::uint64_t from_ns, to_ns;
        bool is_all;
    };
    /// Says what is wrong with the times.
    [[nodiscard]] std::optional<range> chosen_range() const;
    [[nodiscard]] trace load(const range& part) const;

    CLI::App* command_;
    CLI::App* info_;
    CLI::App* export_;
    CLI::App* cut_;
    CLI::App* import_;
    std::string file_, out_ = "-", from_, to_, part_, format_;
    bool is_json_ = false, is_csv_ = false, is_lines_ = false;
};

}
