// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an experiment is: a question, its options, its parts, who takes part, and the code that a worker process runs.
///
/// The harness starts a process per contestant, part and round, in shuffled paired rounds; in it `run` is called once,
/// with a recorder that carries figures back to the parent. An experiment never judges: it measures and verifies.
///
/// Everything here is constant data that lies in the program file. A worker that built its tables on the heap would
/// leave holes in it, and the first batch of the measured malloc would fill those first.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/block_owner.hpp"
#include "report/result.hpp"

namespace tenure::lab {

/// What an option's value must be, beside lying in its range.
enum class option_shape : std::uint8_t { number, power_of_two };

/// An integer option of an experiment, `--name VALUE` on the command line.
struct option_spec {
    std::string_view name;        ///< "count"
    std::int64_t value;           ///< default
    std::int64_t full_value;      ///< default under --full
    std::int64_t lowest, highest; ///< valid range, both included
    std::string_view help;        ///< what it counts, with the unit
    option_shape shape = option_shape::number;
};

/// Option values as given, by name; in place, because workers read them before they measure.
class parameters {
public:
    struct entry {
        std::string_view name;
        std::int64_t value = 0;
    };

    parameters() = default;
    /// The defaults, or those of --full.
    explicit parameters(std::span<const option_spec> options, bool full = false);

    void set(std::string_view name, std::int64_t value); ///< aborts on a name that the experiment never declared
    /// What the experiment's input was read into; workers inherit it. Requires  the path outlives the parameters.
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

/// Carries what a worker measured to the parent process. Nothing is sent before the worker has finished measuring.
class recorder {
public:
    virtual ~recorder() = default;
    virtual void value(std::string_view metric, std::string_view variant, std::string_view unit, double value,
                       better sense = better::smaller) = 0;
    virtual void list(std::string_view name, std::string_view variant, std::string_view unit,
                      std::span<const std::int64_t> values) = 0;
    virtual void note(std::string_view text) = 0;
    /// The memory did not hold what was written: the row fails with this sentence.
    virtual void fail(std::string_view reason) = 0;
    /// Blocks that the measured allocator has given out and not yet taken back: the proof asks it whether they are
    /// its own. Called outside the timed parts, at least once per worker. The process's malloc is asked without
    /// `owner`, any other allocator by it.
    virtual void blocks(std::span<void* const> live, std::size_t bytes_each, const block_owner& owner) = 0;
    void blocks(std::span<void* const> live, std::size_t bytes_each) { blocks(live, bytes_each, {}); }
};

/// What one worker process is to do.
struct task {
    const parameters& options;
    std::uint64_t seed; ///< the same for every contestant of a round
    std::size_t part;
    recorder& out;
};

/// How a contestant gets its allocator.
enum class route : std::uint8_t {
    process_malloc, ///< the process's malloc or operator new; one row per malloc: the C library's, the preloaded ones
    inlined,        ///< headers or a linked library, called directly
    offset_library, ///< a preloaded library with the functions of offset_peer.hpp; one row per file of --against
};

/// A piece of an experiment that needs a process of its own, so that nobody inherits what another piece left behind.
struct part {
    std::string_view name;
    unsigned threads = 1;       ///< with one, the process is pinned to one CPU; else it may use all
    std::uint32_t rounds = ~0U; ///< it runs in the first so many only: what has to wait a second would take minutes
};

/// What the harness replaces or completes: see `rounds.hpp`.
struct contestant {
    std::string_view name{}; ///< process_malloc for every malloc: empty, the rows are named by their mallocs
    route how = route::inlined;
    std::string_view peer{}; ///< inlined: whose code this is, empty for ours; process_malloc: the only malloc, or empty
    std::string_view kind{}; ///< "inlined", "library", "reference (ours)"; process_malloc: empty
    std::string_view type{}; ///< inlined: the type that is called, for the proof
    std::string_view note{}; ///< what a reader must know about this row; may be empty
    std::uint64_t parts = 0; ///< bit i: takes part in part i
    void (*run)(const task&) = nullptr; ///< null: its headers were not there when this was built
    /// Why it is left out of one of its parts with these options, as a sentence; empty: it is not. Null: it never is.
    /// A contestant that would not come to an end is left out and shown as left out; it never gets less to do than
    /// the others.
    std::string_view (*left_out)(const parameters& options, std::size_t part) = nullptr;
};

/// Contestants come from several files, each with a function that returns its own.
using contestant_source = std::span<const contestant> (*)();

/// A file that an experiment can be given, `--input FILE`: read once, before anything is measured.
struct input_spec {
    std::string_view help;
    std::uint64_t parts; ///< bit i: part i is run when there is one, and no other part is by itself
    /// Writes to `descriptor` what workers need of it. Returns   why it cannot be used; empty: it can.
    std::string (*read)(const std::string& path, int descriptor);
};

/// As `quotient` of report, written down at compile time.
struct named_quotient {
    std::string_view title, over, under;
};

/// As `figure_pattern` of report: figures that the experiment's summary shows, chosen before anything is measured.
struct primary_figure {
    std::string_view metric;        ///< "alloc"; `*` stands for any letters
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
    std::vector<property_table> (*properties)() = nullptr; ///< null: none
    std::span<const named_quotient> quotients;             ///< pairs to be shown one over the other
    std::string_view ranking_rule;                         ///< empty: no rank
    std::span<const std::string_view> unranked;            ///< metrics that do not count in the rank
    std::span<const primary_figure> primary{};             ///< what the summary shows; none: it has no summary
    std::string_view example;                              ///< a command line, for --help
    const input_spec* input = nullptr;                     ///< null: it takes no file

    /// The parts that are run when none is named.
    [[nodiscard]] std::uint64_t default_parts(const parameters& given) const;
    [[nodiscard]] std::vector<contestant> contestants() const; ///< of all sources, in their order
    [[nodiscard]] const part& part_at(std::size_t index) const { return parts[index]; }
};

/// A library that contestants call directly, as it was found when this was built.
struct library_peer {
    std::string_view name;    ///< "Boost.Pool"
    std::string_view package; ///< what would bring it; empty: no package has it
    std::string_view version; ///< as its headers say; empty: asked of the package manager
    bool present = false;
    std::string_view missing_because{}; ///< one sentence; empty: its headers were not found
};

}
