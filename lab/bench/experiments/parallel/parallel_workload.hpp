// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects in pages, written as text by one thread and by several, and compared with printf's text.
///
/// A `Format` has `write(text_writer&, object)` for each kind of object. A `Crew` is made before anything is measured.
/// Call its `get_ready()` before each timed loop; as an executor it runs a loop.

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include <tenure/text/paged_writer.hpp>

#include "bench/experiments/parallel/parallel.hpp"
#include "bench/experiments/parallel/parallel_formats.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Runs exactly the timed work; a region begins and ends here.
template<class Work>
[[gnu::noinline]] double timed_region(Work&& work) {
    const stopwatch watch;
    work();
    return watch.elapsed_ns();
}

[[nodiscard]] inline std::string threads_name(std::size_t threads) {
    return threads == 2 ? "two threads" : std::to_string(threads) + " threads";
}

/// The text of all pages, for the proof.
struct text_owner {
    static constexpr std::string_view query = "paged_writer::pieces";
    const paged_writer& writer;
    [[nodiscard]] bool owns(const void* block) const {
        for (const text_piece& each : writer.pieces())
            if (block == each.data) return true;
        return false;
    }
};

/// The format whose text `Format` must write, byte by byte.
template<class Format>
struct reference_of {
    using type = printf_format;
};
template<>
struct reference_of<copy_format> {
    using type = copy_format;
};

template<class Object, class Format, class Crew>
class parallel_run {
public:
    parallel_run(const task& asked, Crew& crew)
        : asked_(asked), crew_(crew), pages_(asked.options.size("pages")), each_(asked.options.size("page-objects")),
          objects_(pages_ * each_) {
        random_source random(asked.seed);
        for (Object& object : objects_.all()) object = Object::draw(random);
    }

    void run() {
        const page_shape shape{pages_, each_, std::max(Object::text_bytes, sizeof(Object))};
        if (!writer_.reserve(shape) || !copies_.reserve(shape)) return asked_.out.fail("out of memory");
        const std::size_t repeats = asked_.options.size("repeats");
        const page_array<double> serial(repeats), parallel(repeats), copied(repeats), copied_parallel(repeats);
        for (std::size_t i = 0; i <= repeats; ++i) { // the first repetitions touch their memory
            const double times[]{by_one<Format>(writer_), by_all<Format>(writer_), by_one<copy_format>(copies_),
                                 by_all<copy_format>(copies_)};
            if (i == 0) continue;
            serial[i - 1] = times[0];
            parallel[i - 1] = times[1];
            copied[i - 1] = times[2];
            copied_parallel[i - 1] = times[3];
        }
        if (!is_written_) return asked_.out.fail("a record was longer than its maximum length");
        const double one = median_of(serial.all()), all = median_of(parallel.all());
        const double speed_up = one / all;
        const double copy_speed_up = median_of(copied.all()) / median_of(copied_parallel.all());
        asked_.out.value("one thread", Object::variant, "ns/object", one);
        asked_.out.value(threads_name(asked_.options.size("threads")), Object::variant, "ns/object", all);
        asked_.out.value("speed-up", Object::variant, "times", speed_up, better::larger);
        asked_.out.value("of the copy's speed-up", Object::variant, "%", 100 * speed_up / copy_speed_up,
                         better::larger);
        check();
    }

private:
    template<class Which>
    double by_one(paged_writer& writer) {
        return written<Which>(writer, run_serially{});
    }
    template<class Which>
    double by_all(paged_writer& writer) {
        crew_.get_ready();
        return written<Which>(writer, crew_);
    }
    /// Nanoseconds per object.
    template<class Which, class Executor>
    double written(paged_writer& writer, const Executor& executor) {
        const double spent = timed_region([&] {
            is_written_ &=
                writer.write(objects_.size(), executor, [this](text_writer& to, std::size_t page, std::size_t object) {
                    Which::write(to, objects_[page * each_ + object]);
                });
        });
        escape(writer.pieces().data());
        return spent / static_cast<double>(objects_.size());
    }

    /// Compares what the threads wrote last with the reference's output, byte by byte.
    void check() {
        void* const first = writer_.pieces()[0].data;
        asked_.out.blocks({&first, 1}, writer_.pieces()[0].size_bytes, owner_of(text_owner{writer_}));
        const std::string_view text = writer_.join();
        static_cast<void>(by_one<typename reference_of<Format>::type>(copies_));
        if (!is_written_ || text != copies_.join()) asked_.out.fail("the text differs from printf's");
    }

    const task& asked_;
    Crew& crew_;
    std::size_t pages_, each_;
    page_array<Object> objects_;
    paged_writer writer_, copies_;
    bool is_written_ = true;
};

template<class Format, class Crew>
void run_parallel_with(const task& asked, Crew& crew) {
    if (asked.part == parallel_two_fields)
        parallel_run<two_fields, Format, Crew>(asked, crew).run();
    else
        parallel_run<five_fields, Format, Crew>(asked, crew).run();
}

/// The rows: one for each format, whatever crew runs it.
struct parallel_row {
    std::string_view name;
    contestant_role role;
    std::string_view peer, kind, note;
};
inline constexpr std::array<parallel_row, 7> parallel_rows{{
    {"snprintf", contestant_role::peer, "C library", "library", "one call per record"},
    {"std::to_chars", contestant_role::peer, "libstdc++", "library", ""},
    {"fmt::format_to", contestant_role::peer, "fmt", "library", "the format is parsed at each call"},
    {"fmt FMT_COMPILE", contestant_role::peer, "fmt", "library", "the format is parsed at compile time"},
    {"tenure tn_snprintf", contestant_role::ours, "", "library", "snprintf's formats, one call per record"},
    {"tenure text_writer", contestant_role::ours, "", "library", "an exact product for the float, digits by the word"},
    {"copy", contestant_role::reference, "", "", "the object's bytes, unchanged: no text, and the limit"},
}};

}
