// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Guesses which call sites should have pages of their own. A replay decides between them.

#include <cstdint>
#include <string>
#include <vector>

#include "observe/replay/separation/site_figures.hpp"
#include "observe/replay/separation/site_tree.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// A class for each node of a site_tree in which stacks end.
struct partition {
    std::string origin;                ///< "the call sites that hold most bytes, compared by up to 2 frames"
    std::vector<std::uint8_t> classes; ///< by node
};

class partition_maker {
public:
    /// Requires  the trace and the tree outlive the object.
    partition_maker(const trace& recorded, const site_tree& tree);

    [[nodiscard]] std::vector<partition> all() const;
    /// The partition with each of the largest groups of ordinary calls in a class that it does not have yet; none if it
    /// has all.
    [[nodiscard]] std::vector<partition> with_one_more(const partition& of) const;

    /// The sites of a partition. Nodes with next to no bytes and calls get no site: they inherit the class of
    /// the callee's shorter site.
    [[nodiscard]] separation sites_for(const std::vector<std::uint8_t>& classes) const;

    /// Sums of a partition's classes, by number.
    [[nodiscard]] std::vector<site_figures> sums(const std::vector<std::uint8_t>& classes) const;

private:
    /// Nodes with the same first frames.
    struct node_group {
        std::vector<std::uint32_t> nodes;
        site_figures sum;
    };
    [[nodiscard]] std::vector<node_group> groups_of(std::size_t frames) const;
    [[nodiscard]] std::vector<death_figures> deaths_of(const std::vector<node_group>& groups) const;

    void add_largest(std::vector<partition>& to) const;
    void add_lifetimes(std::vector<partition>& to) const;
    void add_deaths(std::vector<partition>& to) const;

    const trace& recorded_;
    const site_tree& tree_;
    std::vector<site_figures> figures_; // by node
    site_figures all_;
};

}
