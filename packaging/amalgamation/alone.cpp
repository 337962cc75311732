// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// In place of the sources that tenure_pools.hpp leaves out. What a report says about call stacks and second copies is
// empty; TempJob has no memory to return.

#include <cstdlib>
#include <new>

#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/host.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

std::size_t host::walk_stack(void**, std::size_t) noexcept { return 0; }
void host::write_stack(void* const*, std::size_t) noexcept {}
void host::report_other_copies() noexcept {}
std::string_view host::other_copy(char*, std::size_t) noexcept { return {}; }

void throw_bad_alloc() {
#if defined(__cpp_exceptions)
    throw std::bad_alloc();
#else
    std::abort();
#endif
}

namespace detail {

namespace {
constinit platform::mutex no_direct_mutex{};
}

platform::mutex& direct_mutex() noexcept { return no_direct_mutex; }
void retire_temp_job(thread_record&) noexcept {}

}

}
