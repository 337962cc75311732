// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/program.hpp>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::string_view program_name() noexcept {
    const char* const name = ::program_invocation_short_name;
    return name == nullptr ? std::string_view{} : std::string_view{name};
}

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

kept_file copy_of_standard_error() noexcept {
    constexpr int lowest = 200;  // above the low numbers that programs may rely on
    const no_cancel_scope scope; // fcntl
    struct stat found {};
    kept_file copy;
    if (::fstat(STDERR_FILENO, &found) != 0) return copy;
    copy.number = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, lowest);
    copy.device = found.st_dev;
    copy.inode = found.st_ino;
    return copy;
}

bool is_still_open(const kept_file& file) noexcept {
    struct stat found {};
    return file.number >= 0 && ::fstat(file.number, &found) == 0 && found.st_dev == file.device &&
           found.st_ino == file.inode;
}

void close_copy(kept_file& file) noexcept {
    const no_cancel_scope scope;
    if (is_still_open(file)) ::close(file.number);
    file.number = -1;
}

namespace {

/// Keeps a write to a pipe without readers from ending the program: the signal is blocked, and taken back if it came.
class no_pipe_signal_scope {
public:
    no_pipe_signal_scope() noexcept {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        was_pending_ = is_pending();
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~no_pipe_signal_scope() {
        const timespec at_once{};
        if (!was_pending_ && is_pending()) ::sigtimedwait(&pipe_, nullptr, &at_once);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    no_pipe_signal_scope(const no_pipe_signal_scope&) = delete;
    no_pipe_signal_scope& operator=(const no_pipe_signal_scope&) = delete;

private:
    [[nodiscard]] static bool is_pending() noexcept {
        sigset_t pending;
        return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
    }
    sigset_t pipe_{}, before_{};
    bool was_pending_ = false;
};

}

void write_to(const kept_file& file, std::string_view text) noexcept {
    kept_file used = file;
    if (!is_still_open(used)) used.number = file.inode != 0 ? STDERR_FILENO : -1;
    if (!is_still_open(used)) return;
    const no_cancel_scope scope;
    const no_pipe_signal_scope no_signal;
    while (!text.empty()) {
        const ssize_t written = ::write(used.number, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

namespace {

using signal_function = void (*)() noexcept;
constexpr int signal_count = 65;
// Released before the handler is installed, acquired by it.
constinit std::atomic<signal_function> called_on_signal[signal_count]{};

void handle(int number) noexcept {
    const int saved = errno;
    if (const signal_function function = called_on_signal[number].load(std::memory_order_acquire)) function();
    errno = saved;
}

}

bool on_signal(int number, void (*function)() noexcept) noexcept {
    constexpr int unusable[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGSTOP, SIGSYS};
    struct sigaction present {};
    if (number <= 0 || number >= signal_count) return false;
    if (std::ranges::find(unusable, number) != std::end(unusable) || ::sigaction(number, nullptr, &present) != 0)
        return false;
    if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) return false;
    called_on_signal[number].store(function, std::memory_order_release);
    struct sigaction wanted {};
    wanted.sa_handler = &handle;
    wanted.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&wanted.sa_mask);
    return ::sigaction(number, &wanted, nullptr) == 0;
}

}
