// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Describes an experiment: a question, its options, its parts, its contestants, and the code that a worker process
/// runs.
///
/// The harness starts a process per contestant, part and round, in shuffled paired rounds. Each process calls `run`
/// once, with a recorder that sends figures to the parent. An experiment never judges: it measures and verifies.
///
/// Everything here is constant data in the program file. A worker that built tables on the heap would leave holes in
/// it, and the first batch of the measured malloc would fill those first.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/mallocs/block_owner.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// A requirement on an option's value besides its range.
enum class option_shape : std::uint8_t { number, power_of_two };

/// An integer option of an experiment, `--name VALUE` on the command line.
struct option_spec {
    std::string_view name;        ///< "count"
    std::int64_t value;           ///< default
    std::int64_t full_value;      ///< default under --full
    std::int64_t lowest, highest; ///< valid range, inclusive
    std::string_view help;        ///< what it counts, with the unit
    option_shape shape = option_shape::number;
};

/// Option values by name. Stored in place, because workers read them before they measure.
class parameters {
public:
    struct entry {
        std::string_view name;
        std::int64_t value = 0;
    };

    parameters() = default;
    /// The defaults, or the --full defaults.
    explicit parameters(std::span<const option_spec> options, bool full = false);

    void set(std::string_view name, std::int64_t value); ///< aborts when the experiment does not declare the name
    /// Sets the descriptor with the contents of the experiment's input, which workers inherit.
    /// Requires  the path outlives the parameters.
    void set_input(int descriptor, std::string_view path = {}) {
        input_ = descriptor;
        input_path_ = path;
    }
    [[nodiscard]] bool has_input() const { return input_ >= 0; }
    [[nodiscard]] int input() const { return input_; }
    [[nodiscard]] std::string_view input_path() const { return input_path_; } ///< empty in a worker
    [[nodiscard]] std::int64_t operator[](std::string_view name) const;       ///< aborts likewise
    [[nodiscard]] std::size_t size(std::string_view name) const { return static_cast<std::size_t>((*this)[name]); }
    [[nodiscard]] std::span<const entry> all() const { return {entries_.data(), count_}; }

private:
    [[nodiscard]] std::size_t find(std::string_view name) const;

    std::array<entry, 16> entries_{};
    std::size_t count_ = 0;
    int input_ = -1;
    std::string_view input_path_;
};

/// Sends a worker's measurements to the parent process. Nothing is sent before the worker has finished measuring.
class recorder {
public:
    virtual ~recorder() = default;
    virtual void value(std::string_view metric, std::string_view variant, std::string_view unit, double value,
                       better sense = better::smaller) = 0;
    virtual void list(std::string_view name, std::string_view variant, std::string_view unit,
                      std::span<const std::int64_t> values) = 0;
    /// A list that differs from round to round, such as the memory at places of a trace: the result has the median of
    /// each of its numbers.
    virtual void course(std::string_view name, std::string_view variant, std::string_view unit,
                        std::span<const std::int64_t> values) {
        list(name, variant, unit, values);
    }
    virtual void note(std::string_view text) = 0;
    /// Fails the row with this sentence, for example because memory did not hold the data written to it.
    virtual void fail(std::string_view reason) = 0;
    /// Reports blocks that the measured allocator has allocated and that are still alive; the proof asks whether they
    /// are its own. Called outside the timed parts, at least once per worker. Without `owner`, the process's malloc is
    /// asked; any other allocator is asked through `owner`.
    virtual void blocks(std::span<void* const> live, std::size_t bytes_each, const block_owner& owner) = 0;
    void blocks(std::span<void* const> live, std::size_t bytes_each) { blocks(live, bytes_each, {}); }
};

/// The task of one worker process.
struct task {
    const parameters& options;
    std::uint64_t seed; ///< the same for every contestant of a round
    std::size_t part;
    recorder& out;
};

/// How a contestant obtains its allocator.
enum class route : std::uint8_t {
    process_malloc, ///< the process's malloc or operator new; one row per malloc: the C library's and the preloaded
                    ///< ones
    inlined,        ///< headers or a linked library, called directly
    offset_library, ///< a preloaded library with the functions of offset_peer.hpp; one row per file of --against
};

/// A piece of an experiment that runs in a process of its own, so that it is not affected by other pieces.
struct part {
    std::string_view name;
    unsigned threads = 1;        ///< with 1, the process is pinned to one CPU; otherwise it may use all
    std::uint32_t rounds = ~0U;  ///< runs in this many first rounds only; for parts that wait and would take minutes
    std::string_view waits = {}; ///< what it waits for, when it does for seconds: the progress says so
};

/// A contestant as the experiment declares it. The harness completes it to rows: see `schedule.hpp`.
struct contestant {
    std::string_view name{}; ///< empty for process_malloc with every malloc: the rows have the names of their mallocs
    route how = route::inlined;
    contestant_role role;    ///< no default: each declares it; process_malloc: on a malloc of ours, that malloc's role
    std::string_view peer{}; ///< inlined: whose code this is, empty for ours; process_malloc: the only malloc, or empty
    std::string_view kind{}; ///< "inlined", "library"; empty for process_malloc and references
    std::string_view type{}; ///< inlined: the type that is called, for the proof
    std::string_view note{}; ///< a remark about this row for the reader; may be empty
    std::uint64_t parts = 0; ///< bit i: takes part in part i
    /// "TENURE_NAME=VALUE" in the environment of its processes. No other such setting reaches them.
    std::span<const std::string_view> environment{};
    void (*run)(const task&) = nullptr; ///< nullptr when its headers were missing in this build
    /// Why it is left out of one of its parts with these options, as a sentence; empty when it is not. nullptr when it
    /// never is. A contestant that would not finish is left out and shown as left out; it never gets less work than the
    /// others.
    std::string_view (*left_out)(const parameters& options, std::size_t part) = nullptr;
};

/// Contestants come from several files; each file has a function that returns its contestants.
using contestant_source = std::span<const contestant> (*)();

/// A file that an experiment accepts with `--input FILE`; it is read once, before anything is measured.
struct input_spec {
    std::string_view help;
    std::uint64_t parts; ///< bit i: part i runs when a file is given; no other part then runs by default
    /// Writes the data that workers need to `descriptor`.
    /// Returns   why the file cannot be used; empty when it can.
    std::string (*read)(const std::string& path, int descriptor);
};

/// The compile-time form of report's `quotient`.
struct named_quotient {
    std::string_view title, over, under;
};

/// The compile-time form of report's `figure_pattern`: figures of the experiment's summary, chosen before anything is
/// measured.
struct primary_figure {
    std::string_view metric;        ///< "alloc"; `*` stands for any number of characters
    std::string_view variant = "*"; ///< "warm", "frees, *"
};

struct experiment {
    std::string_view name;
    std::string_view question;
    std::span<const std::string_view> unfair;
    std::string_view baseline; ///< contestant that ratios refer to
    std::span<const option_spec> options;
    std::span<const part> parts;
    std::span<const contestant_source> sources;
    std::vector<property_table> (*properties)() = nullptr; ///< nullptr when there are none
    std::span<const named_quotient> quotients;             ///< pairs of contestants to show as quotients
    std::string_view ranking_rule;                         ///< empty for no rank
    std::span<const std::string_view> unranked;            ///< metrics that do not count in the rank
    std::span<const primary_figure> primary{};             ///< figures of the summary; without them there is no summary
    std::string_view example;                              ///< a command line, for --help
    const input_spec* input = nullptr;                     ///< nullptr when it accepts no file
    /// Why parts (bits) cannot run with these options on this machine, as a sentence; empty when they can. nullptr when
    /// they always can.
    std::string (*refuse)(const parameters& options, std::uint64_t parts) = nullptr;

    /// The parts that run when none is named.
    [[nodiscard]] std::uint64_t default_parts(const parameters& given) const;
    [[nodiscard]] std::vector<contestant> contestants() const; ///< of all sources, in their order
    [[nodiscard]] const part& part_at(std::size_t index) const { return parts[index]; }
};

/// A library that contestants call directly, as found by the build.
struct library_peer {
    std::string_view name;    ///< "Boost.Pool"
    std::string_view package; ///< package to install; empty when no package has it
    std::string_view version; ///< from its headers; when empty, the package manager is asked
    bool present = false;
    std::string_view missing_because{}; ///< one sentence; empty when its headers were not found
    bool has_own_tenure = false;        ///< ours on it run in a Tenure of its own, whose version is unknown
};

}
