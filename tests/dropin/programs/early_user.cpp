// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdlib>

extern "C" int finish_early_answer();

int main() {
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(100)); // a block from before must not be among these
    return finish_early_answer() == 1 ? 0 : 1;
}
