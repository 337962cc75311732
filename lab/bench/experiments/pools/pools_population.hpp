// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects of a pool, and the timed loops over them.
///
/// An adaptor `A<Bytes>` has the type `object` (a test_object<Bytes>, or derived from it with the same size),
/// `construct(int)`, which returns nullptr when out of memory, and `destroy(object*)`. Where the scheme supports them,
/// it has `drop()`, which frees everything at once, and `trim()`, which returns memory when nothing is alive. It may
/// have a constructor that takes the number of objects, may support the proof's questions, and may have a constant
/// `alignment` that it promises beyond that of its object.
///
/// The timed loops store an int and read it back. After all figures of a worker have been taken, check_objects() checks
/// new objects: their size, alignment and distance. It writes them whole, which no figure includes. Each is far smaller
/// than a page, so this touches no page that their constructors did not.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "bench/harness/block_check.hpp"
#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

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
constexpr std::size_t promised_alignment() {
    if constexpr (requires { Adaptor::alignment; }) {
        return std::max(Adaptor::alignment, alignof(typename Adaptor::object));
    } else {
        return alignof(typename Adaptor::object);
    }
}

/// Whether destroying a single object makes room for another at an affordable cost for many objects.
template<class Adaptor>
constexpr bool frees_one_by_one() {
    bool frees = !requires { Adaptor::max_whole; };
    if constexpr (requires { Adaptor::one_by_one; }) frees = frees && Adaptor::one_by_one;
    if constexpr (requires { Adaptor::singly; }) frees = frees && Adaptor::singly;
    return frees;
}

template<class Adaptor>
Adaptor make_adaptor(std::size_t max_alive) {
    if constexpr (std::is_constructible_v<Adaptor, std::size_t>) {
        return Adaptor(max_alive);
    } else {
        return Adaptor();
    }
}

/// The objects of a suite, as pointers in the harness's own memory.
template<class Adaptor>
class population {
public:
    using object = typename Adaptor::object;

    population(Adaptor& pool, std::span<void*> objects) : pool_(pool), objects_(objects) { escape(&pool); }

    /// Nanoseconds per object; negative when one could not be allocated.
    [[gnu::noinline]] double construct_all() {
        const stopwatch watch;
        int number = 0;
        for (void*& place : objects_) {
            object* const made = pool_.construct(++number);
            if (made == nullptr) return -1;
            escape(made);
            place = made;
        }
        return per_object(watch.elapsed_ns(), objects_.size());
    }

    /// Destroys the first `count`, in the order of the list.
    [[gnu::noinline]] double destroy_first(std::size_t count) {
        const stopwatch watch;
        for (void* place : objects_.first(count)) {
            escape(place);
            pool_.destroy(static_cast<object*>(place));
        }
        return per_object(watch.elapsed_ns(), count);
    }
    double destroy_all() { return destroy_first(objects_.size()); }

    /// Whether each has its own number. Requires  the list is in the order of construction.
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

/// What is wrong with the objects, all of which are alive, as a sentence; empty when nothing is. Sorts the list.
template<class Adaptor>
[[nodiscard]] std::string_view check_alive(std::span<void*> objects) {
    return check_blocks(objects, sizeof(typename Adaptor::object), promised_alignment<Adaptor>());
}

/// Checks newly made objects the same way; half of them, if the scheme supports it, are made after random frees.
/// Requires nothing of the pool is alive. Afterwards nothing is alive, except what the scheme can only free as a whole.
template<class Adaptor>
[[nodiscard]] std::string_view check_objects(Adaptor& pool, std::span<void*> objects, random_source random) {
    constexpr std::string_view refused = "an object could not be allocated";
    population<Adaptor> all(pool, objects), half(pool, objects.first(objects.size() / 2));
    if (all.construct_all() < 0) return refused;
    if constexpr (frees_one_by_one<Adaptor>()) {
        all.shuffle_with(random);
        half.destroy_all();
        if (half.construct_all() < 0) return refused;
    }
    const std::string_view fault = check_alive<Adaptor>(objects);
    if (!fault.empty()) return fault; // a corrupted pool must not be touched again
    if constexpr (can_drop<Adaptor>) {
        pool.drop();
    } else if constexpr (frees_one_by_one<Adaptor>()) {
        all.destroy_all();
    }
    return {};
}

}
