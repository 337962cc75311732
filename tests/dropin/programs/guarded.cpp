// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Mistakes with blocks that lie between guard pages, in a program without the C++ library: nothing is allocated before
// main() begins.
//
// usage: guarded MISTAKE [BYTES [before|after [alternate|short|thread]]]
// What the program does with SIGSEGV itself: nothing, or it installs a handler before or after the first block. The
// handler runs on the usual stack, or on an alternate one, which may be as short as a signal allows. With `thread`, a
// second thread makes the mistake too, with one byte more.

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

sigjmp_buf after_the_fault;
volatile int on_usual_stack = 0, on_alternate_stack = 0;
char* alternate_stack;
std::size_t alternate_stack_bytes = std::size_t{64} * 1024;

void note(int, siginfo_t*, void*) {
    const char here = 0;
    const bool is_alternate = &here >= alternate_stack && &here < alternate_stack + alternate_stack_bytes;
    volatile int& count = is_alternate ? on_alternate_stack : on_usual_stack;
    count = count + 1;
    ::siglongjmp(after_the_fault, 1);
}

void install(bool is_on_alternate) {
    struct sigaction action {};
    action.sa_sigaction = &note;
    action.sa_flags = SA_SIGINFO | (is_on_alternate ? SA_ONSTACK : 0);
    ::sigaction(SIGSEGV, &action, nullptr);
}

__attribute__((noinline)) char* make(std::size_t bytes) { return static_cast<char*>(std::malloc(bytes)); }
__attribute__((noinline)) void drop(void* block) { std::free(block); }

/// Makes the mistake with blocks at either end of their pages.
void make_mistake(const char* mistake, std::size_t bytes) {
    const auto is = [&](const char* name) { return std::strcmp(mistake, name) == 0; };
    for (int turn = 0; turn < 100; ++turn) {
        volatile char* const block = make(bytes);
        void* const plain = const_cast<char*>(block);
        block[0] = 1;
        block[bytes - 1] = 1;
        if (is("overflow")) block[bytes] = 1;
        if (is("read_past")) static_cast<void>(block[bytes]);
        if (is("underflow")) block[-1] = 1;
        if (is("invalid_free")) drop(const_cast<char*>(block) + 16);
        if (is("move") && (std::memset(plain, 7, bytes), std::realloc(plain, bytes + 1)) == nullptr) std::_Exit(3);
        if (is("move")) block[0] = 1;
        drop(plain);
        if (is("read_after")) static_cast<void>(block[1]);
        if (is("write_after")) block[bytes - 1] = 1;
        if (is("double_free")) drop(plain);
        if (is("move_after") && std::realloc(plain, 2 * bytes) != nullptr) std::_Exit(4);
    }
}

/// The child uses and frees the parent's blocks and its own.
int fork_and_check() {
    char* const block = make(1000);
    std::memset(block, 5, 1000);
    const ::pid_t child = ::fork();
    if (child == 0) {
        if (block[999] != 5) std::_Exit(5);
        drop(block);
        make_mistake("none", 1000);
        volatile char* const stale = block;
        static_cast<void>(stale[10]);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    block[0] = 6; // the parent's is live
    drop(block);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 0 : 6;
}

/// Faults of the program's own, and a signal that is sent, reach its handler as without the library.
int fault_and_count(const char* mistake, std::size_t bytes) {
    volatile int* volatile nowhere = nullptr;
    if (::sigsetjmp(after_the_fault, 1) == 0) *nowhere = 1;
    if (::sigsetjmp(after_the_fault, 1) == 0) ::raise(SIGSEGV);
    if (::sigsetjmp(after_the_fault, 1) == 0) make_mistake(mistake, bytes);
    std::fprintf(stderr, "handled %d on the usual stack, %d on the alternate one\n", on_usual_stack,
                 on_alternate_stack);
    return 0;
}

/// What a limit of 16 MiB serves, twice: freed blocks no longer count.
int fill_to_the_limit() {
    constexpr std::size_t bytes = 1'000'000, most = (std::size_t{16} << 20) / bytes, tries = 100;
    char* blocks[tries];
    for (int turn = 0; turn < 2; ++turn) {
        std::size_t served = 0;
        for (char*& block : blocks) {
            block = make(bytes);
            served += block != nullptr;
        }
        for (char* const block : blocks) drop(block);
        if (served > most || served < most - 1) return 11;
    }
    return 0;
}

/// A thread whose handler has left by a jump is done with its report.
int fault_on_two_threads(const char* mistake, std::size_t bytes) {
    struct work {
        const char* mistake;
        std::size_t bytes;
    };
    const auto run = [](void* argument) -> void* {
        const work& wanted = *static_cast<const work*>(argument);
        if (::sigsetjmp(after_the_fault, 1) == 0) make_mistake(wanted.mistake, wanted.bytes);
        return nullptr;
    };
    work first{mistake, bytes}, second{mistake, bytes + 1};
    run(&first);
    ::pthread_t thread{};
    if (::pthread_create(&thread, nullptr, run, &second) != 0) return 7;
    ::pthread_join(thread, nullptr);
    return on_usual_stack == 2 ? 0 : 8;
}

/// A stack with an inaccessible page below it.
void set_alternate_stack(bool is_short) {
    constexpr std::size_t page = 4096, usual_short = 8192;
    if (is_short) {
        const std::size_t least = ::getauxval(AT_MINSIGSTKSZ) + page;
        alternate_stack_bytes = least > usual_short ? (least + page - 1) / page * page : usual_short;
    }
    void* const memory =
        ::mmap(nullptr, page + alternate_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::_Exit(9);
    ::mprotect(memory, page, PROT_NONE);
    alternate_stack = static_cast<char*>(memory) + page;
    stack_t stack{};
    stack.ss_sp = alternate_stack;
    stack.ss_size = alternate_stack_bytes;
    if (::sigaltstack(&stack, nullptr) != 0) std::_Exit(10);
}

}

int main(int count, char** arguments) {
    if (count < 2) return 2;
    const char* const mistake = arguments[1];
    const std::size_t bytes = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 64;
    const char* const handler = count > 3 ? arguments[3] : "";
    const char* const where = count > 4 ? arguments[4] : "";
    const bool is_short = std::strcmp(where, "short") == 0;
    const bool is_on_alternate = is_short || std::strcmp(where, "alternate") == 0;
    if (std::strcmp(mistake, "fork") == 0) return fork_and_check();
    if (std::strcmp(mistake, "limit") == 0) return fill_to_the_limit();
    if (is_on_alternate) set_alternate_stack(is_short);
    if (std::strcmp(handler, "before") == 0) install(is_on_alternate);
    drop(make(bytes));
    if (std::strcmp(handler, "after") == 0) install(is_on_alternate);
    if (std::strcmp(where, "thread") == 0) return fault_on_two_threads(mistake, bytes);
    if (*handler != '\0') return fault_and_count(mistake, bytes);
    make_mistake(mistake, bytes);
    return 0;
}
