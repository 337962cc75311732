// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Watchpoints of the processor's debug registers on up to four places in the memory of another process. Each thread of
/// the process has four perf events, so that the kernel reports every read and write that its code makes there; what
/// the kernel itself reads and writes in system calls is not reported. Nothing is done inside the process.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenure::lab {

inline constexpr std::size_t max_watchpoints = 4; ///< of the processor
inline constexpr std::uint32_t watched_bytes = 8; ///< of each, at a multiple of 8

struct watchpoint_hit {
    std::uint64_t time_ns = 0; ///< of the monotonic clock
    std::uint64_t code = 0;    ///< address behind the instruction
    std::uint32_t thread = 0;  ///< its number in the system
    std::uint32_t which = 0;   ///< index of the place
};

class watchpoints {
public:
    /// After so many hits of a place by a thread the thread's watchpoint is removed: each hit costs it from 1 us, to
    /// 50 us in virtual machines.
    static constexpr std::uint32_t max_hits = 8;
    /// Further threads of a process are not watched.
    static constexpr std::size_t max_threads = 64;
    /// In place of the system's number, EPERM, which would say that perf events are not allowed at all.
    static constexpr int out_of_locked_memory = -1;

    explicit watchpoints(std::uint32_t process) : process_(process) {}
    ~watchpoints();
    watchpoints(const watchpoints&) = delete;
    watchpoints& operator=(const watchpoints&) = delete;

    /// Looks for threads that have begun or ended. Returns   false if none can be watched: error() says why.
    [[nodiscard]] bool find_threads();
    /// The system's number of the last error; zero: the process has no threads any more.
    [[nodiscard]] int error() const { return error_; }
    [[nodiscard]] std::size_t unwatched_threads() const { return unwatched_; }

    /// Watches these addresses, at most four. Requires  nothing is watched.
    void watch(std::span<const std::uint64_t> addresses);
    struct outcome {
        std::vector<watchpoint_hit> hits;                    ///< by time
        std::array<std::uint32_t, max_watchpoints> counts{}; ///< some have no entry in `hits`
    };
    /// Ends the watching.
    [[nodiscard]] outcome stop();

    struct probe {
        int error = 0;            ///< why this process could not watch even itself: the system's number; zero: it can
        std::uint64_t hit_ns = 0; ///< what a hit costs
    };
    [[nodiscard]] static probe try_out();

private:
    struct point {
        int event = -1;
        std::uint64_t address = 0; ///< zero: not watched
        std::uint64_t count = 0;   ///< that was read last
        std::uint32_t spent = 0;   ///< of the hits that it may have
    };
    struct thread {
        std::uint32_t id = 0;
        int holder = -1; ///< an event that counts nothing: the others write into its ring
        void* ring = nullptr;
        std::array<point, max_watchpoints> points;
    };

    [[nodiscard]] static bool open(thread& of);
    [[nodiscard]] static bool open_point(const thread& of, point& to);
    [[nodiscard]] static bool move_point(const thread& of, point& to, std::uint64_t address);
    static void close(point& of);
    static void close(thread& of);
    void read_ring(thread& of, outcome& to) const;

    std::uint32_t process_;
    int error_ = 0;
    std::size_t unwatched_ = 0;
    std::size_t watched_ = 0; ///< places
    std::vector<thread> threads_;
};

/// What an error number means for watchpoints, and what to do, without a full stop.
[[nodiscard]] std::string watchpoint_error(int number);

}
