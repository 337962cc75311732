// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The memory of one execution: messages, views and clocks, as explorer.hpp describes them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "orders/explorer.hpp"

namespace orders {

constexpr std::size_t max_locations = 192;

/// The oldest message of each location that may be read, and how far each thread's plain accesses are known.
struct view {
    std::array<std::uint8_t, max_locations> oldest{}; ///< number of a message
    std::array<std::uint16_t, max_threads> clock{};
};

struct message {
    std::uint64_t value = 0;
    std::uint64_t identity = 0; ///< the same in each execution: its thread and the number of its operation
    std::uint8_t position = 0;  ///< in modification order
    bool is_attached = false;   ///< a read-modify-write: nothing comes between it and the message before
    view released;
};

struct location {
    const void* at = nullptr;
    std::vector<message> messages;   ///< by number
    std::vector<std::uint8_t> order; ///< numbers, in modification order
    std::uint64_t fingerprint = 0;   ///< of its order
};

struct plain_variable {
    std::size_t writer = max_threads; ///< of the last write; max_threads: none
    std::uint16_t written = 0;
    std::array<std::uint16_t, max_threads> read{}; ///< by each thread, last
};

struct thread_state {
    view current;
    view to_acquire;           ///< joined by an acquire fence
    view at_release;           ///< at the last release fence
    std::uint64_t history = 0; ///< fingerprint of what it has done and read
    std::uint32_t operations = 0;
};

[[nodiscard]] inline std::uint64_t mixed(std::uint64_t with, std::uint64_t word) noexcept {
    std::uint64_t bits = (with ^ word) * 0x9E37'79B9'7F4A'7C15;
    bits ^= bits >> 29;
    bits *= 0xBF58'476D'1CE4'E5B9;
    return bits ^ bits >> 32;
}

class machine {
public:
    /// Chooses one of so many continuations: the explorer's search.
    using chooser = std::size_t (*)(std::size_t count);
    explicit machine(chooser choose) : choose_(choose) {}

    void clear();
    /// The location's index. `initial` is its value if it has no message yet.
    std::size_t find(const void* at, std::uint64_t initial);
    void initialise(const void* at, std::size_t thread, std::uint64_t value);

    std::uint64_t load(std::size_t thread, std::size_t where, std::memory_order order);
    void store(std::size_t thread, std::size_t where, std::uint64_t value, std::memory_order order);
    std::uint64_t modify(std::size_t thread, std::size_t where, change by, std::uint64_t operand,
                         std::memory_order order);
    bool compare_exchange(std::size_t thread, std::size_t where, std::uint64_t& expected, std::uint64_t desired,
                          std::memory_order made, std::memory_order failed);
    void fence(std::size_t thread, std::memory_order order);
    /// Whether a message may be read that ends a loop: await() in explorer.hpp. Then load_ending() reads one.
    [[nodiscard]] bool can_end(std::size_t thread, std::size_t where, std::uint64_t value, bool until_equal) const;
    std::uint64_t load_ending(std::size_t thread, std::size_t where, std::uint64_t value, bool until_equal,
                              std::memory_order order);

    /// Returns   false if there is a race.
    [[nodiscard]] bool read_plain(std::size_t thread, const void* at);
    [[nodiscard]] bool write_plain(std::size_t thread, const void* at);

    [[nodiscard]] std::uint64_t latest(std::size_t where) const;
    /// Reads the latest message, as the kernel does.
    std::uint64_t see_latest(std::size_t thread, std::size_t where);
    [[nodiscard]] std::uint64_t fingerprint() const;
    [[nodiscard]] const thread_state& thread(std::size_t index) const { return threads_[index]; }
    /// Adds something that a thread has done to its history.
    void remember(std::size_t thread, std::uint64_t what);

private:
    void begin_operation(std::size_t thread, std::size_t where, std::uint64_t kind, std::memory_order order);
    [[nodiscard]] std::uint64_t fingerprint_of(const view& known) const;
    void join(view& to, const view& from) const;
    void raise(view& to, std::size_t where, std::uint8_t number) const;
    [[nodiscard]] std::size_t first_readable(std::size_t thread, std::size_t where, bool is_sequential) const;
    void read(std::size_t thread, std::size_t where, std::uint8_t number, std::memory_order order);
    void write(std::size_t thread, std::size_t where, std::uint64_t value, std::size_t position, bool is_attached,
               std::memory_order order, const view* continued);
    void replace(std::size_t thread, std::size_t where, std::uint8_t number, std::uint64_t value,
                 std::memory_order order);

    chooser choose_;
    std::vector<location> locations_;
    std::unordered_map<const void*, std::size_t> places_;
    std::unordered_map<const void*, plain_variable> plains_;
    std::array<thread_state, max_threads> threads_;
    view sequential_; ///< of sequentially consistent operations
    bool has_sequential_ = false;
};

}
