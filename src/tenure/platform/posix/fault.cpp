// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fault.hpp>

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <tenure/base/host.hpp>
#include <tenure/platform/background.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// Released with what the function reads, acquired by the handler of a fault.
constinit std::atomic<fault_function> told[4]{};

// Systems report an access to an inaccessible page with one of these two.
constexpr int signals_of_faults[] = {SIGSEGV, SIGBUS};
constexpr int once = static_cast<int>(SA_RESETHAND);

using signal_action = struct sigaction;

/// What the program had installed for each of these signals. Written before our handler is installed.
signal_action earlier[2]{};

[[nodiscard]] bool has_function(const signal_action& action) noexcept {
    if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction != nullptr;
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

[[nodiscard]] bool is_ignored(const signal_action& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

[[nodiscard]] fault_access access_of([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__) && defined(REG_ERR)
    constexpr unsigned long is_write = 2; // of the page fault's error code
    const auto error = static_cast<unsigned long>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR]);
    return (error & is_write) != 0 ? fault_access::write : fault_access::read;
#else
    return fault_access::unknown;
#endif
}

/// Restores the default action. The access then repeats and ends the process as it would have, with its core dump at
/// the right place. A signal that was sent is raised again.
void handle_by_default(int signal, bool is_access) noexcept {
    signal_action by_default{};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(signal, &by_default, nullptr);
    if (!is_access) ::raise(signal);
}

void handle_fault(int signal, siginfo_t* info, void* context) noexcept {
    const int saved = errno;
    const bool is_access = info->si_code > 0; // not a signal sent by kill() or raise()
    if (is_access) {
        const fault what{info->si_addr, access_of(context), context};
        for (const std::atomic<fault_function>& each : told) {
            const fault_function function = each.load(std::memory_order_acquire);
            if (function != nullptr && function(what)) break;
        }
    }
    errno = saved;
    const signal_action& before = earlier[signal == signals_of_faults[0] ? 0 : 1];
    if (!has_function(before)) return handle_by_default(signal, is_access);
    if ((before.sa_flags & once) != 0) handle_by_default(signal, true); // as the kernel does before the call
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
    before.sa_handler(signal);
}

/// Installs our handler in front of the program's. It gets the flags and the mask of the program's handler, so that
/// this runs on the stack, and with the signals blocked, that it expects. Nothing is installed over SIG_IGN: a handler
/// would interrupt system calls, and would not be inherited by the next program.
[[nodiscard]] bool install(int signal, signal_action& before) noexcept {
    for (int tries = 0; tries < 3; ++tries) {
        if (::sigaction(signal, nullptr, &before) != 0) return false;
        if (is_ignored(before)) return false;
        if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == &handle_fault) return true;
        signal_action wanted = before;
        if (!has_function(before)) {
            wanted.sa_flags = SA_ONSTACK;
            ::sigemptyset(&wanted.sa_mask);
        }
        wanted.sa_flags = (wanted.sa_flags & ~once) | SA_SIGINFO;
        wanted.sa_sigaction = &handle_fault;
        signal_action replaced{};
        if (::sigaction(signal, &wanted, &replaced) != 0) return false;
        const bool is_same = replaced.sa_flags == before.sa_flags && replaced.sa_sigaction == before.sa_sigaction;
        if (is_same) return true;
        ::sigaction(signal, &replaced, nullptr); // another thread has just installed a handler: begin again with it
    }
    return false;
}

// The stack of reports. Its pages take no memory until there is one.
constexpr std::size_t report_stack_bytes = std::size_t{64} * 1024;
alignas(16) char report_stack[report_stack_bytes];

struct report_call {
    void (*write)(const fault&, const void*) noexcept;
    const fault* what;
    const void* argument;
    static void make(const report_call* call) noexcept { call->write(*call->what, call->argument); }
};

/// Calls a function on another stack, if the processor's way is known here.
__attribute__((noinline)) void call_on_report_stack(const report_call* call) noexcept {
    [[maybe_unused]] char* const end = report_stack + report_stack_bytes;
#if defined(__x86_64__)
    asm volatile("movq %%rsp, %%rbx\n\t"
                 "movq %[end], %%rsp\n\t"
                 "call *%[function]\n\t"
                 "movq %%rbx, %%rsp"
                 : "+D"(call)
                 : [end] "r"(end), [function] "r"(&report_call::make)
                 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
                   "memory");
#elif defined(__aarch64__)
    register const report_call* argument asm("x0") = call;
    asm volatile("mov x19, sp\n\t"
                 "mov sp, %[end]\n\t"
                 "blr %[function]\n\t"
                 "mov sp, x19"
                 : "+r"(argument)
                 : [end] "r"(end), [function] "r"(&report_call::make)
                 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                   "x16", "x17", "x19", "x30", "cc", "memory");
#else
    report_call::make(call);
#endif
}

/// The process that uses the report stack; zero: none. The child of a fork may find its parent here, whose thread is
/// not in the child.
// A lock: acquired by the compare-exchange, released by the store of zero.
constinit std::atomic<std::uint64_t> reporting_process{0};

[[nodiscard]] bool acquire_report_stack() noexcept {
    constexpr unsigned max_looks = 20'000;
    const std::uint64_t mine = process_id();
    std::uint64_t user = 0;
    for (unsigned look = 0; look < max_looks; ++look) {
        if (reporting_process.compare_exchange_strong(user, mine, std::memory_order_acq_rel)) return true;
        if (user != mine) continue;
        user = 0;
        host::let_others_run(look);
    }
    return false;
}

}

void report_fault(void (*write)(const fault&, const void* argument) noexcept, const fault& what,
                  const void* argument) noexcept {
    // A handler on the alternate stack would begin at its top, over the frames of this one.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    if (acquire_report_stack()) {
        const report_call call{write, &what, argument};
        call_on_report_stack(&call);
        reporting_process.store(0, std::memory_order_release);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool on_fault(fault_function function) noexcept {
    // Sequentially consistent: it elects who installs the handler. The handler does not read it.
    static constinit std::atomic<int> state{0}; // 0: not installed, 1: being installed, 2: installed, 3: refused
    bool is_listed = false;
    for (std::atomic<fault_function>& each : told) {
        fault_function present = nullptr;
        is_listed = each.compare_exchange_strong(present, function, std::memory_order_acq_rel) || present == function;
        if (is_listed) break;
    }
    if (is_unloadable()) return false; // the handler would stay when its code is gone
    int expected = 0;
    if (state.compare_exchange_strong(expected, 1)) {
        bool is_installed = true;
        for (std::size_t index = 0; index < 2; ++index)
            is_installed = install(signals_of_faults[index], earlier[index]) && is_installed;
        state.store(is_installed ? 2 : 3);
    }
    return is_listed && state.load() != 3;
}

}
