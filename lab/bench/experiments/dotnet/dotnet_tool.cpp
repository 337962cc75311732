// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Finds the .NET tool, runs it for a row, and reads its answer.

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "bench/experiments/dotnet/dotnet.hpp"
#include "bench/harness/machine/memory.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view dotnet_name = ".NET";
constexpr std::string_view jemalloc_name = "jemalloc in .NET";
constexpr std::string_view tool_missing =
    "the .NET tool jembench is not there: with a .NET SDK, `make pack` builds it; then `dotnet tool install "
    "--global Tenure.Bench --add-source build/packages` installs it";
constexpr std::string_view library_missing = "libjemalloc.so.2 was not found; install the package libjemalloc2";

/// Increase it when the meaning of an answer changes.
constexpr int answer_format = 2;

/// The tool's arguments for a part, in the order of the experiment's parts.
struct tool_call {
    const char* part;
    std::string_view size; ///< the option for the number of elements
    tiered_pgo compiler = tiered_pgo::on;
};
constexpr std::array<tool_call, 11> tool_calls{{
    {"blocks", "count"},
    {"blocks-written", "count"},
    {"array", "elements"},
    {"fragment", "fragment-rounds"},
    {"fragment-unwritten", "fragment-rounds"},
    {"pairs", "pairs"},
    {"blocks", "count", tiered_pgo::off},
    {"pairs", "pairs", tiered_pgo::off},
    {"text", "records"},
    {"kernels", "kernel-bytes"},
    {"huge", "huge-elements"},
}};

namespace part_of {
constexpr std::uint64_t bit(std::size_t part) { return std::uint64_t{1} << part; }
constexpr std::uint64_t blocks = bit(0) | bit(1), array = bit(2), fragments = bit(3) | bit(4), pairs = bit(5);
constexpr std::uint64_t blocks_without_pgo = bit(6), pairs_without_pgo = bit(7);
constexpr std::uint64_t text = bit(8), kernels = bit(9), huge = bit(10);
}

bool is_file(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

/// A program in PATH; empty when there is none.
std::string find_program(std::string_view name) {
    const char* const path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): one thread
    std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::filesystem::path found = std::filesystem::path{rest.substr(0, end)} / name;
        if (::access(found.c_str(), X_OK) == 0 && is_file(found)) return found.string();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

/// The environment of a .NET process with default options, except for the ones requested here. By default a process
/// counts calls, and recompiles methods that are called often, after a tenth of a second without new methods, or a
/// second with one CPU. Here it does so at once, which changes when code is compiled, and not how.
std::vector<std::string> environment_of(const std::string& preload, tiered_pgo compiler) {
    constexpr std::array<std::string_view, 6> options{"DOTNET_Tiered", "DOTNET_TC_",        "DOTNET_GC",
                                                      "DOTNET_gc",     "DOTNET_ReadyToRun", "COMPlus_"};
    std::vector<std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view variable = *entry;
        const bool is_option = std::any_of(options.begin(), options.end(),
                                           [&](std::string_view prefix) { return variable.starts_with(prefix); });
        if (!is_option) variables.emplace_back(variable);
    }
    variables.emplace_back("DOTNET_TC_CallCountingDelayMs=0");
    if (compiler == tiered_pgo::off) variables.emplace_back("DOTNET_TieredPGO=0");
    if (!preload.empty()) variables.push_back("LD_PRELOAD=" + preload);
    return variables;
}

/// The output of a started program; `ended_well` is set when its exit code was 0.
std::string output_of(std::vector<std::string> words, std::vector<std::string> variables, bool& ended_well) {
    ended_well = false;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    std::vector<char*> arguments, environment;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& variable : variables) environment.push_back(variable.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    pid_t child = 0;
    const int refused =
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
    const tool_call& call = tool_calls[asked.part];
    std::vector<std::string> words = find_dotnet_tool();
    if (words.empty()) return asked.out.fail("the .NET tool was not found");
    for (std::string word : {std::string{"short"}, std::string{"--part"}, std::string{call.part}, std::string{"--row"},
                             std::string{row}, std::string{"--count"}, std::to_string(asked.options[call.size])}) {
        words.push_back(std::move(word));
    }
    bool ended_well = false;
    const std::string text = output_of(std::move(words), environment_of(preload, call.compiler), ended_well);
    record_dotnet_answer(text, call.compiler, asked.out);
    if (!ended_well) asked.out.fail("the .NET process failed");
}

void run_managed(const task& asked) { run_row(asked, "managed", {}); }
void run_not_zeroed(const task& asked) { run_row(asked, "managed-not-zeroed", {}); }
void run_native_memory(const task& asked) { run_row(asked, "native-memory", {}); }
void run_native_memory_at_64(const task& asked) { run_row(asked, "native-memory-at-64", {}); }
void run_jemalloc(const task& asked) { run_row(asked, "jemalloc", find_dotnet_jemalloc()); }
void run_temp(const task& asked) { run_row(asked, "temp", {}); }
void run_temp_job(const task& asked) { run_row(asked, "temp-job", {}); }
void run_persistent(const task& asked) { run_row(asked, "persistent", {}); }
void run_without_size(const task& asked) { run_row(asked, "persistent-without-size", {}); }
void run_array_pool(const task& asked) { run_row(asked, "array-pool", {}); }
void run_safe_array(const task& asked) { run_row(asked, "safe-array", {}); }
void run_safe_array_at_16(const task& asked) { run_row(asked, "safe-array-at-16", {}); }
void run_tensor(const task& asked) { run_row(asked, "safe-array-tensor", {}); }
void run_huge_array(const task& asked) { run_row(asked, "huge-array", {}); }
void run_interpolated(const task& asked) { run_row(asked, "interpolated-string", {}); }
void run_try_write(const task& asked) { run_row(asked, "utf8-try-write", {}); }
void run_utf8_builder(const task& asked) { run_row(asked, "utf8-builder", {}); }
void run_paged_writer(const task& asked) { run_row(asked, "paged-writer", {}); }

/// The huge array must fit into memory, beside the rest of the process.
std::string_view left_out_of_part(const parameters& options, std::size_t part) {
    if (part_of::bit(part) != part_of::huge) return {};
    const auto needed = static_cast<std::size_t>(options["huge-elements"]) * sizeof(std::int32_t);
    const std::size_t available = available_memory_bytes();
    return needed <= available - available / 8 ? std::string_view{} : "the array does not fit in memory";
}

constexpr contestant row(std::string_view name, std::string_view type, std::uint64_t parts, void (*run)(const task&),
                         std::string_view peer = dotnet_name) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::peer,
            .peer = peer,
            .kind = ".NET",
            .type = type,
            .parts = parts,
            .run = run,
            .left_out = left_out_of_part};
}

constexpr contestant our_row(std::string_view name, std::string_view type, std::uint64_t parts,
                             void (*run)(const task&)) {
    contestant made = row(name, type, parts, run);
    made.role = contestant_role::ours;
    return made;
}

constexpr std::uint64_t small_parts =
    part_of::blocks | part_of::pairs | part_of::blocks_without_pgo | part_of::pairs_without_pgo;

constexpr std::array<contestant, 18> rows{{
    row("managed", "new T[]",
        small_parts | part_of::array | part_of::fragments | part_of::text | part_of::kernels | part_of::huge,
        run_managed),
    row("managed not zeroed", "GC.AllocateUninitializedArray", part_of::array | part_of::fragments, run_not_zeroed),
    row("ArrayPool", "ArrayPool<byte>.Shared", part_of::pairs | part_of::pairs_without_pgo, run_array_pool),
    row("NativeMemory", "NativeMemory.Alloc", small_parts | part_of::array | part_of::fragments, run_native_memory),
    row("NativeMemory aligned to 64", "NativeMemory.AlignedAlloc",
        part_of::blocks | part_of::blocks_without_pgo | part_of::array, run_native_memory_at_64),
    row("NativeMemory on jemalloc", "NativeMemory.Alloc",
        part_of::blocks | part_of::pairs | part_of::array | part_of::fragments, run_jemalloc, jemalloc_name),
    our_row("Tenure Temp", "Tenure.Native", part_of::blocks | part_of::blocks_without_pgo, run_temp),
    our_row("Tenure TempJob", "Tenure.Native", part_of::blocks | part_of::blocks_without_pgo, run_temp_job),
    our_row("Tenure Persistent", "Tenure.Native", small_parts | part_of::fragments, run_persistent),
    our_row("Tenure Persistent without a size", "Tenure.Native", part_of::pairs | part_of::pairs_without_pgo,
            run_without_size),
    row("interpolated strings", "DefaultInterpolatedStringHandler", part_of::text, run_interpolated),
    row("Utf8.TryWrite", "System.Text.Unicode.Utf8", part_of::text, run_try_write),
    row("TensorPrimitives on a SafeArray", "System.Numerics.Tensors", part_of::kernels, run_tensor),
    our_row("Tenure SafeArray", "Tenure.SafeArray", part_of::array | part_of::kernels, run_safe_array),
    our_row("Tenure SafeArray aligned to 16", "Tenure.SafeArray", part_of::array, run_safe_array_at_16),
    our_row("Tenure HugeArray", "Tenure.HugeArray", part_of::array | part_of::huge, run_huge_array),
    our_row("Tenure Utf8Builder", "Tenure.Utf8Builder", part_of::text, run_utf8_builder),
    our_row("Tenure PagedWriter", "Tenure.PagedWriter", part_of::text, run_paged_writer),
}};

}

std::span<const contestant> rows_in_dotnet() { return rows; }

std::vector<std::string> find_dotnet_tool() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path command = fs::read_symlink("/proc/self/exe", error).parent_path();
    const std::string dotnet = find_program("dotnet");
    // The command is in a folder of the build tree, beside the folder of the .NET part; tests are one folder below.
    for (std::string_view up : {"..", "../.."}) {
        const fs::path built = (command / up / "dotnet/bin/Tenure.Bench/release/Tenure.Bench.dll").lexically_normal();
        if (!dotnet.empty() && is_file(built)) return {dotnet, built.string()};
    }
    std::string installed = find_program("jembench");
    if (installed.empty()) {
        const char* const home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe): one thread
        const fs::path tool = fs::path{home != nullptr ? home : ""} / ".dotnet/tools/jembench";
        if (is_file(tool)) installed = tool.string();
    }
    if (installed.empty()) return {};
    return {std::move(installed)};
}

std::string find_dotnet_jemalloc() {
    for (std::string_view folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
        const std::filesystem::path file = std::filesystem::path{folder} / "libjemalloc.so.2";
        if (is_file(file)) return file.string();
    }
    return {};
}

library_peer dotnet_peer() {
    const bool present = !find_dotnet_tool().empty();
    return {dotnet_name, "dotnet-sdk-10.0", {}, present, present ? std::string_view{} : tool_missing, true};
}

library_peer dotnet_jemalloc_peer() {
    const bool has_tool = !find_dotnet_tool().empty(), has_library = !find_dotnet_jemalloc().empty();
    const std::string_view reason = !has_tool ? tool_missing : !has_library ? library_missing : std::string_view{};
    return {jemalloc_name, "libjemalloc2", {}, reason.empty(), reason};
}

namespace {

/// Blocks of the .NET process as it reported them: their addresses, their mappings, and whether their allocator
/// recognized them.
struct told_blocks {
    std::vector<void*> addresses;
    std::string query; ///< the call used there, its result, and the address of the first block
    std::size_t asked = 0, owned = 0;
    std::string wrong; ///< why they prove nothing; empty when they prove something
};

/// Parses "7f00-7f10 rw-p [heap]".
bool lies_in(std::uintptr_t address, std::string_view mapping) {
    std::uintptr_t begin = 0, end = 0;
    const char* const last = mapping.data() + mapping.size();
    const auto first = std::from_chars(mapping.data(), last, begin, 16);
    if (first.ec != std::errc{} || first.ptr == last || *first.ptr != '-') return false;
    const auto second = std::from_chars(first.ptr + 1, last, end, 16);
    return second.ec == std::errc{} && begin <= address && address < end;
}

told_blocks read_blocks(const nlohmann::json& proof) {
    told_blocks made;
    if (!proof.is_object() || !proof.contains("blocks") || !proof["blocks"].is_array() || proof["blocks"].empty()) {
        made.wrong = "the .NET process showed no block";
        return made;
    }
    made.asked = proof.value("asked", std::size_t{0});
    made.owned = proof.value("owned", std::size_t{0});
    for (const nlohmann::json& each : proof["blocks"]) {
        const std::string text = each.value("address", ""), mapping = each.value("mapping", "");
        std::uintptr_t address = 0;
        std::string_view digits = text;
        if (digits.starts_with("0x")) digits.remove_prefix(2);
        std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
        if (address == 0 || !lies_in(address, mapping)) {
            made.wrong = fmt::format("a block of the .NET process at {} is not in its mapping \"{}\"", text, mapping);
            return made;
        }
        if (made.addresses.empty()) {
            made.query = fmt::format("{}, which recognized {} of {} in the .NET process; the first was at {} in {}",
                                     proof.value("query", ""), made.owned, made.asked, text, mapping);
        }
        made.addresses.push_back(reinterpret_cast<void*>(address)); // of another process: shown, and never read
    }
    if (made.asked == 0 || made.owned != made.asked)
        made.wrong =
            fmt::format("only {} of {} blocks are recognized by {}", made.owned, made.asked, proof.value("query", ""));
    return made;
}

void record(const nlohmann::json& answer, tiered_pgo compiler, recorder& out) {
    if (!answer.is_object() || !answer.contains("values") || !answer["values"].is_array())
        return out.fail("the .NET tool gave no answer");
    if (answer.value("format", 0) != answer_format)
        return out.fail("the .NET tool has another version than this command");
    if (const std::string error = answer.value("error", ""); !error.empty()) return out.fail(error);
    const std::string_view wanted = compiler == tiered_pgo::on ? "on" : "off";
    if (answer.value("tiered_pgo", "") != wanted)
        return out.fail(fmt::format("TieredPGO is not {} in the .NET process", wanted));
    for (const nlohmann::json& each : answer["values"]) {
        if (!each.is_object() || !each.contains("value") || !each["value"].is_number())
            return out.fail("the .NET tool reported a figure without a number");
        const std::string variant = each.value("variant", "") + (compiler == tiered_pgo::off ? ", TieredPGO off" : "");
        out.value(each.value("metric", ""), variant, each.value("unit", ""), each["value"].get<double>());
    }
    const nlohmann::json proof = answer.value("proof", nlohmann::json{});
    // The proof keeps a view of the query until the process ends.
    static told_blocks told;
    told = read_blocks(proof);
    if (!told.wrong.empty()) return out.fail("not proven: " + told.wrong);
    const std::string malloc = proof.value("malloc", "");
    out.note(fmt::format(".NET {}{}{}", answer.value("runtime", "?"), malloc.empty() ? "" : "; ", malloc));
    block_owner owner;
    owner.query = told.query;
    owner.asked = &told;
    owner.owns = [](const void* self, const void*) {
        const auto& said = *static_cast<const told_blocks*>(self);
        return said.owned == said.asked;
    };
    out.blocks(told.addresses, 1, owner);
}

}

void record_dotnet_answer(std::string_view text, tiered_pgo compiler, recorder& out) {
    try {
        record(nlohmann::json::parse(text, nullptr, false), compiler, out);
    } catch (const nlohmann::json::exception&) {
        out.fail("the .NET tool gave no answer"); // a value of another type than the tool writes
    }
}

}
