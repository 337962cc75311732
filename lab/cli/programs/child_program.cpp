// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/programs/child_program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/arguments/program_file.hpp"
#include "cli/terminal.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

pid_t running_program = 0;

// The program also receives what the terminal sends. Signals sent only to this process are forwarded.
extern "C" void hand_on(int signal, siginfo_t* about, void*) {
    const bool is_from_terminal = about->si_code == SI_KERNEL && signal != SIGHUP;
    if (running_program > 0 && !is_from_terminal) ::kill(running_program, signal);
}

/// Keeps this process alive until the program ends, so that it can report.
class patience {
public:
    patience() {
        struct sigaction forward {};
        forward.sa_sigaction = hand_on;
        forward.sa_flags = SA_SIGINFO | SA_RESTART;
        for (std::size_t index = 0; index < signals.size(); ++index) {
            ::sigaction(signals[index], &forward, &before_[index]);
        }
    }
    ~patience() { restore(); }
    patience(const patience&) = delete;
    patience& operator=(const patience&) = delete;
    void restore() const {
        for (std::size_t index = 0; index < signals.size(); ++index)
            ::sigaction(signals[index], &before_[index], nullptr);
    }

private:
    static constexpr std::array<int, 4> signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    std::array<struct sigaction, 4> before_{};
};

}

program_choice choose_program(const std::string& name, const std::string& verb) {
    const std::string path = find_program(name);
    if (path.empty()) {
        const std::string why = why_not_executable(name);
        return why.empty() ? program_choice{{}, fmt::format("there is no program {}", name), not_found}
                           : program_choice{{}, fmt::format("{} {}", name, why), cannot_run};
    }
    if (const std::string reason = why_not_preloadable(path); !reason.empty())
        return {path, fmt::format("{} {}; it cannot be {}", path, reason, verb), cannot_run};
    if (needs_library(path, "libasan.so")) {
        return {
            path,
            fmt::format("{} is built with AddressSanitizer, whose library must be loaded first: use a build without "
                        "it; this one cannot be {}",
                        path, verb),
            cannot_run};
    }
    return {path, {}, 0};
}

ended_program run_program(const std::string& path, const std::vector<std::string>& words,
                          const std::function<void()>& prepare, const std::function<void()>& begun) {
    std::vector<char*> pointers;
    for (const std::string& each : words) pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);

    const patience patient;
    struct sigaction heard {
    }, before{};
    heard.sa_handler = SIG_DFL; // a process that ignores the signal is not notified of the child's end
    ::sigaction(SIGCHLD, &heard, &before);
    const pid_t child = ::fork();
    if (child < 0) {
        say(fmt::format("cannot start a process for {}: {}", path, std::strerror(errno)));
        return {};
    }
    // An exception must not lead the child back into the parent's code.
    const auto become_program = [&]() noexcept {
        patient.restore();
        ::sigaction(SIGCHLD, &before, nullptr);
        prepare();
        ::execv(path.c_str(), pointers.data());
        say(fmt::format("{} cannot be run: {}", path, std::strerror(errno)));
        ::_exit(cannot_run);
    };
    if (child == 0) become_program();
    running_program = child;
    if (begun) begun();
    int status = 0;
    pid_t waited = 0;
    while ((waited = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {}
    running_program = 0;
    ::sigaction(SIGCHLD, &before, nullptr);
    if (waited != child) {
        say(fmt::format("cannot wait for the end of {}: {}", path, std::strerror(errno)));
        return {0, cannot_run, 0};
    }
    constexpr int by_signal = 128;
    if (WIFSIGNALED(status)) return {child, by_signal + WTERMSIG(status), WTERMSIG(status)};
    return {child, WEXITSTATUS(status), 0};
}

void preload_first(const std::string& library) {
    const char* const others = std::getenv("LD_PRELOAD");
    const bool alone = others == nullptr || *others == '\0';
    ::setenv("LD_PRELOAD", alone ? library.c_str() : fmt::format("{}:{}", library, others).c_str(), 1);
}

std::string why_not_writable(const std::string& path, const std::string& input) {
    if (path.empty() || path == "-") return {};
    namespace fs = std::filesystem;
    std::error_code not_there;
    if (!input.empty() && fs::equivalent(path, input, not_there) && fs::is_regular_file(path, not_there))
        return fmt::format("{} is the file that is read: name another one for the output", path);
    const fs::path file = followed(path);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code error;
    if (!fs::is_directory(folder, error)) return fmt::format("there is no folder {} for {}", folder.string(), path);
    if (fs::is_directory(path, error)) return fmt::format("{} is a folder", path);
    const bool is_there = fs::exists(path, error);
    if (::access(is_there ? path.c_str() : folder.c_str(), W_OK) == 0) return {};
    return fmt::format("{} could not be written: {}", path, std::strerror(errno));
}

std::string preloadable(const std::string& library, const std::string& folder) {
    if (library.find_first_of(" :") == std::string::npos) return library;
    namespace fs = std::filesystem;
    const std::string link = folder + "/" + fs::path(library).filename().string();
    std::error_code error;
    fs::create_symlink(library, link, error);
    return error ? library : link;
}

preloadable_library::preloadable_library(const std::string& library) : path_(library) {
    constexpr const char* separators = " :";
    if (library.find_first_of(separators) == std::string::npos) return;
    std::error_code error;
    for (const std::string& place : {std::filesystem::temp_directory_path(error).string(), std::string("/tmp")}) {
        if (place.find_first_of(separators) != std::string::npos) continue;
        folder_ = temporary_folder("tenure-preload-", place);
        if (!folder_.is_there()) continue;
        path_ = preloadable(library, folder_.path());
        return;
    }
}

}
