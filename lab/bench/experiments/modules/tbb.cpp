// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The standard library's parallel algorithms, which run on TBB with GCC.

#include <algorithm>
#include <cstddef>
#include <execution>
#include <memory>
#include <numeric>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/task_scheduler_observer.h>

#include "bench/experiments/modules/executor_module.hpp"

namespace {

class entrance final : public tbb::task_scheduler_observer {
public:
    explicit entrance(void (*enter)()) : enter_(enter) { observe(true); }
    ~entrance() override { observe(false); }
    entrance(const entrance&) = delete;
    entrance& operator=(const entrance&) = delete;

    void on_scheduler_entry(bool is_worker) override {
        if (is_worker) enter_();
    }

private:
    void (*enter_)();
};

std::unique_ptr<tbb::global_control> limit;
std::unique_ptr<entrance> watched;

void use_threads(std::size_t count, void (*enter)()) {
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
    watched = std::make_unique<entrance>(enter);
}

/// Kept, so that no timed loop allocates it.
std::vector<std::size_t> indices;

void run(std::size_t count, void (*body)(void* context, std::size_t index), void* context) {
    if (indices.size() < count) {
        indices.resize(count);
        std::iota(indices.begin(), indices.end(), std::size_t{0});
    }
    std::for_each(std::execution::par_unseq, indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(count),
                  [&](std::size_t index) { body(context, index); });
}

}

extern "C" __attribute__((visibility("default"))) const tenure::lab::executor_module tenure_lab_executor;
const tenure::lab::executor_module tenure_lab_executor{use_threads, run};
