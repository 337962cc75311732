// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Uses the library in the program that has the single header too.

#include <tenure/tenure.hpp>

bool uses_the_library() {
    tenure::pool<long> numbers;
    long* const number = numbers.construct(5L);
    const tenure::temp_scope scope;
    void* const block = tenure::temp::allocate(100);
    return number != nullptr && *number == 5 && block != nullptr && tenure::temp::owns(block) &&
           tenure::heap::process().allocate(10) != nullptr;
}
