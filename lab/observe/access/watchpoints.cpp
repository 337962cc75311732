// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/access/watchpoints.hpp"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <tenure/platform/clock.hpp>

namespace tenure::lab {

namespace {

constexpr std::size_t ring_page_bytes = 4096;
constexpr std::size_t ring_data_bytes = 2 * ring_page_bytes; // all hits of a window fit
constexpr std::size_t ring_bytes = ring_page_bytes + ring_data_bytes;
static_assert(max_watchpoints * watchpoints::max_hits * 40 < ring_data_bytes);

/// What the kernel writes for a hit.
struct hit_record {
    perf_event_header header;
    std::uint64_t code;
    std::uint32_t process, thread;
    std::uint64_t time_ns;
    std::uint64_t address;
};
static_assert(sizeof(hit_record) == 40);

[[nodiscard]] perf_event_attr attributes_of(std::uint64_t address) {
    perf_event_attr made{};
    made.type = PERF_TYPE_BREAKPOINT;
    made.size = sizeof made;
    made.bp_type = HW_BREAKPOINT_RW;
    made.bp_addr = address;
    made.bp_len = HW_BREAKPOINT_LEN_8;
    made.sample_period = 1;
    made.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
    made.disabled = 1;
    made.exclude_kernel = 1;
    made.exclude_hv = 1;
    made.remove_on_exec = 1; // the addresses would be those of another program
    made.use_clockid = 1;
    made.clockid = CLOCK_MONOTONIC;
    made.wakeup_events = ~std::uint32_t{0}; // nobody waits
    return made;
}

[[nodiscard]] perf_event_attr attributes_of_holder() {
    perf_event_attr made = attributes_of(0);
    made.type = PERF_TYPE_SOFTWARE;
    made.config = PERF_COUNT_SW_DUMMY;
    made.bp_type = 0;
    made.config1 = made.config2 = 0; // bp_addr, bp_len
    return made;
}

[[nodiscard]] int open_event(perf_event_attr attributes, int thread) {
    constexpr int any_processor = -1, no_group = -1;
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, thread, any_processor, no_group, PERF_FLAG_FD_CLOEXEC));
}

}

watchpoints::~watchpoints() {
    for (thread& each : threads_) close(each);
}

void watchpoints::close(point& of) {
    if (of.event >= 0) ::close(of.event);
    of = {};
}

void watchpoints::close(thread& of) {
    if (of.ring != nullptr) ::munmap(of.ring, ring_bytes);
    if (of.holder >= 0) ::close(of.holder);
    of.ring = nullptr;
    of.holder = -1;
    for (point& each : of.points) close(each);
}

/// Returns   false: errno says why.
bool watchpoints::open_point(const thread& of, point& to) {
    static const std::uint64_t unused = 0; // an event needs an address from its begin
    to.event = open_event(attributes_of(reinterpret_cast<std::uint64_t>(&unused)), static_cast<int>(of.id));
    if (to.event < 0) return false;
    to.spent = max_hits;
    return ::ioctl(to.event, PERF_EVENT_IOC_SET_OUTPUT, of.holder) == 0;
}

/// Returns   false: errno says why.
bool watchpoints::open(thread& of) {
    of.holder = open_event(attributes_of_holder(), static_cast<int>(of.id));
    if (of.holder < 0) return false;
    void* const mapped = ::mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, of.holder, 0);
    if (mapped == MAP_FAILED) {
        if (errno == EPERM) errno = out_of_locked_memory;
        return false;
    }
    of.ring = mapped;
    for (point& each : of.points)
        if (!open_point(of, each)) return false;
    return true;
}

bool watchpoints::move_point(const thread& of, point& to, std::uint64_t address) {
    if (to.event < 0 && !open_point(of, to)) {
        close(to);
        return false;
    }
    perf_event_attr attributes = attributes_of(address);
    if (::ioctl(to.event, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes) != 0) return false; // the thread has ended
    to.address = address;
    return true;
}

bool watchpoints::find_threads() {
    namespace fs = std::filesystem;
    std::vector<std::uint32_t> now;
    std::error_code error;
    fs::directory_iterator entry(fmt::format("/proc/{}/task", process_), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        now.push_back(static_cast<std::uint32_t>(std::strtoul(entry->path().filename().c_str(), nullptr, 10)));
    if (error && error.value() != ENOENT && error.value() != ESRCH) { // those that are known are watched on
        error_ = error.value();
        return !threads_.empty();
    }
    std::sort(now.begin(), now.end());
    std::erase_if(threads_, [&](thread& each) {
        const bool is_gone = !std::binary_search(now.begin(), now.end(), each.id);
        if (is_gone) close(each);
        return is_gone;
    });
    error_ = 0;
    unwatched_ = 0;
    for (const std::uint32_t id : now) {
        const auto is_this = [&](const thread& each) { return each.id == id; };
        if (std::any_of(threads_.begin(), threads_.end(), is_this)) continue;
        if (threads_.size() == max_threads) {
            ++unwatched_;
            continue;
        }
        thread made;
        made.id = id;
        if (open(made)) {
            threads_.push_back(made);
            continue;
        }
        if (errno != ESRCH) { // it has ended
            error_ = errno;
            ++unwatched_;
        }
        close(made);
    }
    return !threads_.empty();
}

void watchpoints::watch(std::span<const std::uint64_t> addresses) {
    watched_ = std::min(addresses.size(), max_watchpoints);
    for (thread& each : threads_)
        for (std::size_t index = 0; index < watched_; ++index)
            if (!move_point(each, each.points[index], addresses[index])) each.points[index].address = 0;
    for (thread& each : threads_) {
        for (std::size_t index = 0; index < watched_; ++index) {
            point& one = each.points[index];
            if (one.address != 0) static_cast<void>(::ioctl(one.event, PERF_EVENT_IOC_REFRESH, one.spent));
        }
    }
}

watchpoints::outcome watchpoints::stop() {
    outcome made;
    for (thread& each : threads_)
        for (std::size_t index = 0; index < watched_; ++index)
            static_cast<void>(::ioctl(each.points[index].event, PERF_EVENT_IOC_DISABLE, 0));
    for (thread& each : threads_) {
        read_ring(each, made);
        for (std::size_t index = 0; index < watched_; ++index) {
            point& one = each.points[index];
            if (one.address == 0) continue;
            std::uint64_t count = one.count;
            if (::read(one.event, &count, sizeof count) != sizeof count) count = one.count;
            const auto hits = static_cast<std::uint32_t>(std::min<std::uint64_t>(count - one.count, max_hits));
            made.counts[index] += hits;
            one.count = count;
            one.spent = hits; // the rest of the limit is still there
            // Some kernels (6.18) never report anything more of a breakpoint that was stopped at its limit.
            if (hits == max_hits) close(one);
        }
    }
    std::stable_sort(made.hits.begin(), made.hits.end(),
                     [](const watchpoint_hit& a, const watchpoint_hit& b) { return a.time_ns < b.time_ns; });
    watched_ = 0;
    return made;
}

void watchpoints::read_ring(thread& of, outcome& to) const {
    auto* const head = static_cast<perf_event_mmap_page*>(of.ring);
    const auto* const data = static_cast<const unsigned char*>(of.ring) + ring_page_bytes;
    const std::uint64_t end = std::atomic_ref(head->data_head).load(std::memory_order_acquire);
    std::uint64_t at = head->data_tail;
    const auto copy = [&](void* bytes, std::size_t count) {
        for (std::size_t index = 0; index < count; ++index)
            static_cast<unsigned char*>(bytes)[index] = data[(at + index) % ring_data_bytes];
    };
    while (at + sizeof(perf_event_header) <= end) {
        perf_event_header header{};
        copy(&header, sizeof header);
        if (header.size < sizeof header) break;
        if (header.type == PERF_RECORD_SAMPLE && header.size == sizeof(hit_record)) {
            hit_record found{};
            copy(&found, sizeof found);
            for (std::size_t index = 0; index < watched_; ++index)
                if (of.points[index].address == found.address)
                    to.hits.push_back({found.time_ns, found.code, found.thread, static_cast<std::uint32_t>(index)});
        }
        at += header.size;
    }
    std::atomic_ref(head->data_tail).store(end, std::memory_order_release);
}

watchpoints::probe watchpoints::try_out() {
    alignas(watched_bytes) std::array<volatile std::uint64_t, max_watchpoints> words{};
    std::vector<std::uint64_t> addresses, spent_ns;
    for (volatile std::uint64_t& each : words) addresses.push_back(reinterpret_cast<std::uint64_t>(&each));
    watchpoints points(static_cast<std::uint32_t>(::getpid()));
    if (!points.find_threads()) return {points.error() != 0 ? points.error() : ENODEV, 0};
    points.watch(addresses);
    for (std::uint32_t turn = 0; turn < max_hits; ++turn)
        for (volatile std::uint64_t& each : words) each = turn;
    const outcome found = points.stop();
    // A virtual machine may accept watchpoints that never report anything.
    if (found.hits.size() < max_hits) return {ENODEV, 0};
    for (std::size_t index = 1; index < found.hits.size(); ++index)
        spent_ns.push_back(found.hits[index].time_ns - found.hits[index - 1].time_ns);
    std::sort(spent_ns.begin(), spent_ns.end());
    return {0, spent_ns[spent_ns.size() / 2]};
}

std::string watchpoint_error(int number) {
    switch (number) {
    case watchpoints::out_of_locked_memory: {
        std::string limit;
        std::ifstream("/proc/sys/kernel/perf_event_mlock_kb") >> limit;
        return fmt::format("this user's locked memory for perf events is used up (kernel.perf_event_mlock_kb is {}): "
                           "raise it with sysctl, or ulimit -l",
                           limit.empty() ? "not known" : limit);
    }
    case EACCES:
    case EPERM: {
        std::string level;
        std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
        return fmt::format("the system does not allow perf events (kernel.perf_event_paranoid is {}). Allow them with "
                           "sysctl kernel.perf_event_paranoid=2, or run as root; in a container, its seccomp profile "
                           "must allow perf_event_open",
                           level.empty() ? "not known" : level);
    }
    case ENOSPC:
        return "all debug registers of the processor are in use. End the debugger or the other perf session that has "
               "watchpoints";
    case ENODEV:
    case ENOENT:
    case EOPNOTSUPP:
        return "this machine has no hardware watchpoints: some virtual machines lack them. Record on another one";
    case ENOSYS: return "this kernel has no perf events. Record on another one";
    case EINVAL: return "this kernel's perf events lack what is needed: Linux 5.13 has it";
    case EMFILE: return "too many open files: raise ulimit -n";
    case ENFILE: return "the system has too many open files: raise fs.file-max with sysctl";
    default: return std::strerror(number);
    }
}

}
