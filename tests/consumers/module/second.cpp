// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

import tenure;

int in_another_unit() {
    tenure::pool<int> numbers; // the same instantiations as a header would give
    tenure::arena scratch;
    int* const number = numbers.construct(7);
    const bool good = number != nullptr && scratch.allocate(100) != nullptr;
    return good ? *number : 0;
}
