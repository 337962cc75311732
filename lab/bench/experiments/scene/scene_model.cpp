// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Passes the model from the module that reads it to the workers.

#include "bench/experiments/scene/scene_model.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "bench/experiments/modules/modules.hpp"

namespace tenure::lab {

namespace {

constexpr const char* missing =
    "the command was built without assimp, which reads models: install the package libassimp-dev and build again";

}

std::string read_model(const std::string& path, int descriptor) {
    const loaded_module found = load_module("tenure_lab_assimp.so", "tenure_lab_model");
    if (found.symbol == nullptr) return missing + (" (" + found.reason + ")");
    std::vector<model_node> all;
    const char* const why =
        static_cast<const model_module*>(found.symbol)
            ->read(
                path.c_str(),
                [](void* to, model_node node) { static_cast<std::vector<model_node>*>(to)->push_back(node); }, &all);
    if (why != nullptr) return why;
    const std::size_t bytes = all.size() * sizeof(model_node);
    if (::write(descriptor, all.data(), bytes) != static_cast<ssize_t>(bytes)) return "not enough memory for its nodes";
    return {};
}

std::span<const model_node> nodes_of_model(int descriptor) {
    struct stat about {};
    if (::fstat(descriptor, &about) != 0 || about.st_size == 0) return {};
    const auto bytes = static_cast<std::size_t>(about.st_size);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
    if (mapped == MAP_FAILED) return {};
    return {static_cast<const model_node*>(mapped), bytes / sizeof(model_node)};
}

}
