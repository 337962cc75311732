// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects of a pool, and the timed loops over them.
///
/// An adaptor `A<Bytes>` has the type `object` (a test_object<Bytes>, or derived from it with the same size),
/// `construct(int)`, which returns null when refused, and `destroy(object*)`; where the scheme has them, `drop()` for
/// everything at once and `trim()` for memory back when nothing is alive. It may be made from the number of objects.

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include "harness/measure.hpp"

namespace tenure::lab {

/// The article's object: a constructor that stores an int, and a size.
template<std::size_t Bytes>
struct test_object {
    explicit test_object(int number) noexcept : value(number) {}
    int value;
    unsigned char rest[Bytes - sizeof(int)];
};

template<class Adaptor>
concept can_drop = requires(Adaptor& pool) {
    pool.drop();
};
template<class Adaptor>
concept can_trim = requires(Adaptor& pool) {
    pool.trim();
};

template<class Adaptor>
Adaptor make_adaptor(std::size_t most_alive) {
    if constexpr (std::is_constructible_v<Adaptor, std::size_t>) {
        return Adaptor(most_alive);
    } else {
        return Adaptor();
    }
}

/// The objects of a suite, as pointers in memory of the harness's own.
template<class Adaptor>
class population {
public:
    using object = typename Adaptor::object;

    population(Adaptor& pool, std::span<void*> objects) : pool_(pool), objects_(objects) { escape(&pool); }

    /// Nanoseconds per object; below zero when one was refused.
    [[gnu::noinline]] double construct_all() {
        stopwatch const watch;
        int number = 0;
        for (void*& place : objects_) {
            object* const made = pool_.construct(++number);
            if (made == nullptr) return -1;
            escape(made);
            place = made;
        }
        return per_object(watch.elapsed_ns(), objects_.size());
    }

    /// The first `count`, in the order of the list.
    [[gnu::noinline]] double destroy_first(std::size_t count) {
        stopwatch const watch;
        for (void* place : objects_.first(count)) {
            escape(place);
            pool_.destroy(static_cast<object*>(place));
        }
        return per_object(watch.elapsed_ns(), count);
    }
    double destroy_all() { return destroy_first(objects_.size()); }

    /// Whether each holds its own number. Requires  the list is in the order of construction.
    [[nodiscard]] bool numbers_hold() const {
        int number = 0;
        for (void* place : objects_) {
            if (static_cast<object*>(place)->value != ++number) return false;
        }
        return true;
    }

    void reverse() { std::reverse(objects_.begin(), objects_.end()); }
    void shuffle_with(random_source& random) { shuffle(objects_, random); }
    [[nodiscard]] std::span<void*> list() const { return objects_; }

private:
    static double per_object(double spent, std::size_t count) { return spent / static_cast<double>(count); }

    Adaptor& pool_;
    std::span<void*> objects_;
};

}
