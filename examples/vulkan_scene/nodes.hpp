// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The scene graph of vulkan_scene: a tree of groups with four children each, and meshes as its leaves.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include "vulkan_scene/memory.hpp"

namespace scene {

/// A square of the plane.
struct area {
    float x = 0, y = 0, half = 0; ///< centre, and half of a side

    [[nodiscard]] bool overlaps(const area& other) const {
        return x - half < other.x + other.half && other.x - other.half < x + half && y - half < other.y + other.half &&
               other.y - other.half < y + half;
    }
};

using colour = std::array<std::uint8_t, 3>;

/// Receives what is visible.
class drawing {
public:
    virtual ~drawing() = default;
    virtual void draw(const area& place, const colour& filled) = 0;
};

class node {
public:
    static void* operator new(std::size_t bytes) { return allocate(use::node, bytes); }
    static void operator delete(void* block, std::size_t bytes) { chosen->deallocate(use::node, block, bytes); }

    node() = default;
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    virtual ~node() = default;
    /// Moves the meshes below, and returns the area around them. Visits every node.
    virtual area move(float time) = 0;
    /// Draws what overlaps the view. Visits only such nodes, and their children.
    virtual void draw(const area& view, drawing& to) const = 0;
};

/// A leaf. Its vertices and materials are on the device; what the program keeps of them is not read in a frame.
class mesh final : public node {
public:
    mesh(area home, std::minstd_rand& random) : home_(home), phase_(static_cast<float>(random() % 1024) / 1024) {
        for (std::uint8_t& each : filled_) each = static_cast<std::uint8_t>(64 + random() % 192);
        bytes_ = static_cast<std::uint32_t>(64 + random() % 449);
        data_ = allocate(use::data, bytes_);
        std::memset(data_, 1, bytes_);
    }
    ~mesh() override { chosen->deallocate(use::data, data_, bytes_); }

    area move(float time) override {
        const float turn = time + phase_, wave = turn - static_cast<float>(static_cast<int>(turn));
        offset_ = home_.half * (wave < 0.5f ? wave : 1 - wave);
        return place();
    }
    void draw(const area& view, drawing& to) const override {
        if (view.overlaps(place())) to.draw(place(), filled_);
    }

private:
    [[nodiscard]] area place() const { return {home_.x + offset_, home_.y, home_.half / 2}; }

    void* data_;
    area home_;
    float phase_, offset_ = 0;
    std::uint32_t bytes_;
    colour filled_;
};
static_assert(sizeof(mesh) <= mesh_bytes);

class group final : public node {
public:
    area move(float time) override {
        float left = 2, right = -1, bottom = 2, top = -1;
        for (const std::unique_ptr<node>& each : children) {
            const area one = each->move(time);
            left = std::min(left, one.x - one.half), right = std::max(right, one.x + one.half);
            bottom = std::min(bottom, one.y - one.half), top = std::max(top, one.y + one.half);
        }
        bound_ = {(left + right) / 2, (bottom + top) / 2, std::max(right - left, top - bottom) / 2};
        return bound_;
    }
    void draw(const area& view, drawing& to) const override {
        if (!view.overlaps(bound_)) return;
        for (const std::unique_ptr<node>& each : children) each->draw(view, to);
    }

    std::array<std::unique_ptr<node>, 4> children;

private:
    area bound_;
};
static_assert(sizeof(group) <= group_bytes);

/// Creates a subtree depth first: groups, then a mesh in each smallest square.
inline std::unique_ptr<node> make_tree(area place, unsigned levels, std::minstd_rand& random) {
    if (levels == 0) return std::make_unique<mesh>(place, random);
    auto made = std::make_unique<group>();
    for (unsigned child = 0; child < 4; ++child) {
        const float half = place.half / 2;
        const area quarter{place.x + (child % 2 == 0 ? -half : half), place.y + (child < 2 ? -half : half), half};
        made->children[child] = make_tree(quarter, levels - 1, random);
    }
    return made;
}

}
