// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What a program may do to the file of its recording, by its first word. Each allocates blocks of 500 bytes before, and
// blocks of 600 bytes after, more than a chunk of the file has room for.
//   close             closes all descriptors but the standard ones
//   close-all         closes these as well, and opens a file of its own, "own", with which it ends
//   rename NEW        gives its raw file (TENURE_RECORD_FILE.raw) another name, and creates one of the old name
//   rename-closed NEW the same, after it has closed all descriptors
//   descriptors       can open no file for a while, in which it allocates blocks of 550 bytes
//   interrupted       each second system call of the recorder is interrupted
//   addresses         allocates blocks of 1 MiB, 200 in all, and ends with 1 if it gets one of them not
//   unsupported       the file system reserves no room
//   runs-on           leaves a child that allocates when it is told so: when the file "go" is there

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

constexpr int not_possible = 77, count_of_blocks = 200'000;

void* volatile passed = nullptr; // so that no allocation is optimised away

void allocate(std::size_t bytes, int count = count_of_blocks) {
    for (int each = 0; each < count; ++each) {
        passed = std::malloc(bytes);
        std::free(passed);
    }
}

int have_large_blocks() {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    for (int each = 0; each < 200; ++each) {
        passed = std::malloc(bytes);
        if (passed == nullptr) return 1;
    }
    return 0;
}

void close_from(int first) {
    for (int file = first; file < 1024; ++file) ::close(file);
}

int close_descriptors() {
    close_from(3);
    allocate(600);
    return 0;
}

int close_all_descriptors() {
    close_from(0);
    if (::open("own", O_WRONLY | O_CREAT | O_EXCL, 0600) != 0) return 1;
    allocate(600);
    return ::write(0, "mine", 4) == 4 ? 0 : 2;
}

int rename_file(const char* to, bool is_closed) {
    if (is_closed) close_from(3);
    const std::string raw = std::string(std::getenv("TENURE_RECORD_FILE")) + ".raw";
    if (std::rename(raw.c_str(), to) != 0) return 1;
    std::FILE* const other = std::fopen(raw.c_str(), "w");
    if (other == nullptr || std::fputs("other", other) < 0 || std::fclose(other) != 0) return 2;
    allocate(600);
    return 0;
}

int have_no_descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit none{3, limit.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    allocate(550);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const timespec pause{0, 50'000'000};
    ::nanosleep(&pause, nullptr);
    allocate(600);
    return 0;
}

/// Of each call of fallocate.
[[nodiscard]] bool answer_fallocate_by(unsigned action) {
    // The handler's own calls have a fifth argument, which the system call does not look at.
    constexpr unsigned number = offsetof(seccomp_data, nr), fifth = offsetof(seccomp_data, args) + 4 * sizeof(__u64);
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, fifth),  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4711, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, action),          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof filter / sizeof filter[0], filter};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int calls_interrupted = 0;

#if defined(__x86_64__)
extern "C" void interrupt_each_second(int, siginfo_t*, void* context) {
    static int calls = 0;
    const int saved = errno;
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    if (calls++ % 2 == 0) {
        ++calls_interrupted;
        registers[REG_RAX] = -EINTR;
    } else {
        const long answer = ::syscall(SYS_fallocate, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                      registers[REG_R10], 4711L, 0L);
        registers[REG_RAX] = answer == 0 ? 0 : -errno;
    }
    errno = saved;
}

int be_interrupted() {
    struct sigaction action {};
    action.sa_sigaction = interrupt_each_second;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSYS, &action, nullptr);
    if (!answer_fallocate_by(SECCOMP_RET_TRAP)) return not_possible;
    allocate(600);
    return calls_interrupted > 0 ? 0 : 1;
}
#else
int be_interrupted() { return not_possible; }
#endif

int be_unsupported() {
    if (!answer_fallocate_by(SECCOMP_RET_ERRNO | EOPNOTSUPP)) return not_possible;
    allocate(600);
    return 0;
}

void make_file(const char* name) { ::close(::open(name, O_WRONLY | O_CREAT, 0600)); }

void wait_for_file(const char* name) {
    const timespec pause{0, 5'000'000};
    for (int turn = 0; turn < 4000 && ::access(name, F_OK) != 0; ++turn) ::nanosleep(&pause, nullptr);
}

int leave_child() {
    if (::fork() != 0) {
        wait_for_file("ready"); // the child has a file of its own from its first allocation on
        return 0;
    }
    allocate(500, 10);
    close_from(0);
    make_file("ready");
    wait_for_file("go");
    allocate(600);
    make_file("done");
    ::_exit(0);
}

}

int main(int count, char** words) {
    const char* const what = count > 1 ? words[1] : "";
    if (std::strcmp(what, "runs-on") == 0) return leave_child();
    allocate(500);
    if (std::strcmp(what, "close") == 0) return close_descriptors();
    if (std::strcmp(what, "close-all") == 0) return close_all_descriptors();
    if (std::strcmp(what, "rename") == 0 && count > 2) return rename_file(words[2], false);
    if (std::strcmp(what, "rename-closed") == 0 && count > 2) return rename_file(words[2], true);
    if (std::strcmp(what, "descriptors") == 0) return have_no_descriptors();
    if (std::strcmp(what, "addresses") == 0) return have_large_blocks();
    if (std::strcmp(what, "interrupted") == 0) return be_interrupted();
    if (std::strcmp(what, "unsupported") == 0) return be_unsupported();
    return 2;
}
