// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Common alternatives, and the minimum cost of a count, in handles.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bench/experiments/handles/handles_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

namespace {

class bare_additions {
public:
    using hold = void*;
    using taken = bool;
    static constexpr bool knows_ends = false;
    [[nodiscard]] hold make(void* memory) {
        ++alive_;
        return memory;
    }
    [[nodiscard]] bool is_live(hold) const { return true; }
    [[nodiscard]] taken acquire(hold) {
        count_.fetch_add(1, std::memory_order_acquire);
        return true;
    }
    void release(hold, taken&) { count_.fetch_sub(1, std::memory_order_release); }
    void end(hold) { --alive_; }
    static constexpr std::string_view query = "its own count";
    [[nodiscard]] std::size_t alive() const { return alive_; }

private:
    alignas(cache_line_bytes) std::atomic<std::uint64_t> count_{0};
    std::size_t alive_ = 0;
};

/// The word of the handle table, changed by compare-and-swap.
class swapped_words {
public:
    using hold = std::uint64_t;
    using taken = bool;
    static constexpr bool knows_ends = true;
    [[nodiscard]] hold make(void*) {
        word_.fetch_add(1);
        return word_ & 0xFFFF'FFFF;
    }
    [[nodiscard]] bool is_live(hold which) const {
        return (word_.load(std::memory_order_acquire) & 0xFFFF'FFFF) == which;
    }
    [[nodiscard]] taken acquire(hold which) {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        do {
            if ((seen & 0xFFFF'FFFF) != which) return false;
        } while (!word_.compare_exchange_weak(seen, seen + (std::uint64_t{1} << 32), std::memory_order_acquire));
        return true;
    }
    void release(hold, taken&) {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (!word_.compare_exchange_weak(seen, seen - (std::uint64_t{1} << 32), std::memory_order_release)) {}
    }
    void end(hold) { word_.fetch_add(1); }
    static constexpr std::string_view query = "its generation";
    [[nodiscard]] std::size_t alive() const { return word_ & 1; }

private:
    alignas(cache_line_bytes) std::atomic<std::uint64_t> word_{0};
};

/// Counts memory whose deleter was not called as alive.
class counting_deleter {
public:
    explicit counting_deleter(std::size_t& alive) : alive_(&alive) { ++alive; }
    void operator()(void*) const { --*alive_; }

private:
    std::size_t* alive_;
};

class shared_pointers {
public:
    using hold = std::shared_ptr<void>;
    using taken = std::shared_ptr<void>;
    static constexpr bool knows_ends = false;
    [[nodiscard]] hold make(void* memory) { return {memory, counting_deleter(alive_)}; }
    [[nodiscard]] bool is_live(const hold&) const { return true; }
    [[nodiscard]] taken acquire(const hold& which) { return which; }
    void release(const hold&, taken& held) { held.reset(); }
    void end(hold& which) { which.reset(); }
    static constexpr std::string_view query = "its deleter's count";
    [[nodiscard]] std::size_t alive() const { return alive_; }

private:
    std::size_t alive_ = 0;
};

class weak_pointers {
public:
    struct hold {
        std::shared_ptr<void> owner;
        std::weak_ptr<void> seen;
    };
    using taken = std::shared_ptr<void>;
    static constexpr bool knows_ends = true;
    [[nodiscard]] hold make(void* memory) {
        std::shared_ptr<void> owner(memory, counting_deleter(alive_));
        std::weak_ptr<void> seen = owner;
        return {std::move(owner), std::move(seen)}; // a copy would change the count up and down for nothing
    }
    [[nodiscard]] bool is_live(const hold& which) const { return !which.seen.expired(); }
    [[nodiscard]] taken acquire(const hold& which) { return which.seen.lock(); }
    void release(const hold&, taken& held) { held.reset(); }
    void end(hold& which) { which.owner.reset(); }
    static constexpr std::string_view query = "its deleter's count";
    [[nodiscard]] std::size_t alive() const { return alive_; }

private:
    std::size_t alive_ = 0;
};

class locked_dictionary {
public:
    using hold = void*;
    using taken = bool;
    static constexpr bool knows_ends = true;
    [[nodiscard]] hold make(void* memory) {
        const std::unique_lock lock(mutex_);
        void* const key = static_cast<char*>(memory) + next_; // an address of its own
        next_ = next_ % 63 + 1; // the first one's address is never used again, because the first one stays
        counts_.emplace(key, 0);
        return key;
    }
    [[nodiscard]] bool is_live(hold which) const {
        const std::shared_lock lock(mutex_);
        return counts_.contains(which);
    }
    [[nodiscard]] taken acquire(hold which) {
        const std::unique_lock lock(mutex_);
        const auto found = counts_.find(which);
        if (found == counts_.end()) return false;
        ++found->second;
        return true;
    }
    void release(hold which, taken&) {
        const std::unique_lock lock(mutex_);
        if (const auto found = counts_.find(which); found != counts_.end()) --found->second;
    }
    void end(hold which) {
        const std::unique_lock lock(mutex_);
        counts_.erase(which);
    }
    static constexpr std::string_view query = "the size of its dictionary";
    [[nodiscard]] std::size_t alive() const { return counts_.size(); }

private:
    mutable std::shared_mutex mutex_;
    std::unordered_map<void*, int> counts_;
    std::size_t next_ = 0;
};

template<class Scheme>
constexpr contestant row(std::string_view name, contestant_role role, std::string_view note) {
    return {.name = name,
            .how = route::inlined,
            .role = role,
            .kind = "standard library",
            .type = type_name<Scheme>(),
            .note = note,
            .parts = 0b11,
            .run = run_handles<Scheme>};
}

constexpr contestant_role standard = contestant_role::peer;
constexpr contestant_role rebuilt = contestant_role::reference;
constexpr std::array<contestant, 5> references{
    row<bare_additions>("bare locked additions", rebuilt, "checks nothing: the minimum cost"),
    row<swapped_words>("compare and swap", rebuilt,
                       "a generation and a count in one word like ours, changed in compare-and-swap loops; no "
                       "table"),
    row<shared_pointers>("std::shared_ptr", standard, "copied and reset"),
    row<weak_pointers>("std::weak_ptr", standard, "lock() and reset; expired()"),
    row<locked_dictionary>("dictionary under a lock", rebuilt, "like jemalloc.NET's ledger of allocations"),
};

}

std::span<const contestant> references_in_handles() { return references; }

}
