// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// One line per experiment.

#include "experiments/registry.hpp"

#include <array>

#include "experiments/dotnet.hpp"
#include "experiments/fragmentation.hpp"
#include "experiments/handles.hpp"
#include "experiments/heap.hpp"
#include "experiments/large.hpp"
#include "experiments/latency.hpp"
#include "experiments/lifetimes.hpp"
#include "experiments/offsets.hpp"
#include "experiments/parallel.hpp"
#include "experiments/peers/peers.hpp"
#include "experiments/pools.hpp"
#include "experiments/scene.hpp"
#include "experiments/start.hpp"
#include "experiments/vectors.hpp"
#include "experiments/watch.hpp"

namespace tenure::lab {

std::span<const experiment> experiments() {
    static const std::array<experiment, 14> all{
        lifetimes_experiment, pools_experiment, heap_experiment,    large_experiment, fragmentation_experiment,
        latency_experiment,   scene_experiment, offsets_experiment, start_experiment, vectors_experiment,
        parallel_experiment,  watch_experiment, handles_experiment, dotnet_experiment};
    return all;
}

std::vector<library_peer> library_peers() {
    return {boost_pool_peer(),
            loki_peer(),
            std_pmr_peer(),
            hpha_peer(),
            openscenegraph_peer(),
            dotnet_peer(),
            dotnet_jemalloc_peer(),
            c_library_peer(),
            to_chars_peer(),
            fmt_peer(),
            tbb_peer()};
}

}
