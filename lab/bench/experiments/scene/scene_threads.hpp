// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two threads that each make, traverse and destroy a tree of their own at the same time, in one memory.

#include <fmt/format.h>

#include <array>
#include <string>
#include <thread>

#include "bench/experiments/scene/scene_workload.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/harness/machine/cpus.hpp"

namespace tenure::lab {

inline constexpr std::size_t scene_threads = 2;

/// Each time is that of the slower thread, per node of its tree.
template<class Tree>
class two_trees {
public:
    two_trees(const task& asked, const scene_plan& plan)
        : asked_(asked), plan_(plan), passes_(asked.options.size("passes")), created_(passes_), traversed_(passes_),
          destroyed_(passes_) {}

    void run(const std::string& variant, const block_owner& owner) {
        std::thread other([this, &owner] { work(1, owner); });
        work(0, owner);
        other.join();
        if (!sound_[0] || !sound_[1]) return asked_.out.fail(wrong_contents);
        asked_.out.value("create", variant, "ns/node", created_[0]);
        asked_.out.value("traverse", variant, "ns/node", traversed_[0]);
        asked_.out.value("destroy", variant, "ns/node", destroyed_[0]);
        if (passes_ < 2) return;
        const std::string later = variant + ", later passes";
        asked_.out.value("create", later, "ns/node", median_of(created_.all().subspan(1)));
        asked_.out.value("traverse", later, "ns/node", median_of(traversed_.all().subspan(1)));
        asked_.out.value("destroy", later, "ns/node", median_of(destroyed_.all().subspan(1)));
    }

private:
    void work(std::size_t index, const block_owner& owner) {
        using root = typename Tree::root;
        pin_thread(index);
        unsigned met = 0;
        // Runs a step in both threads, and notes the time of the slower one.
        const auto timed = [&](double& ns_per_node, double steps, const auto& step) {
            meeting_.meet(met);
            const stopwatch watch;
            step();
            meeting_.meet(met);
            if (index == 0) ns_per_node = watch.elapsed_ns() / static_cast<double>(plan_.nodes) / steps;
        };
        for (std::size_t pass = 0; pass < passes_; ++pass) {
            random_source random(asked_.seed + pass * scene_threads + index);
            root tree;
            std::size_t visited = 0;
            timed(created_[pass], 1, [&] { tree = Tree::make(plan_.levels, random); });
            timed(traversed_[pass], static_cast<double>(plan_.traversals), [&] {
                for (std::size_t i = 0; i < plan_.traversals; ++i) visited += Tree::count(tree);
            });
            const bool is_shown = index == 0 && pass == 0;
            const auto found = Tree::inspect(tree, is_shown ? places_.all() : std::span<void*>());
            if (is_shown) asked_.out.blocks(places_.all().first(found.shown), sizeof(void*), owner);
            sound_[index] &= found.intact && visited == plan_.nodes * plan_.traversals;
            timed(destroyed_[pass], 1, [&] { tree = root(); });
        }
    }

    const task& asked_;
    scene_plan plan_;
    std::size_t passes_;
    page_array<double> created_, traversed_, destroyed_; ///< written by the first thread
    page_array<void*> places_{4096};
    std::array<bool, scene_threads> sound_{true, true};
    meeting_point meeting_{scene_threads};
};

}
