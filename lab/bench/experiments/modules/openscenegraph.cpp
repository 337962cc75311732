// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenSceneGraph's nodes and visitor: the comparison that VulkanSceneGraph's authors made.

#include <osg/Group>
#include <osg/Node>
#include <osg/NodeVisitor>

#include "bench/experiments/modules/scene_modules.hpp"

namespace {

osg::ref_ptr<osg::Node> below(std::size_t levels) {
    if (levels == 0) return new osg::Node;
    const osg::ref_ptr<osg::Group> made = new osg::Group;
    for (int i = 0; i < 4; ++i) made->addChild(below(levels - 1));
    return made;
}

class counter final : public osg::NodeVisitor {
public:
    counter() : osg::NodeVisitor(osg::NodeVisitor::TRAVERSE_ALL_CHILDREN) {}
    void apply(osg::Node& visited) override {
        ++count;
        traverse(visited);
    }
    std::size_t count = 0;
};

/// Group keeps its children in a private vector, whose address is not accessible.
class inspector final : public osg::NodeVisitor {
public:
    inspector(void** places, std::size_t most)
        : osg::NodeVisitor(osg::NodeVisitor::TRAVERSE_ALL_CHILDREN), places_(places), most_(most) {}
    void apply(osg::Node& visited) override {
        if (shown < most_) places_[shown++] = &visited;
        const osg::Group* const group = visited.asGroup();
        bytes += group == nullptr ? sizeof(osg::Node)
                                  : sizeof(osg::Group) + group->getNumChildren() * sizeof(osg::ref_ptr<osg::Node>);
        bytes += visited.getParents().capacity() * sizeof(osg::Group*);
        traverse(visited);
    }
    std::size_t shown = 0, bytes = 0;

private:
    void** places_;
    std::size_t most_;
};

osg::Node* node_of(void* tree) { return static_cast<osg::Node*>(tree); }

void* make(std::size_t levels) { return below(levels).release(); }

std::size_t traverse(void* tree) {
    counter visit;
    node_of(tree)->accept(visit);
    return visit.count;
}

std::size_t bytes(void* tree) {
    inspector visit(nullptr, 0);
    node_of(tree)->accept(visit);
    return visit.bytes;
}

std::size_t show(void* tree, void** places, std::size_t most) {
    inspector visit(places, most);
    node_of(tree)->accept(visit);
    return visit.shown;
}

/// Releases the last reference.
void destroy(void* tree) {
    node_of(tree)->ref();
    node_of(tree)->unref();
}

}

extern "C" __attribute__((visibility("default"))) const tenure::lab::scene_module tenure_lab_scene;
const tenure::lab::scene_module tenure_lab_scene{make, traverse, bytes, show, destroy};
