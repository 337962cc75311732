// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A small scene graph whose nodes are stored together and their data elsewhere, and the memory this uses.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <tenure/tenure.hpp>

namespace {

// Every object of this class and of its derived classes is allocated from the nodes group.
class node : public tenure::affinity_object<tenure::affinities::nodes> {
public:
    virtual ~node() = default;
    virtual int count() const { return 1; }
};

class group final : public node {
public:
    int count() const override {
        int all = 1;
        for (const auto& child : children) all += child->count();
        return all;
    }
    // The array of pointers is visited with the nodes, so it is stored with them.
    std::vector<std::unique_ptr<node>, tenure::stl_allocator<std::unique_ptr<node>, tenure::affinity_group>> children{
        tenure::stl_allocator<std::unique_ptr<node>, tenure::affinity_group>{tenure::affinities::nodes()}};
};

std::unique_ptr<node> tree(int levels) {
    if (levels == 0) return std::make_unique<node>();
    auto made = std::make_unique<group>();
    for (int i = 0; i < 4; ++i) made->children.push_back(tree(levels - 1));
    return made;
}

void print(void*, std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); }

bool ready_made_groups() {
    {
        const auto root = tree(6);
        std::printf("%d nodes\n", root->count());
        tenure::write_usage(tenure::affinities::nodes().usage(), tenure::usage_form::text, print, nullptr);
    }
    tenure::affinities::nodes().trim(); // returns empty blocks to the system
    return tenure::affinities::nodes().size() == 0;
}

bool a_group_of_your_own() {
    // Every free passes the size, so the group stores none. Each size has its own pages.
    tenure::affinity_group particles("particles",
                                     {.sizes = tenure::size_on_free::required, .layout = tenure::page_layout::by_size});
    struct particle {
        std::array<float, 7> state;
    };
    void* const block = particles.allocate(sizeof(particle));
    if (block == nullptr) return false;
    particles.deallocate(block, sizeof(particle));
    const auto shared =
        std::allocate_shared<particle>(tenure::stl_allocator<particle, tenure::affinity_group>{particles});
    std::printf("owned by the group: %s\n", particles.owns(shared.get()) ? "yes" : "no");
    return particles.owns(shared.get());
}

// Replaces a ready-made group with your own allocator, before its first object.
void* my_allocate(void*, std::size_t bytes, std::size_t alignment) {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void my_deallocate(void*, void* block, std::size_t, std::size_t) { std::free(block); }

bool another_allocator() {
    const bool replaced =
        tenure::affinities::physics().replace_with({.allocate = my_allocate, .deallocate = my_deallocate});
    void* const body = tenure::affinities::physics().allocate(100);
    tenure::affinities::physics().deallocate(body, 100);
    return replaced && body != nullptr;
}

}

int main() { return ready_made_groups() && a_group_of_your_own() && another_allocator() ? 0 : 1; }
