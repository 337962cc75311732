// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/shared/own_arguments.hpp"

#include <fstream>
#include <iterator>

namespace tenure::lab {

std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < all.size(); begin += words.back().size() + 1) words.emplace_back(&all[begin]);
    return words;
}

std::vector<char*> exec_pointers(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& each : words) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    return pointers;
}

}
