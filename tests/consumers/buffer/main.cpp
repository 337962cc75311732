// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdint>

#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/vector_maths.hpp>

int main() {
    const auto numbers = tenure::fixed_buffer<std::uint64_t>::make(1001);
    const auto held = numbers.lease();
    tenure::vectors::fill(held.data(), held.size(), 3);
    tenure::vectors::multiply(held.data(), held.size(), held.data(), 5);
    return tenure::vectors::sum(held.data(), held.size()) == 15 * 1001 ? 0 : 1;
}
