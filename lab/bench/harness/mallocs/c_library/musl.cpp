// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// musl does not tell its version, does not count blocks, and gives nothing back on demand. The drop-in for musl has no
// such functions either.

#include "bench/harness/mallocs/c_library/c_library.hpp"

namespace tenure::lab {

namespace {

constexpr malloc_calls own_of_musl{"musl", nullptr, nullptr, {}, nullptr, {}, nullptr};
constexpr malloc_calls drop_in{"tenure", nullptr, nullptr, {}, nullptr, {}, nullptr};

}

std::string c_library_name() { return "musl"; }

std::string c_library_object() { return object_of_symbol("__libc_start_main"); }

const malloc_calls& c_library_calls() { return own_of_musl; }
const malloc_calls& drop_in_calls() { return drop_in; }

void call_malloc_trim() {}

std::size_t counted_bytes_in_use() { return 0; }

}
