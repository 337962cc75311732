// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "experiments/parallel_counted.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/peers.hpp"
#include "hook/counted.hpp"
#include "hook/settings.hpp"

namespace tenure::lab {

namespace {

hook::counted_function* find_counted() {
    return reinterpret_cast<hook::counted_function*>(::dlsym(RTLD_DEFAULT, hook::counted_symbol));
}

std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string const all{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < all.size(); begin += words.back().size() + 1) words.emplace_back(&all[begin]);
    return words;
}

}

std::string become_watched() {
    if (find_counted() != nullptr) return {};
    std::string const library = find_own_library("libtenure_watch.so");
    if (library.empty()) return "libtenure_watch.so was not built: a sanitizer stands where it would";
    if (std::getenv(hook::folder_variable) != nullptr) return "the hook was asked for and is not there";
    std::error_code error;
    std::string folder = (std::filesystem::temp_directory_path(error) / "tenure-parallel-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr) return "there is no folder for the recording";
    ::setenv(hook::folder_variable, folder.c_str(), 1);
    ::setenv(hook::regions_variable, "marks", 1);
    ::setenv("TENURE_PASSTHROUGH", "all", 1); // what Tenure itself takes is seen at malloc
    const char* const others = std::getenv("LD_PRELOAD");
    ::setenv("LD_PRELOAD", others == nullptr ? library.c_str() : (library + ":" + others).c_str(), 1);
    std::vector<std::string> words = own_arguments();
    std::vector<char*> pointers;
    for (std::string& each : words) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    ::execv("/proc/self/exe", pointers.data());
    return std::string{"the process cannot begin once more: "} + std::strerror(errno);
}

void tell_counts(const task& asked) {
    hook::region_counts counts;
    int const found = find_counted()(parallel_region.data(), parallel_region.size(), &counts);
    std::error_code error;
    if (const char* const folder = std::getenv(hook::folder_variable)) std::filesystem::remove_all(folder, error);
    if (found == 0 || counts.stays != asked.options.size("pages")) return asked.out.fail("the region was not counted");
    auto const tell = [&asked](std::string_view what, std::uint64_t count) {
        asked.out.value(what, "", "in all", static_cast<double>(count), better::neither);
    };
    tell("allocations", counts.allocations);
    tell("frees", counts.releases);
    tell("lock waits", counts.waits);
    tell("free locks", counts.quick_locks);
}

}
