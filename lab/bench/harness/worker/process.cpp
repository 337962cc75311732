// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// fork, exec, two pipes and a deadline.

#include "bench/harness/worker/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/worker/interrupt.hpp"

namespace tenure::lab {

namespace {

using clock = std::chrono::steady_clock;

struct pipe_ends {
    int read = -1, write = -1;
};

bool open_pipe(pipe_ends& ends) {
    std::array<int, 2> both{};
    if (::pipe2(both.data(), O_CLOEXEC) != 0) return false;
    ends = {both[0], both[1]};
    return true;
}

/// The strings and the null-terminated array for exec, prepared before the fork because the child must not allocate.
struct exec_strings {
    std::vector<std::string> texts;
    std::vector<char*> pointers;

    void finish() {
        for (std::string& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
    }
};

exec_strings clean_environment(const worker_request& request) {
    exec_strings made;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.starts_with("LD_PRELOAD=") || text.starts_with("TENURE_")) continue;
        made.texts.emplace_back(text);
    }
    if (!request.preload.empty()) made.texts.push_back("LD_PRELOAD=" + request.preload);
    made.texts.insert(made.texts.end(), request.environment.begin(), request.environment.end());
    made.finish();
    return made;
}

exec_strings argument_list(const worker_request& request) {
    exec_strings made;
    made.texts.emplace_back("tenure");
    made.texts.insert(made.texts.end(), request.arguments.begin(), request.arguments.end());
    made.finish();
    return made;
}

struct child_plan {
    char* const* arguments;
    char* const* environment;
    int reply, errors, cpu; // cpu: -1 for any
    pid_t parent;
    sigset_t signals;
};

/// Runs in the child between fork and exec; makes system calls only.
[[noreturn]] void become_worker(const child_plan& plan) {
    ::setpgid(0, 0); // Ctrl-C on the terminal reaches only the parent, which then ends this process
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(125);
    if (plan.cpu >= 0) pin_to_cpu(plan.cpu);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(plan.errors, 1); // standard output has no results; it is kept with the errors
    ::dup2(plan.errors, 2);
    if (plan.reply == reply_descriptor) {
        ::fcntl(plan.reply, F_SETFD, 0);
    } else {
        ::dup2(plan.reply, reply_descriptor);
    }
    ::sigprocmask(SIG_SETMASK, &plan.signals, nullptr);
    ::execve("/proc/self/exe", plan.arguments, plan.environment);
    ::_exit(126);
}

/// Appends what can be read now.
/// Returns   false at the end of the file.
bool drain(int descriptor, std::string& into, std::size_t limit) {
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    const std::size_t room = limit > into.size() ? limit - into.size() : 0;
    into.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
    return count > 0;
}

/// Reads both pipes until both have ended, the deadline has passed, or the user pressed Ctrl-C.
ending listen(worker_reply& reply, int message, int errors, clock::time_point deadline) {
    std::array<pollfd, 2> watched{{{message, POLLIN, 0}, {errors, POLLIN, 0}}};
    const sigset_t signals = waiting_signals();
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        if (interrupted()) return ending::interrupted;
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - clock::now()).count();
        if (left <= 0) return ending::timed_out;
        const timespec wait{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
        if (::ppoll(watched.data(), watched.size(), &wait, &signals) <= 0) continue;
        if (watched[0].revents != 0 && !drain(message, reply.message, std::size_t{1} << 30)) watched[0].fd = -1;
        if (watched[1].revents != 0 && !drain(errors, reply.output, 16384)) watched[1].fd = -1;
    }
    return ending::finished;
}

std::string last_line(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n');
    return std::string{begin == std::string_view::npos ? text : text.substr(begin + 1)};
}

void judge(worker_reply& reply, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    reply.how = ending::failed;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        reply.reason = fmt::format("its process was ended by signal {} ({})", signal, ::strsignal(signal));
    } else {
        reply.reason = fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
    }
    const std::string said = last_line(reply.output);
    if (!said.empty()) reply.reason += fmt::format(" after printing: {}", said);
}

worker_reply attend(pid_t child, int message, int errors, std::chrono::milliseconds timeout) {
    worker_reply reply;
    reply.how = listen(reply, message, errors, clock::now() + timeout);
    if (reply.how != ending::finished) ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (reply.how == ending::finished) judge(reply, status);
    if (reply.how == ending::timed_out) {
        reply.reason =
            fmt::format("its process did not finish within {} s", static_cast<double>(timeout.count()) / 1000);
    }
    if (reply.how == ending::interrupted) reply.reason = "interrupted";
    return reply;
}

}

worker_reply run_worker(const worker_request& request) {
    worker_reply reply;
    pipe_ends message, errors;
    if (!open_pipe(message) || !open_pipe(errors)) {
        reply.reason = fmt::format("cannot create a pipe for its process: {}", std::strerror(errno));
        return reply;
    }
    const exec_strings arguments = argument_list(request);
    const exec_strings environment = clean_environment(request);
    const child_plan plan{arguments.pointers.data(),
                          environment.pointers.data(),
                          message.write,
                          errors.write,
                          request.cpu.value_or(-1),
                          ::getpid(),
                          waiting_signals()};
    const pid_t child = ::fork();
    if (child == 0) become_worker(plan);
    ::close(message.write);
    ::close(errors.write);
    if (child < 0) {
        reply.reason = fmt::format("cannot start its process: {}", std::strerror(errno));
    } else {
        ::setpgid(child, child); // both processes do it, because either may run first
        reply = attend(child, message.read, errors.read, request.timeout);
    }
    ::close(message.read);
    ::close(errors.read);
    return reply;
}

}
