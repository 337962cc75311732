// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// For `tenure record`: a program that uses Tenure marks a phase, and ends three frames, each in another way.

#include <cstdlib>

#include <tenure/base/region.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/tenure.h>

int main() {
    tenure::mark("loading");
    void* volatile block = std::malloc(4321);
    std::free(block);
    tenure::next_frame();
    tn_next_frame();
    tenure::mark("frame");
    tenure::mark("loading");
    return 0;
}
