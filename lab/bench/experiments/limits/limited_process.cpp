// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// fork, setrlimit, exec. A limit set before the exec holds for the loader and for the first call of malloc, as that of
/// a shell's `ulimit -v`.

#include "bench/experiments/limits/limited_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "bench/experiments/shared/own_arguments.hpp"

namespace tenure::lab {

namespace {

rlimit current_limit() {
    rlimit found{};
    ::getrlimit(RLIMIT_AS, &found);
    return found;
}

bool set_limit(rlim_t bytes) {
    rlimit limit = current_limit();
    limit.rlim_cur = bytes;
    return ::setrlimit(RLIMIT_AS, &limit) == 0; // the upper bound stays, so that it can be lifted
}

/// Waits for a child.
/// Returns   how it ended, as a sentence; empty when its exit code was 0.
std::string ending_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status))
        return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) return fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
    return {};
}

}

std::string go_on_under_limit(std::size_t bytes) {
    if (current_limit().rlim_cur == bytes) return {};
    std::vector<std::string> words = own_arguments();
    const std::vector<char*> pointers = exec_pointers(words);
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::prctl(PR_SET_DUMPABLE, 0);
        if (!set_limit(bytes)) ::_exit(125);
        ::execv("/proc/self/exe", pointers.data());
        ::_exit(126);
    }
    if (child < 0) return fmt::format("its process could not be started: {}", std::strerror(errno));
    std::string reason = ending_of(child);
    if (reason.empty()) ::_exit(0); // the child has sent the reply
    return reason;
}

void lift_limit() { static_cast<void>(set_limit(current_limit().rlim_max)); }

bool program_runs_under_limit(std::size_t bytes, std::string_view library) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    const pid_t child = ::fork();
    if (child == 0) {
        const int nothing = ::open("/dev/null", O_WRONLY);
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(nothing, STDERR_FILENO); // what the loader says when it finds no addresses
        if (set_limit(bytes)) ::execl("/bin/cat", "/bin/cat", "/proc/self/maps", static_cast<char*>(nullptr));
        ::_exit(126);
    }
    ::close(ends[1]);
    std::string map;
    std::array<char, 4096> piece{};
    for (ssize_t count; child > 0 && (count = ::read(ends[0], piece.data(), piece.size())) > 0;)
        map.append(piece.data(), static_cast<std::size_t>(count));
    ::close(ends[0]);
    // The loader goes on without a library that it cannot load.
    return child > 0 && ending_of(child).empty() && !map.empty() && map.find(library) != std::string::npos;
}

}
