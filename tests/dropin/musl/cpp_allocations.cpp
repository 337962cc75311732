// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Allocates as C++ programs do, and knows nothing of what serves it.

#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

int main() {
    struct alignas(64) line {
        char bytes[100];
    };
    bool is_good = true;
    const auto work = [&is_good](std::size_t count) {
        std::map<std::size_t, std::string> texts;
        for (std::size_t each = 0; each < count; ++each) texts[each * 7 % 1000] += std::string(each % 50, 'x');
        const std::vector<line> lines(count);
        if (reinterpret_cast<std::uintptr_t>(lines.data()) % 64 != 0 || texts.size() != 1000) is_good = false;
    };
    std::thread other(work, 5000);
    other.join();
    work(3000);
    try {
        static_cast<void>(::operator new(SIZE_MAX / 4));
        return 1;
    } catch (const std::bad_alloc&) { // by a throw through the drop-in, or of the program's own operator
        return is_good ? 0 : 1;
    }
}
