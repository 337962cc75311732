// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/mallocs/c_library/c_library.hpp"

#include <gnu/libc-version.h>
#include <malloc.h>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

std::string glibc_version() { return ::gnu_get_libc_version(); }

constexpr malloc_calls own_of_glibc{"glibc", "malloc_trim",    glibc_version,    {},
                                    nullptr, "malloc_trim(0)", call_malloc_trim, true};
constexpr malloc_calls drop_in{"tenure", nullptr, nullptr, {}, nullptr, "malloc_trim(0)", call_malloc_trim, true};

}

std::string c_library_name() { return fmt::format("glibc {}", ::gnu_get_libc_version()); }

std::string c_library_object() { return object_of_symbol("gnu_get_libc_version"); }

const malloc_calls& c_library_calls() { return own_of_glibc; }
const malloc_calls& drop_in_calls() { return drop_in; }

void call_malloc_trim() { ::malloc_trim(0); }

std::size_t counted_bytes_in_use() {
    const auto now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

}
