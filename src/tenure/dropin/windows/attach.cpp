// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What happens when tenure_malloc.dll is loaded, and what it exports.

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/options.hpp>
#include <tenure/dropin/detail/figures.hpp>
#include <tenure/dropin/windows/detail/c_runtime.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

/// Finds the functions of the system that the heap needs at any time. Later, a thread that asks the loader for them
/// might hold a lock of the heap, for which a thread waits that has the loader's lock.
void prepare_heap() noexcept {
    void* const block = heap::process().allocate(1, default_alignment);
    heap::process().deallocate(block);
    (void)is_too_late();
}

/// Under passthrough the runtimes keep their functions, and with them their blocks.
TENURE_AMONG_CONSTRUCTORS(replace_malloc) {
    if (passthrough_enabled(part::heap)) return;
    prepare_heap();
    replace_c_runtimes();
}

}

// A runtime shares its heap with the system's libraries.
std::size_t c_library_bytes() noexcept { return unknown_bytes; }

}

/// Whether a block is one of Tenure's heap. A program that calls this is linked to the drop-in.
extern "C" int tn_malloc_owns(const void* block) noexcept;
int tn_malloc_owns(const void* block) noexcept { return tenure::dropin::is_ours(block) ? 1 : 0; }
