// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Two limits: a bump, the fastest possible scheme, and a plain free list, the limit of every pool that reuses the most
/// recently freed object first.

#include <array>
#include <new>
#include <string_view>

#include <tenure/base/align.hpp>

#include "bench/experiments/pools/pools_contestant.hpp"

namespace tenure::lab {

namespace {

/// Room for all objects, reserved from the system in one piece and touched as it is used.
class one_range {
public:
    explicit one_range(std::size_t bytes)
        : bytes_(align_up(bytes, platform::page_bytes())), first_(platform::map(bytes_, 4096)) {}
    ~one_range() { platform::unreserve(first_, bytes_); }
    one_range(const one_range&) = delete;
    one_range& operator=(const one_range&) = delete;
    [[nodiscard]] char* begin() const { return static_cast<char*>(first_); }
    [[nodiscard]] char* end() const { return begin() + bytes_; }
    [[nodiscard]] bool holds(const void* block) const { return block >= begin() && block < end(); }

private:
    std::size_t bytes_;
    void* first_;
};

/// Restarts at the beginning when nothing is alive.
template<std::size_t Bytes>
class counting_bump {
public:
    using object = test_object<Bytes>;
    static constexpr bool singly = false; // a single destroy frees no memory

    explicit counting_bump(std::size_t max_alive) : range_(max_alive * sizeof(object)) {}
    object* construct(int number) {
        if (next_ + sizeof(object) > range_.end()) return nullptr;
        void* const block = next_;
        next_ += sizeof(object);
        ++alive_;
        return new (block) object(number);
    }
    void destroy(object*) {
        if (--alive_ == 0) next_ = range_.begin();
    }
    void drop() {
        alive_ = 0;
        next_ = range_.begin();
    }
    static constexpr std::string_view query = "its range";
    [[nodiscard]] bool owns(const void* block) const { return range_.holds(block); }

private:
    one_range range_;
    char* next_ = range_.begin();
    std::size_t alive_ = 0;
};

/// Bumps first, then reuses the most recently freed object.
template<std::size_t Bytes>
class free_list {
public:
    using object = test_object<Bytes>;

    explicit free_list(std::size_t max_alive) : range_(max_alive * sizeof(object)) {}
    object* construct(int number) {
        void* block = freed_;
        if (block != nullptr) {
            freed_ = freed_->next;
        } else {
            if (next_ + sizeof(object) > range_.end()) return nullptr;
            block = next_;
            next_ += sizeof(object);
        }
        return new (block) object(number);
    }
    void destroy(object* made) { freed_ = new (made) link{freed_}; }
    void drop() {
        freed_ = nullptr;
        next_ = range_.begin();
    }
    static constexpr std::string_view query = "its range";
    [[nodiscard]] bool owns(const void* block) const { return range_.holds(block); }

private:
    struct link {
        link* next;
    };
    one_range range_;
    char* next_ = range_.begin();
    link* freed_ = nullptr;
};

constexpr std::array<contestant, 2> all{{
    {.name = "a bump",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<counting_bump<64>>(),
     .note = "a limit: a free only counts, and memory is reused when nothing is alive",
     .parts = pool_parts<counting_bump>(),
     .run = run_pool<counting_bump>},
    {.name = "a plain free list",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<free_list<64>>(),
     .note = "a limit: one range, then a list through the freed objects; it checks nothing and returns nothing",
     .parts = pool_parts<free_list>(),
     .run = run_pool<free_list>},
}};

}

std::span<const contestant> references_in_pools() { return all; }

}
