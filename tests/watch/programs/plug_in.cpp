// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A plug-in with a C++ library of its own within it: the program that opens it has none.

#include <vector>

extern "C" __attribute__((noinline)) int run_plug_in() {
    std::vector<int> numbers;
    for (int number = 0; number < 100; ++number) {
        numbers.push_back(number);
        if (numbers.size() == numbers.capacity()) numbers.shrink_to_fit();
    }
    try {
        throw 3;
    } catch (int caught) {
        return static_cast<int>(numbers.size()) + caught;
    }
}
