// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Threads of our own that each take the next page, in parallel.

#include <gnu/libc-version.h>

#include "bench/experiments/parallel/parallel_crew.hpp"
#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"
#include "bench/harness/machine/build_info.hpp"

namespace tenure::lab {

namespace {

template<class Format>
constexpr contestant row(std::size_t index) {
    const parallel_row& told = parallel_rows[index];
    return {.name = told.name,
            .how = route::inlined,
            .role = told.role,
            .peer = told.peer,
            .kind = told.kind,
            .type = type_name<Format>(),
            .note = told.note,
            .parts = 0b111,
            .run = run_threads<Format>,
            .left_out = left_out_of_parallel};
}

template<class Format>
constexpr contestant planted(std::string_view name, std::uint64_t parts, std::string_view note) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::reference,
            .type = type_name<Format>(),
            .note = note,
            .parts = parts,
            .run = run_threads<Format>,
            .left_out = left_out_of_parallel};
}

constexpr std::array<contestant, parallel_rows.size() + 4> all{
    row<printf_format>(0),
    row<to_chars_format>(1),
    row<fmt_format>(2),
    row<compiled_fmt_format>(3),
    row<tn_snprintf_format>(4),
    row<our_format>(5),
    row<copy_format>(6),
    planted<null_free_format>("snprintf and a null free", 0b101, "a free(nullptr) follows each snprintf"),
    planted<locked_null_free_format>("snprintf and a locked null free", 0b101,
                                     "a free of nullptr follows each snprintf, and takes a lock before it looks at the "
                                     "pointer: the article's sprintf"),
    planted<planted_malloc_format>("planted malloc", 0b100, "ours, with a malloc and a free in each record"),
    planted<planted_wait_format>("planted wait", 0b100, "ours, under one lock for all")};

}

std::span<const contestant> threads_in_parallel() { return all; }

library_peer c_library_peer() { return {parallel_rows[0].peer, {}, ::gnu_get_libc_version(), true, {}}; }
library_peer to_chars_peer() { return {parallel_rows[1].peer, {}, TENURE_LAB_TEXT(_GLIBCXX_RELEASE), true, {}}; }
library_peer fmt_peer() { return {parallel_rows[2].peer, "libfmt-dev", {}, true, {}}; }

}
