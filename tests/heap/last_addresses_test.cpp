// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A segment that takes the last addresses of the process still gets its record.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/heap/heap.hpp>

#include "support/address_space.hpp"
#include "support/process.hpp"

namespace {

constexpr std::size_t few = 6; // heaps; the first four segments of a process need no map of addresses

constexpr std::size_t buffer_bytes = std::size_t{2} << 20;

/// Memory in a part of the address space where no heap was before.
void* far_memory(std::uintptr_t wanted) {
    void* const memory =
        ::mmap(tenure::pointer_at(wanted), buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::_Exit(4);
    return memory;
}

void use_heaps_without_addresses() {
    for (std::size_t each = 0; each < few; ++each) {
        auto* const other = new tenure::heap; // not destroyed: its segment stays
        if (other->allocate(100'000) == nullptr) std::_Exit(2);
    }
    tenure::static_buffer_source first_memory(far_memory(0x2000'0000'0000), buffer_bytes);
    tenure::static_buffer_source second_memory(far_memory(0x3000'0000'0000), buffer_bytes);
    tenure::heap first({.name = "first"}, first_memory), second({.name = "second"}, second_memory);
    const support::address_limit limit(0);
    bool is_good = true;
    for (int count = 0; count < 3; ++count) { // the record is used again
        void* const one = first.allocate(100'000);
        void* const other = second.allocate(100'000);
        if (one == nullptr || other == nullptr) std::_Exit(3);
        std::memset(one, 1, 100'000);
        is_good = first.owns(one) && !first.owns(other) && second.owns(other) && !second.owns(one) && is_good;
        first.deallocate(one);
        second.deallocate(other);
        first.trim();
        second.trim();
        is_good = !first.owns(one) && first.valid() && second.valid() && is_good;
    }
    std::_Exit(is_good ? 0 : 1);
}

TEST(last_addresses, a_segment_that_has_them_gets_its_record) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers need addresses of their own";
    EXPECT_EXIT(use_heaps_without_addresses(), testing::ExitedWithCode(0), "^$");
}

}
