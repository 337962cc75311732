// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// std::for_each with std::execution::par_unseq in parallel. With GCC it runs on TBB, which only these rows load.

#include <atomic>

#include "bench/experiments/modules/executor_module.hpp"
#include "bench/experiments/modules/modules.hpp"
#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"
#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view name = "TBB";
constexpr const char* file = "tenure_lab_tbb.so";

class for_each_crew {
public:
    /// Pins the threads to processors of their own, like those of thread_crew. TBB counts the processors at its first
    /// loop; the calling thread may be pinned only after that.
    for_each_crew(const executor_module& code, std::size_t threads) : code_(code) {
        others = threads - 1;
        code_.use_threads(threads, [] { pin_thread(1 + entered.fetch_add(1) % others); });
        get_ready();
        pin_thread(0);
    }

    /// TBB's threads fall asleep some time after a loop; an empty loop wakes them.
    void get_ready() {
        (*this)(10'000, [](std::size_t) { escape(&name); });
    }

    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        Body copy = body;
        code_.run(
            count, [](void* context, std::size_t page) { (*static_cast<Body*>(context))(page); }, &copy);
    }

private:
    static inline std::size_t others = 1; // besides the calling one
    static inline std::atomic<std::size_t> entered{0};

    const executor_module& code_;
};

template<class Format>
void run_for_each(const task& asked) {
    const loaded_module found = load_module(file, "tenure_lab_executor");
    if (found.symbol == nullptr) return asked.out.fail(found.reason);
    for_each_crew crew(*static_cast<const executor_module*>(found.symbol), asked.options.size("threads"));
    run_parallel_with<Format>(asked, crew);
}

template<class Format>
constexpr contestant row(std::string_view called, contestant_role role = contestant_role::peer) {
    return {.name = called,
            .how = route::inlined,
            .role = role,
            .peer = name,
            .kind = "library",
            .type = type_name<Format>(),
            .note = "with std::for_each(std::execution::par_unseq), which runs on TBB",
            .parts = 0b11,
            .run = run_for_each<Format>};
}

constexpr std::array<contestant, parallel_rows.size()> all{
    row<printf_format>("snprintf by for_each"),
    row<to_chars_format>("std::to_chars by for_each"),
    row<fmt_format>("fmt::format_to by for_each"),
    row<compiled_fmt_format>("fmt FMT_COMPILE by for_each"),
    row<tn_snprintf_format>("tenure tn_snprintf by for_each", contestant_role::ours),
    row<our_format>("tenure text_writer by for_each", contestant_role::ours),
    row<copy_format>("copy by for_each", contestant_role::reference),
};

}

std::span<const contestant> for_each_in_parallel() { return all; }

library_peer tbb_peer() { return {name, "libtbb-dev", {}, !find_own_library(file).empty(), {}}; }

}
