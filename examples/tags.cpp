// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Owner tags record who allocated memory, for budget displays and leak reports.

#include <cstdio>

#include <tenure/base/tag.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

void* path_of_one_monster() {
    static const tenure::tag owner("path finding"); // looked up once
    const tenure::tag_scope scope(owner);
    return tenure::allocate(2000, tenure::lifetime::temp_job);
}

void print_usage(tenure::tag owner) {
    const tenure::tag_usage usage = tenure::usage_of(owner);
    std::printf("%.*s: %zu blocks, %zu bytes\n", static_cast<int>(owner.name().size()), owner.name().data(),
                usage.temp_job_count, usage.temp_job_bytes);
}

}

int main() {
    const tenure::tag_scope game("game");
    void* const world = tenure::allocate(5000, tenure::lifetime::temp_job); // counted for "game"
    void* const path = path_of_one_monster();                               // the inner scope wins
    void* const other = path_of_one_monster();
    print_usage(tenure::tag::named("game"));
    print_usage(tenure::tag::named("path finding"));

    for (void* const block : {world, path, other}) {
        if (block == nullptr) return 1;
        tenure::deallocate(block, tenure::lifetime::temp_job);
    }
    print_usage(tenure::tag::named("path finding"));
    return 0;
}
