// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A table, and a probe process for each of its rows.

#include "bench/harness/mallocs/malloc_peers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/harness/machine/machine.hpp"
#include "bench/harness/mallocs/malloc_calls.hpp"
#include "bench/harness/worker/process.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<malloc_peer, 4> table{{
    {"jemalloc", "libjemalloc.so.2", "libjemalloc2"},
    {"mimalloc", "libmimalloc.so.2", "libmimalloc2.0"},
    {"tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"},
    {"TBB malloc", "libtbbmalloc_proxy.so.2", "libtbbmalloc2"},
}};

struct probed {
    bool answered = false;
    std::string malloc_object, offsets_object, c_library, version, said;
};

probed probe(const std::string& library) {
    const worker_reply reply = run_worker({{std::string{probe_command}}, library, {}, std::chrono::seconds{10}});
    probed answer;
    answer.said = reply.how == ending::finished ? reply.output : reply.reason;
    const nlohmann::json message = nlohmann::json::parse(reply.message, nullptr, false);
    if (reply.how != ending::finished || !message.is_object()) return answer;
    answer.answered = true;
    answer.malloc_object = message.value("malloc", "");
    answer.offsets_object = message.value("offsets", "");
    answer.c_library = message.value("c_library", "");
    answer.version = message.value("version", "");
    return answer;
}

/// "ERROR: ld.so: object 'x' from LD_PRELOAD cannot be preloaded (why): ignored." becomes "why".
std::string loader_reason(const std::string& said) {
    const std::size_t begin = said.find("cannot be preloaded (");
    const std::size_t end = said.find("): ignored");
    if (begin == std::string::npos || end == std::string::npos) return {};
    constexpr std::size_t skipped = std::string_view{"cannot be preloaded ("}.size();
    return said.substr(begin + skipped, end - begin - skipped);
}

found_malloc find_peer(const malloc_peer& peer) {
    found_malloc made{std::string{peer.name}, {}, {}, false, {}, {}};
    const probed answer = probe(std::string{peer.file});
    if (!answer.answered) {
        made.reason = fmt::format("a process with {} preloaded does not run: {}", peer.file, answer.said);
    } else if (same_file(answer.malloc_object, answer.c_library)) {
        made.reason = fmt::format("{} is not on this machine; install the package {}", peer.file, peer.package);
    } else {
        made.found = true;
        made.library = answer.malloc_object;
        made.version = answer.version.empty() ? package_version(peer.package) : answer.version;
    }
    return made;
}

}

std::span<const malloc_peer> malloc_peers() { return table; }

std::vector<found_malloc> find_mallocs() {
    std::vector<found_malloc> all;
    all.push_back({std::string{system_malloc_name}, {}, probe({}).version, true, {}, {}});
    all.push_back(find_own_malloc("libtenure_malloc.so"));
    all.back().name = own_malloc_name;
    all.back().role = contestant_role::ours;
    all.push_back(find_own_malloc("libtenure_malloc_hardened.so"));
    all.back().name = own_hardened_name;
    all.back().role = contestant_role::checked;
    for (const malloc_peer& peer : table) all.push_back(find_peer(peer));
    return all;
}

namespace {

std::filesystem::path folder_of_command() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}

std::string find_own_library(std::string_view file) {
    // In a build tree, the tests are one folder below the command. The build system defines where an installed command
    // finds its libraries; the last two are for packages of Debian and of Fedora.
    constexpr std::array<std::string_view, 5> folders{".", "..", TENURE_LIBRARIES_FROM_COMMAND,
                                                      "../lib/" TENURE_MULTIARCH, "../lib64"};
    for (std::string_view folder : folders) {
        for (std::string_view own : {"", "tenure"}) { // a folder of ours within that of the libraries
            const std::filesystem::path path = folder_of_command() / folder / own / file;
            std::error_code error;
            if (std::filesystem::is_regular_file(path, error)) return path.string();
        }
    }
    return {};
}

found_malloc find_own_malloc(std::string_view file) {
    const std::string path = find_own_library(file);
    if (path.empty()) {
        return {std::string{file},
                {},
                {},
                false,
                fmt::format("{} is neither beside the command nor in {}", file,
                            (folder_of_command() / TENURE_LIBRARIES_FROM_COMMAND).lexically_normal().string()),
                {}};
    }
    found_malloc made = find_malloc_file(path);
    made.given.clear();
    if (made.found) made.version = library_version();
    return made;
}

found_malloc find_malloc_file(const std::string& path) {
    namespace fs = std::filesystem;
    found_malloc made{fs::path{path}.filename().string(), {}, {}, false, {}, path};
    std::error_code error;
    const fs::path file = fs::canonical(path, error);
    if (error) {
        made.reason = fmt::format("there is no file {}", path);
    } else if (!fs::is_regular_file(file)) {
        made.reason = fmt::format("{} is not a file", path);
    } else if (file.string().find_first_of(": \t\n;") != std::string::npos) {
        made.reason = fmt::format(
            "LD_PRELOAD splits the name {} at its spaces and colons: create a link with another name", path);
    } else {
        const probed answer = probe(file.string());
        const std::string refused = loader_reason(answer.said);
        if (!answer.answered) {
            made.reason = fmt::format("a process with {} preloaded does not run: {}", path, answer.said);
        } else if (!refused.empty()) {
            made.reason = fmt::format("{} cannot be loaded: {}", path, refused);
        } else if (same_file(answer.offsets_object, file.string())) {
            made.found = true;
            made.has_offsets = true;
            made.library = file.string();
        } else if (!same_file(answer.malloc_object, file.string())) {
            made.reason = fmt::format("{} has no malloc: with it preloaded, malloc still comes from {}", path,
                                      answer.malloc_object);
        } else {
            made.found = true;
            made.library = file.string();
            made.version = answer.version;
        }
    }
    return made;
}

std::string package_version(std::string_view package) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789.+-";
    if (package.empty() || package.find_first_not_of(allowed) != std::string_view::npos) return {};
    const std::string command = fmt::format("dpkg-query -W -f='${{Version}}' {} 2>/dev/null", package);
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
    if (!output) return {};
    std::array<char, 128> text{};
    const std::size_t count = std::fread(text.data(), 1, text.size() - 1, output.get());
    return {text.data(), count};
}

std::string version_of(const library_peer& peer) {
    if (!peer.present) return {};
    return peer.version.empty() ? package_version(peer.package) : std::string{peer.version};
}

int probe_main() {
    const malloc_calls& calls = process_malloc_calls();
    nlohmann::json message;
    message["malloc"] = object_of_symbol("malloc");
    message["offsets"] = object_of_symbol(offset_library_mark);
    message["c_library"] = c_library_object();
    message["version"] = calls.version != nullptr ? calls.version() : std::string{};
    const std::string text = message.dump();
    return ::write(reply_descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
}

}
