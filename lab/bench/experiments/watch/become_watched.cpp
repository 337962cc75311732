// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/watch/become_watched.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "bench/experiments/shared/own_arguments.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "observe/hook/record/settings.hpp"
#include "report/temporary_folder.hpp"

namespace tenure::lab {

namespace {

hook::counted_function* find_counted() {
    return reinterpret_cast<hook::counted_function*>(::dlsym(RTLD_DEFAULT, hook::counted_symbol));
}

}

std::string_view why_not_watched() {
    static const bool is_there = !find_own_library("libtenure_watch.so").empty();
    return is_there ? std::string_view{}
                    : "libtenure_watch.so is not part of this build, because a sanitizer "
                      "interposes the same functions";
}

std::string become_watched(std::string_view stacks) {
    if (find_counted() != nullptr) return {};
    const std::string library = find_own_library("libtenure_watch.so");
    if (library.empty()) return std::string{why_not_watched()};
    if (std::getenv(hook::folder_variable) != nullptr)
        return "the process was started with the hook, but the hook "
               "is not loaded";
    std::error_code error;
    const std::filesystem::path place = ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm")
                                                                        : std::filesystem::temp_directory_path(error);
    temporary_folder made;
    if (!error) made = temporary_folder("tenure-bench-", place);
    if (!made.is_there()) return "cannot create a folder for the recording";
    const std::string folder = made.leave(); // to the process that this one becomes: see forget_recording()
    ::setenv(hook::folder_variable, folder.c_str(), 1);
    ::setenv(hook::regions_variable, "marks", 1);
    ::setenv(hook::stacks_variable, std::string{stacks}.c_str(), 1);
    ::setenv("TENURE_PASSTHROUGH", "all", 1); // makes Tenure's own allocations visible at malloc
    const char* const others = std::getenv("LD_PRELOAD");
    ::setenv("LD_PRELOAD", others == nullptr ? library.c_str() : (library + ":" + others).c_str(), 1);
    std::vector<std::string> words = own_arguments();
    const std::vector<char*> pointers = exec_pointers(words);
    ::execv("/proc/self/exe", pointers.data());
    return std::string{"cannot restart the process: "} + std::strerror(errno);
}

hook::region_counts counted_in(std::string_view region) {
    hook::region_counts counts;
    static_cast<void>(find_counted()(region.data(), region.size(), &counts));
    return counts;
}

void forget_recording() {
    std::error_code error;
    if (const char* const folder = std::getenv(hook::folder_variable)) std::filesystem::remove_all(folder, error);
}

}
