// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A library with a copy of Tenure of its own, which is unloaded while that copy's background thread sleeps.

#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/temp.hpp>

extern "C" __declspec(dllexport) int use_plugin() {
    static void* blocks[10'000];
    for (void*& each : blocks) each = tenure::heap::process().allocate(500);
    for (void* each : blocks) tenure::heap::process().deallocate(each); // wakes the background thread
    const tenure::temp_scope scope;
    return tenure::temp::allocate(100) != nullptr ? 0 : 1;
}
