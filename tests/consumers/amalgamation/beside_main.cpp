// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The single header in a program that has the library too.

#include "tenure_pools.hpp"

bool uses_the_library(); // beside.cpp

int main() {
    tenure::pool<int> numbers;
    const tenure::temp_scope scope;
    void* const block = tenure::temp::allocate(100);
    const bool good = numbers.construct(7) != nullptr && uses_the_library() && tenure::temp::owns(block);
    return good && numbers.size() == 1 ? 0 : 1;
}
