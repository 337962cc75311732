// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Explores every execution of a small program of threads that C++20's memory model allows, and not only those that the
/// processor of this machine shows.
///
/// Threads are fibers, and each operation on an orders::atomic is a scheduling point. Memory is a list of messages per
/// location, in modification order. Each thread has a view: the oldest message of each location that it may still read.
/// A release attaches the thread's view to its message, an acquire joins the view of the message that it reads. This is
/// the view machine of Kang, Hur, Lahav, Vafeiadis and Dreyer, "A promising semantics for relaxed-memory concurrency"
/// (POPL 2017), without its promises. Release sequences are those of C++20, of read-modify-writes only. The view of
/// sequentially consistent operations and fences follows Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential
/// consistency in C/C++11" (PLDI 2017). The idea to test real data structures this way is that of Norris and Demsky,
/// "CDSChecker" (OOPSLA 2013). Races on orders::plain are found with vector clocks.
///
/// The search is depth-first and replays the program for each execution. It prunes an execution whose graph (program
/// order, reads-from, modification order, order of sequentially consistent operations) was seen before.
///
/// Not modelled: load buffering (an operation never reads from one that is later in the search's order, so neither
/// out-of-thin-air values nor LB outcomes appear), consume, spurious failures of compare_exchange_weak, accesses of
/// different sizes to one location, and the weaker happens-before that C++20 grants sequentially consistent operations
/// mixed with others on one location.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace orders {

constexpr std::size_t max_threads = 4;

/// A place in the source that orders memory.
struct site {
    std::string where; ///< function, kind, line and column
    std::memory_order order = std::memory_order_relaxed;
    friend auto operator<=>(const site&, const site&) = default;
};

/// Another order for a site.
struct weakening {
    std::string where;
    std::memory_order to = std::memory_order_relaxed;
};

struct options {
    std::size_t max_operations = 400;     ///< per execution; a longer one is a failure
    std::size_t max_executions = 400'000; ///< beyond this, the search ends incomplete
    std::vector<weakening> weakened;
    bool prunes = true; ///< whether executions whose graph was seen before end there
};

struct result {
    std::string failure;            ///< empty if no execution fails
    std::vector<std::string> trace; ///< the operations of the execution that failed
    std::set<std::string> outcomes; ///< of all executions that ended
    std::set<site> sites;           ///< every site that was executed
    std::size_t executions = 0;     ///< including those that were pruned
    std::size_t complete = 0;       ///< executions to the end of every thread
    std::size_t states = 0;         ///< distinct execution graphs
    bool is_exhaustive = false;     ///< whether the search ended within its limits, without a failure
    double seconds = 0;
    [[nodiscard]] bool passed() const { return failure.empty() && is_exhaustive; }
};

/// Memory of the execution, as run::make(), for code that maps pages. Zeroed.
[[nodiscard]] void* map(std::size_t bytes, std::size_t alignment);

/// One execution, while the program sets it up.
class run {
public:
    /// An object at the same address in each execution, never destroyed. All memory that threads share comes from here.
    template<class T, class... Arguments>
    T& make(Arguments&&... arguments) {
        return *::new (allocate(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...);
    }
    void thread(std::function<void()> body);
    /// Called after the end of every thread, with plain access to everything.
    void at_end(std::function<void()> check);
    /// Adds to the outcome of the execution.
    static void note(const std::string& text);

private:
    friend void* map(std::size_t bytes, std::size_t alignment);
    static void* allocate(std::size_t bytes, std::size_t alignment);
};

/// Explores a program. `program` is called for each execution, and must do the same each time.
[[nodiscard]] result explore(const std::function<void(run&)>& program, const options& how = {});

using programs = std::vector<void (*)(run&)>;

/// Every order of the programs' sites made weaker by one step, each alone: the names of those with which an execution
/// of one of the programs fails, and of those that change nothing.
struct needs {
    std::set<std::string> needed, unneeded;
    std::size_t executions = 0;
    double seconds = 0;
};
[[nodiscard]] needs find_needs(const programs& all, const options& how = {});

/// Ends the execution as a failure unless `condition` holds.
void require(bool condition, const char* what);
/// The running thread's index, from zero; max_threads while the program is set up and checked.
[[nodiscard]] std::size_t this_thread() noexcept;
/// An address that no other thread has: for code that asks for the thread pointer.
[[nodiscard]] void* thread_pointer() noexcept;
void fence(std::memory_order order, std::source_location at = std::source_location::current());

// For atomic.hpp and futex.hpp.

using change = std::uint64_t (*)(std::uint64_t before, std::uint64_t operand) noexcept;
void initialise(const void* at, std::uint64_t value) noexcept;
[[nodiscard]] std::uint64_t load(const void* at, std::uint64_t& raw, std::memory_order order,
                                 const std::source_location& from) noexcept;
void store(const void* at, std::uint64_t& raw, std::uint64_t value, std::memory_order order,
           const std::source_location& from) noexcept;
std::uint64_t modify(const void* at, std::uint64_t& raw, change by, std::uint64_t operand, std::memory_order order,
                     const std::source_location& from, const char* kind) noexcept;
bool compare_exchange(const void* at, std::uint64_t& raw, std::uint64_t& expected, std::uint64_t desired,
                      std::memory_order made, std::memory_order failed, const std::source_location& from) noexcept;
/// A loop that loads until the value is another than `unwanted`, or is `wanted`: the thread waits for a message that
/// ends the loop.
std::uint64_t await(const void* at, std::uint64_t& raw, std::uint64_t value, bool until_equal, std::memory_order order,
                    const std::source_location& from) noexcept;
/// The system calls of futexes, which are sequentially consistent: waits if the latest value has `expected` in the bits
/// of `mask`.
void futex_wait(const void* at, std::uint64_t& raw, std::uint64_t mask, std::uint64_t expected) noexcept;
void futex_wake(const void* at) noexcept;

void note_read(const void* at, const char* name) noexcept;
void note_write(const void* at, const char* name) noexcept;

}
