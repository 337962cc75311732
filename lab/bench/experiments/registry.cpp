// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// One line per experiment.

#include "bench/experiments/registry.hpp"

#include <array>

#include "bench/experiments/dotnet/dotnet.hpp"
#include "bench/experiments/fragmentation/fragmentation.hpp"
#include "bench/experiments/handles/handles.hpp"
#include "bench/experiments/heap/heap.hpp"
#include "bench/experiments/large/large.hpp"
#include "bench/experiments/latency/latency.hpp"
#include "bench/experiments/library_peers/library_peers.hpp"
#include "bench/experiments/lifetimes/lifetimes.hpp"
#include "bench/experiments/limits/limits.hpp"
#include "bench/experiments/mitigations/mitigations.hpp"
#include "bench/experiments/offsets/offsets.hpp"
#include "bench/experiments/parallel/parallel.hpp"
#include "bench/experiments/pools/pools.hpp"
#include "bench/experiments/scene/scene.hpp"
#include "bench/experiments/start/start.hpp"
#include "bench/experiments/vectors/vectors.hpp"
#include "bench/experiments/watch/watch.hpp"

namespace tenure::lab {

std::span<const experiment> experiments() {
    static const std::array<experiment, 16> all{
        lifetimes_experiment,     pools_experiment,   heap_experiment,        large_experiment,
        fragmentation_experiment, latency_experiment, scene_experiment,       offsets_experiment,
        start_experiment,         limits_experiment,  mitigations_experiment, vectors_experiment,
        parallel_experiment,      watch_experiment,   handles_experiment,     dotnet_experiment};
    return all;
}

std::vector<library_peer> library_peers() {
    return {boost_pool_peer(),     loki_peer(),     std_pmr_peer(),
            openscenegraph_peer(), dotnet_peer(),   dotnet_jemalloc_peer(),
            c_library_peer(),      to_chars_peer(), fmt_peer(),
            stb_sprintf_peer(),    tbb_peer()};
}

}
