// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The .NET tool: where it is, how a row of it is run, what it answers.

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "experiments/dotnet.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view dotnet_name = ".NET";
constexpr std::string_view jemalloc_name = "jemalloc in .NET";
constexpr std::string_view tool_missing =
    "the .NET tool jembench is not there: with a .NET SDK, `make pack` builds it, and after that `dotnet tool install "
    "--global Tenure.Bench --add-source build/packages` installs it";
constexpr std::string_view library_missing = "libjemalloc.so.2 is not there; the package libjemalloc2 brings it";

/// Changes when an answer means something else than before.
constexpr int answer_format = 1;

namespace part_of {
constexpr std::size_t blocks = 0, array = 1, fragments = 2, pairs = 3;
constexpr std::uint64_t bit(std::size_t part) { return std::uint64_t{1} << part; }
constexpr std::uint64_t all = bit(blocks) | bit(array) | bit(fragments) | bit(pairs);
}

bool is_file(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

/// A program of the PATH; empty when there is none.
std::string find_program(std::string_view name) {
    const char* const path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): one thread
    std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
    while (!rest.empty()) {
        std::size_t const end = std::min(rest.find(':'), rest.size());
        std::filesystem::path const found = std::filesystem::path{rest.substr(0, end)} / name;
        if (::access(found.c_str(), X_OK) == 0 && is_file(found)) return found.string();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

/// What a started program wrote; `ended_well` says whether it ended with 0.
std::string output_of(std::vector<std::string> words, const std::string& preload, bool& ended_well) {
    ended_well = false;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    std::vector<std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
    if (!preload.empty()) variables.push_back("LD_PRELOAD=" + preload);
    std::vector<char*> arguments, environment;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& variable : variables) environment.push_back(variable.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    pid_t child = 0;
    int const refused =
        ::posix_spawn(&child, words.front().c_str(), &files, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t count; (count = ::read(ends[0], piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    if (refused == 0 && ::waitpid(child, &status, 0) == child)
        ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return text;
}

void run_row(const task& asked, const char* row, const std::string& preload) {
    constexpr std::array<const char*, 4> names{"blocks", "array", "fragment", "pairs"};
    constexpr std::array<std::string_view, 4> sizes{"count", "elements", "fragment-rounds", "pairs"};
    std::vector<std::string> words = find_dotnet_tool();
    if (words.empty()) return asked.out.fail("the .NET tool was not found");
    for (std::string word :
         {std::string{"short"}, std::string{"--part"}, std::string{names[asked.part]}, std::string{"--row"},
          std::string{row}, std::string{"--count"}, std::to_string(asked.options[sizes[asked.part]])}) {
        words.push_back(std::move(word));
    }
    bool ended_well = false;
    std::string const text = output_of(std::move(words), preload, ended_well);
    record_dotnet_answer(text, asked.out);
    if (!ended_well) asked.out.fail("the .NET process did not end well");
}

void run_managed(const task& asked) { run_row(asked, "managed", {}); }
void run_not_zeroed(const task& asked) { run_row(asked, "managed-not-zeroed", {}); }
void run_native_memory(const task& asked) { run_row(asked, "native-memory", {}); }
void run_jemalloc(const task& asked) { run_row(asked, "jemalloc", find_dotnet_jemalloc()); }
void run_temp(const task& asked) { run_row(asked, "temp", {}); }
void run_temp_job(const task& asked) { run_row(asked, "temp-job", {}); }
void run_persistent(const task& asked) { run_row(asked, "persistent", {}); }
void run_without_size(const task& asked) { run_row(asked, "persistent-without-size", {}); }
void run_array_pool(const task& asked) { run_row(asked, "array-pool", {}); }
void run_safe_array(const task& asked) { run_row(asked, "safe-array", {}); }

constexpr contestant row(std::string_view name, std::string_view type, std::uint64_t parts, void (*run)(const task&),
                         std::string_view peer = dotnet_name) {
    return {
        .name = name, .how = route::inlined, .peer = peer, .kind = ".NET", .type = type, .parts = parts, .run = run};
}

constexpr std::array<contestant, 10> rows{{
    row("managed", "new T[]", part_of::all, run_managed),
    row("managed not zeroed", "GC.AllocateUninitializedArray",
        part_of::bit(part_of::array) | part_of::bit(part_of::fragments), run_not_zeroed),
    row("ArrayPool", "ArrayPool<byte>.Shared", part_of::bit(part_of::pairs), run_array_pool),
    row("NativeMemory", "NativeMemory", part_of::all, run_native_memory),
    row("NativeMemory on jemalloc", "NativeMemory", part_of::all, run_jemalloc, jemalloc_name),
    row("Tenure Temp", "Tenure.Native", part_of::bit(part_of::blocks), run_temp),
    row("Tenure TempJob", "Tenure.Native", part_of::bit(part_of::blocks), run_temp_job),
    row("Tenure Persistent", "Tenure.Native",
        part_of::bit(part_of::blocks) | part_of::bit(part_of::fragments) | part_of::bit(part_of::pairs),
        run_persistent),
    row("Tenure Persistent without a size", "Tenure.Native", part_of::bit(part_of::pairs), run_without_size),
    row("Tenure SafeArray", "Tenure.SafeArray", part_of::bit(part_of::array), run_safe_array),
}};

}

std::span<const contestant> rows_in_dotnet() { return rows; }

std::vector<std::string> find_dotnet_tool() {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::path const command = fs::read_symlink("/proc/self/exe", error).parent_path();
    // The command lies in a folder of the build tree, beside the one of the .NET part.
    fs::path const built = (command / ".." / "dotnet/bin/Tenure.Bench/release/Tenure.Bench.dll").lexically_normal();
    std::string const dotnet = find_program("dotnet");
    if (!dotnet.empty() && is_file(built)) return {dotnet, built.string()};
    std::string installed = find_program("jembench");
    if (installed.empty()) {
        const char* const home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe): one thread
        fs::path const tool = fs::path{home != nullptr ? home : ""} / ".dotnet/tools/jembench";
        if (is_file(tool)) installed = tool.string();
    }
    if (installed.empty()) return {};
    return {std::move(installed)};
}

std::string find_dotnet_jemalloc() {
    for (std::string_view folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
        std::filesystem::path const file = std::filesystem::path{folder} / "libjemalloc.so.2";
        if (is_file(file)) return file.string();
    }
    return {};
}

library_peer dotnet_peer() {
    bool const present = !find_dotnet_tool().empty();
    return {dotnet_name, "dotnet-sdk-10.0", {}, present, present ? std::string_view{} : tool_missing};
}

library_peer dotnet_jemalloc_peer() {
    bool const has_tool = !find_dotnet_tool().empty(), has_library = !find_dotnet_jemalloc().empty();
    std::string_view const reason = !has_tool ? tool_missing : !has_library ? library_missing : std::string_view{};
    return {jemalloc_name, "libjemalloc2", {}, reason.empty(), reason};
}

void record_dotnet_answer(std::string_view text, recorder& out) {
    nlohmann::json const answer = nlohmann::json::parse(text, nullptr, false);
    if (!answer.is_object() || !answer.contains("values") || !answer["values"].is_array())
        return out.fail("the .NET tool gave no answer");
    if (answer.value("format", 0) != answer_format)
        return out.fail("the .NET tool is of another version than this command");
    if (std::string const error = answer.value("error", ""); !error.empty()) return out.fail(error);
    for (const nlohmann::json& each : answer["values"]) {
        if (!each.is_object() || !each.contains("value") || !each["value"].is_number())
            return out.fail("the .NET tool gave a figure without a number");
        out.value(each.value("metric", ""), each.value("variant", ""), each.value("unit", ""),
                  each["value"].get<double>());
    }
    out.note(fmt::format(".NET {}; {}", answer.value("runtime", "?"), answer.value("proof", "")));
    // The blocks themselves are gone with the process that had them.
    int stands_for_them = 0;
    void* const shown = &stands_for_them;
    out.blocks({&shown, 1}, sizeof stands_for_them);
}

}
