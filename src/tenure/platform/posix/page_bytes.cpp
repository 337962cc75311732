// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Alone in its file: tests link a function of their own in its place (tests/page_sizes).

#include <tenure/platform/memory.hpp>

#include <unistd.h>

namespace tenure::inline TENURE_ABI::platform {

std::size_t page_bytes() noexcept {
#if defined(__x86_64__)
    return 4096; // the only size; sysconf() would fault in one more page at the start of a process
#else
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); // cheap: the C library caches the kernel's value
#endif
}

}
