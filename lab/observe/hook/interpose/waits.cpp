// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Waits in the kernel: futexes called by system call number, time, files, sockets.

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/record/regions.hpp"
#include "observe/hook/runtimes/openmp_tool.hpp"
#include "observe/hook/runtimes/tbb.hpp"

using namespace tenure::lab::hook;

namespace {

[[nodiscard]] bool is_futex_wait(long number, long operation) noexcept {
    constexpr long waitv = 449; // futex_waitv, Linux 5.16 and later
    if (number == waitv) return true;
    if (number != SYS_futex) return false;
    constexpr long lock_pi2 = 13; // Linux 5.14 and later
    const long command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_WAIT_REQUEUE_PI || command == lock_pi2;
}

using system_call = long(long, long, long, long, long, long, long);

TENURE_NOINLINE long wait_for_futex(const place& from, system_call* function, long number, const long (&a)[6]) {
    if (is_idle_in_tasks(from.caller)) {
        const idle_stay stay = begin_idle();
        const long answer = function(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        end_idle(stay);
        return answer;
    }
    const noted_call<call::futex> note(from, 0, reinterpret_cast<const void*>(a[0]));
    return function(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}

extern "C" {

long syscall(long number, ...) {
    // Missing arguments are read from their registers; the kernel ignores them too.
    std::va_list list;
    va_start(list, number);
    long a[6];
    for (long& each : a) each = va_arg(list, long);
    va_end(list);
    auto* const function = real<system_call>(call::futex);
    if (is_active() && is_futex_wait(number, a[1])) [[unlikely]]
        return wait_for_futex(here(), function, number, a);
    return function(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int sched_yield() {
    auto* const function = real<int()>(call::sched_yield);
    if (!is_active()) [[likely]]
        return function();
    if (is_idle_in_tasks(here().caller)) {
        const std::uint64_t begin = ticks();
        const int answer = function();
        note_idle(begin, ticks());
        return answer;
    }
    if (is_openmp_waiting(here().caller)) return function(); // its library reports the length of the whole wait
    const noted_call<call::sched_yield> note(here());
    return function();
}

int nanosleep(const timespec* time, timespec* rest) {
    return observed<call::nanosleep, decltype(nanosleep)>(here(), time, rest);
}
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* rest) {
    return observed<call::clock_nanosleep, decltype(clock_nanosleep)>(here(), clock, flags, time, rest);
}
int usleep(useconds_t time) { return observed<call::usleep, decltype(usleep)>(here(), time); }
unsigned sleep(unsigned seconds) { return observed<call::sleep, decltype(sleep)>(here(), seconds); }
int thrd_sleep(const timespec* time, timespec* rest) {
    return observed<call::thrd_sleep, decltype(thrd_sleep)>(here(), time, rest);
}
void thrd_yield() { observed<call::thrd_yield, decltype(thrd_yield)>(here()); }

ssize_t read(int file, void* to, std::size_t bytes) {
    return observed<call::read, decltype(read)>(here(), file, to, bytes);
}
ssize_t write(int file, const void* from, std::size_t bytes) {
    return observed<call::write, decltype(write)>(here(), file, from, bytes);
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t offset) {
    return observed<call::pread, decltype(pread)>(here(), file, to, bytes, offset);
}
ssize_t pread64(int file, void* to, std::size_t bytes, off64_t offset) {
    return observed<call::pread64, ssize_t(int, void*, std::size_t, off64_t)>(here(), file, to, bytes, offset);
}
ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
    return observed<call::pwrite, decltype(pwrite)>(here(), file, from, bytes, offset);
}
ssize_t pwrite64(int file, const void* from, std::size_t bytes, off64_t offset) {
    return observed<call::pwrite64, ssize_t(int, const void*, std::size_t, off64_t)>(here(), file, from, bytes, offset);
}
ssize_t readv(int file, const iovec* pieces, int count) {
    return observed<call::readv, decltype(readv)>(here(), file, pieces, count);
}
ssize_t writev(int file, const iovec* pieces, int count) {
    return observed<call::writev, decltype(writev)>(here(), file, pieces, count);
}
ssize_t recv(int file, void* to, std::size_t bytes, int flags) {
    return observed<call::recv, decltype(recv)>(here(), file, to, bytes, flags);
}
ssize_t recvfrom(int file, void* to, std::size_t bytes, int flags, sockaddr* address, socklen_t* length) {
    return observed<call::recvfrom, decltype(recvfrom)>(here(), file, to, bytes, flags, address, length);
}
ssize_t recvmsg(int file, msghdr* message, int flags) {
    return observed<call::recvmsg, decltype(recvmsg)>(here(), file, message, flags);
}
ssize_t send(int file, const void* from, std::size_t bytes, int flags) {
    return observed<call::send, decltype(send)>(here(), file, from, bytes, flags);
}
ssize_t sendto(int file, const void* from, std::size_t bytes, int flags, const sockaddr* address, socklen_t length) {
    return observed<call::sendto, decltype(sendto)>(here(), file, from, bytes, flags, address, length);
}
ssize_t sendmsg(int file, const msghdr* message, int flags) {
    return observed<call::sendmsg, decltype(sendmsg)>(here(), file, message, flags);
}
int poll(pollfd* files, nfds_t count, int timeout) {
    return observed<call::poll, decltype(poll)>(here(), files, count, timeout);
}
int ppoll(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
    return observed<call::ppoll, decltype(ppoll)>(here(), files, count, timeout, mask);
}
int select(int count, fd_set* reads, fd_set* writes, fd_set* others, timeval* timeout) {
    return observed<call::select, decltype(select)>(here(), count, reads, writes, others, timeout);
}
int pselect(int count, fd_set* reads, fd_set* writes, fd_set* others, const timespec* timeout, const sigset_t* mask) {
    return observed<call::pselect, decltype(pselect)>(here(), count, reads, writes, others, timeout, mask);
}
int epoll_wait(int file, epoll_event* events, int most, int timeout) {
    return observed<call::epoll_wait, decltype(epoll_wait)>(here(), file, events, most, timeout);
}
int epoll_pwait(int file, epoll_event* events, int most, int timeout, const sigset_t* mask) {
    return observed<call::epoll_pwait, decltype(epoll_pwait)>(here(), file, events, most, timeout, mask);
}
int fsync(int file) { return observed<call::fsync, decltype(fsync)>(here(), file); }
int fdatasync(int file) { return observed<call::fdatasync, decltype(fdatasync)>(here(), file); }
int accept(int file, sockaddr* address, socklen_t* length) {
    return observed<call::accept, decltype(accept)>(here(), file, address, length);
}
int accept4(int file, sockaddr* address, socklen_t* length, int flags) {
    return observed<call::accept4, decltype(accept4)>(here(), file, address, length, flags);
}
int connect(int file, const sockaddr* address, socklen_t length) {
    return observed<call::connect, decltype(connect)>(here(), file, address, length);
}
int flock(int file, int operation) { return observed<call::flock, decltype(flock)>(here(), file, operation); }
pid_t waitpid(pid_t process, int* status, int options) {
    return observed<call::waitpid, decltype(waitpid)>(here(), process, status, options);
}
pid_t wait(int* status) { return observed<call::wait, decltype(wait)>(here(), status); }
pid_t wait3(int* status, int options, rusage* used) {
    return observed<call::wait3, decltype(wait3)>(here(), status, options, used);
}
pid_t wait4(pid_t process, int* status, int options, rusage* used) {
    return observed<call::wait4, decltype(wait4)>(here(), process, status, options, used);
}
int waitid(idtype_t kind, id_t number, siginfo_t* about, int options) {
    return observed<call::waitid, decltype(waitid)>(here(), kind, number, about, options);
}
ssize_t sendfile(int to, int from, off_t* offset, std::size_t bytes) {
    return observed<call::sendfile, decltype(sendfile)>(here(), to, from, offset, bytes);
}
int lockf(int file, int operation, off_t bytes) {
    return observed<call::lockf, decltype(lockf)>(here(), file, operation, bytes);
}

// Forms that _FORTIFY_SOURCE calls when the compiler knows the buffer size.
ssize_t __read_chk(int file, void* to, std::size_t bytes, std::size_t room) {
    using signature = ssize_t(int, void*, std::size_t, std::size_t);
    return observed<call::read_fortified, signature>(here(), file, to, bytes, room);
}
ssize_t __pread_chk(int file, void* to, std::size_t bytes, off_t offset, std::size_t room) {
    using signature = ssize_t(int, void*, std::size_t, off_t, std::size_t);
    return observed<call::pread_fortified, signature>(here(), file, to, bytes, offset, room);
}
ssize_t __recv_chk(int file, void* to, std::size_t bytes, std::size_t room, int flags) {
    using signature = ssize_t(int, void*, std::size_t, std::size_t, int);
    return observed<call::recv_fortified, signature>(here(), file, to, bytes, room, flags);
}
ssize_t __recvfrom_chk(int file, void* to, std::size_t bytes, std::size_t room, int flags, sockaddr* address,
                       socklen_t* length) {
    using signature = ssize_t(int, void*, std::size_t, std::size_t, int, sockaddr*, socklen_t*);
    return observed<call::recvfrom_fortified, signature>(here(), file, to, bytes, room, flags, address, length);
}
int __poll_chk(pollfd* files, nfds_t count, int timeout, std::size_t room) {
    using signature = int(pollfd*, nfds_t, int, std::size_t);
    return observed<call::poll_fortified, signature>(here(), files, count, timeout, room);
}
int __ppoll_chk(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask, std::size_t room) {
    using signature = int(pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t);
    return observed<call::ppoll_fortified, signature>(here(), files, count, timeout, mask, room);
}

int pause() { return observed<call::pause, decltype(pause)>(here()); }
int sigsuspend(const sigset_t* mask) { return observed<call::sigsuspend, decltype(sigsuspend)>(here(), mask); }
int sigwait(const sigset_t* set, int* signal) {
    return observed<call::sigwait, decltype(sigwait)>(here(), set, signal);
}
int sigwaitinfo(const sigset_t* set, siginfo_t* about) {
    return observed<call::sigwaitinfo, decltype(sigwaitinfo)>(here(), set, about);
}
int sigtimedwait(const sigset_t* set, siginfo_t* about, const timespec* timeout) {
    return observed<call::sigtimedwait, decltype(sigtimedwait)>(here(), set, about, timeout);
}
}
