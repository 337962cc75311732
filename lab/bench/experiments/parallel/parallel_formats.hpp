// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects, and the ways to write one. All write to the same memory, through text_writer::room() and advance(), and the
/// same text; only a copy is not text.

#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include <tenure/tenure.h>
#include <tenure/text/text_writer.hpp>

#include "bench/harness/random_source.hpp"

namespace tenure::lab {

/// The fields of the article's object.
struct two_fields {
    bool flag;
    float real;

    static constexpr std::string_view variant = "bool, float";
    static constexpr std::size_t text_bytes = 1 + fixed_bytes<float>(2);

    static two_fields draw(random_source& random) {
        return {random.below(2) == 1, static_cast<float>(random.below(2'000'000)) * 0.001f - 1000};
    }
};
static_assert(sizeof(two_fields) == 8);

struct five_fields {
    bool flag;
    float real;
    std::int32_t number;
    std::uint32_t name_bytes;
    std::uint64_t large;
    char name[24];

    static constexpr std::string_view variant = "bool, float, int32, uint64, string";
    static constexpr std::size_t text_bytes =
        two_fields::text_bytes + 4 + integer_bytes<std::int32_t>() + integer_bytes<std::uint64_t>() + sizeof name;

    [[nodiscard]] std::string_view name_text() const { return {name, name_bytes}; }
    static five_fields draw(random_source& random) {
        const two_fields first = two_fields::draw(random);
        five_fields made{.flag = first.flag, .real = first.real, .number = 0, .name_bytes = 0, .large = 0, .name = {}};
        made.number = static_cast<std::int32_t>(random()) >> random.below(32);
        made.large = random() >> random.below(64);
        made.name_bytes = static_cast<std::uint32_t>(random.below(sizeof made.name));
        for (char& letter : made.name) letter = static_cast<char>('a' + random.below(26));
        return made;
    }
};

struct same_value {
    static double of(float real) { return real; }
};

/// One call for each record, to snprintf or a function like it. `Count` is the type of its second parameter; `Value`
/// decides what is written for a float.
template<auto Print, class Count = std::size_t, class Value = same_value>
struct any_printf_format {
    static void write(text_writer& to, const two_fields& object) {
        const auto room = to.room();
        to.advance(static_cast<std::size_t>(Print(room.data(), static_cast<Count>(room.size()), "%s%.2f",
                                                  object.flag ? "y" : "n", Value::of(object.real))));
    }
    static void write(text_writer& to, const five_fields& object) {
        const auto room = to.room();
        to.advance(static_cast<std::size_t>(Print(room.data(), static_cast<Count>(room.size()), "%s%.2f,%d,%llu,%.*s\n",
                                                  object.flag ? "y" : "n", Value::of(object.real), object.number,
                                                  static_cast<unsigned long long>(object.large),
                                                  static_cast<int>(object.name_bytes), object.name)));
    }
};
using printf_format = any_printf_format<std::snprintf>;
using tn_snprintf_format = any_printf_format<tn_snprintf>;

/// snprintf, and then a free of a null pointer, as some formatters make it after each call.
template<class Free>
struct freeing_format {
    template<class Object>
    static void write(text_writer& to, const Object& object) {
        printf_format::write(to, object);
        Free::free(nullptr);
    }
};

struct c_library_free {
    static inline void (*volatile function)(void*) = std::free; // so that the compiler keeps the call
    static void free(void* block) { function(block); }
};
using null_free_format = freeing_format<c_library_free>;

/// Takes the heap's lock before it looks at the pointer, as the article's debug heap does.
struct debug_free {
    static inline std::mutex heap_lock;
    [[gnu::noinline]] static void free(void* block) {
        const std::lock_guard guard(heap_lock);
        c_library_free::free(block);
    }
};
using locked_null_free_format = freeing_format<debug_free>;

struct to_chars_format {
    static char* put(char* to, char* end, bool flag, float real) {
        *to++ = flag ? 'y' : 'n';
        return std::to_chars(to, end, real, std::chars_format::fixed, 2).ptr;
    }
    static void write(text_writer& to, const two_fields& object) {
        const auto room = to.room();
        const char* const end = put(room.data(), room.data() + room.size(), object.flag, object.real);
        to.advance(static_cast<std::size_t>(end - room.data()));
    }
    static void write(text_writer& to, const five_fields& object) {
        const auto room = to.room();
        char* const end = room.data() + room.size();
        char* at = put(room.data(), end, object.flag, object.real);
        *at++ = ',';
        at = std::to_chars(at, end, object.number).ptr;
        *at++ = ',';
        at = std::to_chars(at, end, object.large).ptr;
        *at++ = ',';
        std::memcpy(at, object.name, object.name_bytes);
        at += object.name_bytes;
        *at++ = '\n';
        to.advance(static_cast<std::size_t>(at - room.data()));
    }
};

struct fmt_format {
    static void write(text_writer& to, const two_fields& object) {
        char* const first = to.room().data();
        const char* const end = fmt::format_to(first, "{}{:.2f}", object.flag ? 'y' : 'n', object.real);
        to.advance(static_cast<std::size_t>(end - first));
    }
    static void write(text_writer& to, const five_fields& object) {
        char* const first = to.room().data();
        const char* const end = fmt::format_to(first, "{}{:.2f},{},{},{}\n", object.flag ? 'y' : 'n', object.real,
                                               object.number, object.large, object.name_text());
        to.advance(static_cast<std::size_t>(end - first));
    }
};

struct compiled_fmt_format {
    static void write(text_writer& to, const two_fields& object) {
        char* const first = to.room().data();
        const char* const end = fmt::format_to(first, FMT_COMPILE("{}{:.2f}"), object.flag ? 'y' : 'n', object.real);
        to.advance(static_cast<std::size_t>(end - first));
    }
    static void write(text_writer& to, const five_fields& object) {
        char* const first = to.room().data();
        const char* const end = fmt::format_to(first, FMT_COMPILE("{}{:.2f},{},{},{}\n"), object.flag ? 'y' : 'n',
                                               object.real, object.number, object.large, object.name_text());
        to.advance(static_cast<std::size_t>(end - first));
    }
};

struct our_format {
    static void write(text_writer& to, const two_fields& object) {
        to.append(object.flag ? 'y' : 'n').append_fixed<2>(object.real);
    }
    static void write(text_writer& to, const five_fields& object) {
        to.append(object.flag ? 'y' : 'n').append_fixed<2>(object.real).append(',').append(object.number).append(',');
        to.append(object.large).append(',').append(object.name_text()).append('\n');
    }
};

/// The bytes of the object, unchanged.
struct copy_format {
    template<class Object>
    static void write(text_writer& to, const Object& object) {
        static_assert(sizeof(Object) <= Object::text_bytes);
        to.append(std::string_view(reinterpret_cast<const char*>(&object), sizeof object));
    }
};

}
