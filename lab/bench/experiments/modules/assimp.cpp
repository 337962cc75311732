// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Models of any format that assimp reads, as nodes: those of the file, and a child for each mesh that a node shows.

#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <string>

#include "bench/experiments/modules/scene_modules.hpp"

namespace {

using tenure::lab::model_node;

/// Limits a mesh's data per node, because a program shares large meshes among the copies of a model.
constexpr std::size_t max_data_bytes = 4096;

std::uint32_t data_bytes(const aiMesh& mesh) {
    const std::size_t bytes = mesh.mNumVertices * sizeof(aiVector3D) + mesh.mNumFaces * 3 * sizeof(unsigned);
    return static_cast<std::uint32_t>(bytes == 0 ? 1 : bytes < max_data_bytes ? bytes : max_data_bytes);
}

void tell(const aiScene& scene, const aiNode& each, void (*node)(void*, model_node), void* context) {
    node(context, {each.mNumMeshes + each.mNumChildren, 0});
    for (unsigned i = 0; i < each.mNumMeshes; ++i) node(context, {0, data_bytes(*scene.mMeshes[each.mMeshes[i]])});
    for (unsigned i = 0; i < each.mNumChildren; ++i) tell(scene, *each.mChildren[i], node, context);
}

const char* read(const char* path, void (*node)(void* context, model_node node), void* context) {
    static std::string why;
    Assimp::Importer importer;
    const aiScene* const scene = importer.ReadFile(path, 0);
    if (scene == nullptr || scene->mRootNode == nullptr) {
        why = importer.GetErrorString();
        if (why.empty()) why = "it has no nodes";
        return why.c_str();
    }
    tell(*scene, *scene->mRootNode, node, context);
    return nullptr;
}

}

extern "C" __attribute__((visibility("default"))) const tenure::lab::model_module tenure_lab_model;
const tenure::lab::model_module tenure_lab_model{read};
