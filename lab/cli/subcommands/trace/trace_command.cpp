// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/trace_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/last_resort.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/programs/profiled_program.hpp"
#include "cli/terminal.hpp"
#include "observe/trace/import/trace_import.hpp"
#include "observe/trace/part/trace_part.hpp"
#include "observe/trace/report/trace_export.hpp"
#include "observe/trace/report/trace_text.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;

/// A time since the trace began, in milliseconds: a duration, or 0.
[[nodiscard]] std::optional<std::uint64_t> time_in_trace(std::string_view text) {
    const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
    const std::string unit(text.substr(zeros));
    const bool is_zero = zeros != 0 && (unit.empty() || (unit.front() > '9' && duration_ms("1" + unit).has_value()));
    return is_zero ? 0 : duration_ms(text);
}

}

trace_command::trace_command(CLI::App& app)
    : command_(app.add_subcommand("trace", "Shows, exports, cuts and imports recordings of allocations")) {
    command_->require_subcommand(1);
    const auto add_file = [this](CLI::App& to) {
        to.add_option("file", file_, "A file of tenure record, packed or raw")->required()->type_name("FILE");
    };
    const auto add_range = [this](CLI::App& to) {
        to.add_option("--from", from_,
                      "When the part begins: 500ms, 30s, 5m. Blocks that are in use then are allocated there")
            ->type_name("TIME");
        to.add_option("--to", to_, "When the part ends")->type_name("TIME");
    };
    info_ = command_->add_subcommand("info", "Shows the figures of a trace: events, peak, sizes, lifetimes");
    add_file(*info_);
    add_range(*info_);
    info_->add_flag("--json", is_json_, "Prints them as JSON");
    export_ = command_->add_subcommand("export", "Writes the events of a trace for other programs");
    add_file(*export_);
    add_range(*export_);
    auto* const csv = export_->add_flag("--csv", is_csv_, "One line for each event, with a line of names first");
    export_->add_flag("--json-lines", is_lines_, "One JSON object on each line; call stacks have lines of their own")
        ->excludes(csv);
    export_->add_option("-o,--out", out_, "The file; - means standard output")
        ->type_name("FILE")
        ->capture_default_str();
    cut_ = command_->add_subcommand("cut", "Writes a part of a trace, as a trace");
    add_file(*cut_);
    add_range(*cut_);
    cut_->add_option("-o,--out", part_, "The file; - means standard output")->required()->type_name("FILE");
    import_ = command_->add_subcommand("import", "Makes a trace of a recording of heaptrack or Android's malloc debug");
    import_
        ->add_option("file", file_,
                     "The recording: a data file of heaptrack, raw or interpreted, or a text of malloc "
                     "debug; plain, or compressed with gzip or zstd")
        ->required()
        ->type_name("FILE");
    import_->add_option("-o,--out", part_, "The file; - means standard output")->required()->type_name("FILE");
    import_->add_option("--format", format_, "Which tool wrote the file; by default its first line tells")
        ->check(CLI::IsMember({"heaptrack", "android"}));
    const std::string codes = "\nExit codes: 0 ok; 2 invalid command line, or the file is no trace or recording; 3 a "
                              "file or standard output could not "
                              "be written; 70 the command itself failed. Of a damaged file what can be read is shown "
                              "or imported, with a warning.";
    for (CLI::App* const each : {command_, info_, export_, cut_, import_}) each->footer(codes);
}

int trace_command::run() const {
    // A file that reaches a limit of its size is an error that is reported. Nothing is started that would inherit it.
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    if (import_->parsed()) return import_recording();
    const auto run_chosen = [&] {
        if (cut_->parsed()) return write_part();
        return info_->parsed() ? show_info() : write_events();
    };
    return run_and_tell(run_chosen, "a part of the trace may fit: --from TIME --to TIME");
}

std::optional<trace_command::range> trace_command::chosen_range() const {
    for (const auto& [name, time] : {std::pair{"--from", &from_}, std::pair{"--to", &to_}}) {
        if (time->empty() || time_in_trace(*time).has_value()) continue;
        say(fmt::format("{} {} is not valid: a time up to a day, as in 0, 500ms, 30s, 5m", name, *time));
        return std::nullopt;
    }
    const range part{time_in_trace(from_).value_or(0) * ns_per_ms,
                     to_.empty() ? UINT64_MAX : time_in_trace(to_).value_or(0) * ns_per_ms,
                     from_.empty() && to_.empty()};
    if (part.from_ns < part.to_ns) return part;
    say(fmt::format("--to {} is not after --from {}", to_, from_.empty() ? "0" : from_));
    return std::nullopt;
}

/// Reads a trace, or a part of it, and says what is wrong with it.
trace trace_command::load(const range& part) const {
    trace read = part.is_all ? load_trace(file_) : load_part(file_, part.from_ns, part.to_ns);
    if (read.ok() && read.is_part && part.from_ns > read.whole_ns)
        read.error =
            fmt::format("--from {}: the trace ends after {:.{}f} ms", from_,
                        static_cast<double>(read.whole_ns) / ns_per_ms, read.whole_ns < 10 * ns_per_ms ? 1 : 0);
    if (!read.ok()) {
        say(read.error);
    } else if (!read.damage.empty()) {
        say(fmt::format("{}: {} Shown is what could be read.", file_, read.damage));
    }
    return read;
}

int trace_command::write_part() const {
    const std::optional<range> part = chosen_range();
    if (!part) return exit_code::bad_usage;
    if (const std::string reason = why_not_writable(part_, file_); !reason.empty()) {
        say(reason);
        return exit_code::not_written;
    }
    const trace read = load({part->from_ns, part->to_ns, false});
    if (!read.ok()) return exit_code::bad_usage;
    return write_to(part_, write_trace(read)) ? exit_code::ok : exit_code::not_written;
}

int trace_command::import_recording() const {
    if (const std::string reason = why_not_writable(part_, file_); !reason.empty()) {
        say(reason);
        return exit_code::not_written;
    }
    const recording_format by_option = format_ == "android" ? recording_format::android : recording_format::heaptrack;
    const trace read = load_recording(file_, format_.empty() ? recording_format::by_content : by_option);
    if (!read.ok()) {
        say(read.error);
        return exit_code::bad_usage;
    }
    if (!read.damage.empty() && read.events.empty()) {
        say(fmt::format("{}: no line of it can be read: it is no recording of heaptrack or of malloc debug", file_));
        return exit_code::bad_usage;
    }
    if (!read.damage.empty()) say(fmt::format("{}: {} Imported is what could be read.", file_, read.damage));
    if (read.unknown_frees != 0)
        say(fmt::format("{}: left out: {} that the recording does not allocate.", file_,
                        read.unknown_frees == 1 ? "the free of a block"
                                                : fmt::format("{} frees of blocks", read.unknown_frees)));
    return write_to(part_, write_trace(read)) ? exit_code::ok : exit_code::not_written;
}

int trace_command::show_info() const {
    const std::optional<range> part = chosen_range();
    if (!part) return exit_code::bad_usage;
    const trace read = load(*part);
    if (!read.ok()) return exit_code::bad_usage;
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file_, error);
    const trace_figures figures = figures_of(read);
    const std::uint64_t file_bytes = error ? 0 : bytes;
    return print(is_json_ ? to_json(read, figures, file_bytes) : to_text(read, figures, file_bytes))
               ? exit_code::ok
               : exit_code::not_written;
}

int trace_command::write_events() const {
    if (!is_csv_ && !is_lines_) {
        say("name a format: tenure trace export FILE --csv, or --json-lines");
        return exit_code::bad_usage;
    }
    const std::optional<range> part = chosen_range();
    if (!part) return exit_code::bad_usage;
    if (const std::string reason = why_not_writable(out_, file_); !reason.empty()) {
        say(reason);
        return exit_code::not_written;
    }
    const trace read = load(*part);
    if (!read.ok()) return exit_code::bad_usage;
    const bool is_standard = out_ == "-";
    const auto close = [&](std::FILE* file) { return is_standard ? std::fflush(file) : std::fclose(file); };
    std::FILE* const to = is_standard ? stdout : std::fopen(out_.c_str(), "we");
    bool is_written = to != nullptr;
    if (is_written) {
        const auto write = [&](std::string_view text) {
            is_written = is_written && std::fwrite(text.data(), 1, text.size(), to) == text.size();
            return is_written;
        };
        is_csv_ ? export_csv(read, write) : export_json_lines(read, write);
        is_written = close(to) == 0 && is_written;
    }
    if (is_written) return exit_code::ok;
    say(fmt::format("{} could not be written: {}", is_standard ? "standard output" : out_, std::strerror(errno)));
    return exit_code::not_written;
}

}
