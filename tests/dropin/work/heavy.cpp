// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Much for a compiler: a tower of containers, each instantiated anew for every layer.

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

template<int number>
struct layer {
    using text = std::array<std::string, number + 1>;
    std::map<int, text> ordered;
    std::unordered_map<std::string, layer<number - 1>> named;
    std::variant<int, text, std::vector<layer<number - 1>>> any;

    int count() {
        for (int i = 0; i < 5; ++i) ordered[i][0] = std::to_string(i);
        const std::function<int(layer<number - 1>&)> below = [](layer<number - 1>& inner) { return inner.count(); };
        any = std::vector<layer<number - 1>>(1);
        int found = std::visit(
            [&](auto& held) {
                if constexpr (requires { held.front().ordered; }) return below(held.front());
                return 0;
            },
            any);
        std::set<text> sorted;
        for (auto& each : ordered | std::views::values) sorted.insert(each);
        return sorted.size() == 5 ? found + 1 : -1000;
    }
};

template<>
struct layer<0> {
    std::map<int, int> ordered;
    int count() { return 0; }
};

}

int main() {
    int count = 0;
    std::thread{[&] { count = layer<7>{}.count(); }}.join();
    std::printf("heavy: %d layers\n", count);
}
