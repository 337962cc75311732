// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program that frees a block twice. The report names the function that did it, whatever form of the library and
// whatever options of the compiler the program was built with.

#include <csignal>
#include <cstdlib>

#include <tenure/lifetime/lifetime.hpp>

namespace {

__attribute__((noinline)) void free_twice() {
    void* const block = tenure::allocate(100, tenure::lifetime::temp_job);
    tenure::deallocate(block, tenure::lifetime::temp_job);
    tenure::deallocate(block, tenure::lifetime::temp_job);
    asm volatile(""); // this function stays on the stack
}

}

int main() {
    std::signal(SIGABRT, [](int) { std::_Exit(0); }); // the test reads what was written
    free_twice();
}
