// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Arguments that a call refuses with nullptr or an empty answer, which looks like out of memory: checked builds report
// each of them.

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/safe_array.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/tenure.h>
#include <tenure/tenure.hpp>
#include <tenure/tenure_engine.h>

#include "support/reports.hpp"

namespace {

struct refused_call {
    const char* name;
    void (*make)();
    std::string_view reported;
};

void* acquire_nothing(void*, std::size_t, std::size_t) { return nullptr; }

template<class T>
void ignore(T&& answer) {
    static_cast<void>(answer);
}

const refused_call calls[] = {
    {"temp", [] { ignore(tenure::temp::allocate(1, 24)); }, "Temp was asked for a block with an alignment of 24."},
    {"temp_job", [] { ignore(tenure::temp_job::allocate(1, 24)); }, "TempJob was asked for a block with an alignment"},
    {"arena", [] { ignore(tenure::arena().allocate(1, 24)); }, "An arena was asked for a block with an alignment of"},
    {"heap", [] { ignore(tenure::heap::process().allocate(1, 24)); }, "A heap was asked for a block with an alignment"},
    {"heap_alignment_of_zero", [] { ignore(tenure::heap::process().allocate(1, std::size_t{0})); },
     "A heap was asked for a block with an alignment of 0."},
    {"frame_memory", [] { ignore(tenure::frame_memory().allocate(1, 24)); }, "frame_memory was asked for a block with"},
    {"frame_memory_frames", [] { const tenure::frame_memory memory(9); },
     "The constructor of frame_memory was called with frames = 9. Memory lives for 1 to 8 frames."},
    {"affinity", [] { ignore(tenure::affinity_group("tested").allocate(1, 24)); }, "An affinity group was asked for a"},
    {"affinity_options", [] { const tenure::affinity_group group("tested", {.alignment = 24}); },
     "an affinity group was created with invalid options"},
    {"pool_of_nothing", [] { const tenure::block_pool pool(0); },
     "The constructor of a pool was called with bytes = 0. A block has 1 to 268435456 bytes"},
    {"pool_alignment", [] { const tenure::block_pool pool(8, 24); }, "A pool was asked for a block with an alignment"},
    {"shared_pool", [] { const tenure::shared_block_pool pool(0); },
     "The constructor of a pool was called with bytes = 0."},
    {"handle_pool", [] { const tenure::handle_pool<int> pool(SIZE_MAX); },
     "The constructor of handle_pool was called with max_count = 18446744073709551615."},
    {"offset", [] { ignore(tenure::offset_allocator(100).allocate(1, 24)); },
     "An offset_allocator was asked for a block with an alignment of 24."},
    {"offset_capacity", [] { const tenure::offset_allocator offsets(UINT64_MAX); },
     "The constructor of offset_allocator was called with capacity = 18446744073709551615."},
    {"fixed_buffer", [] { ignore(tenure::fixed_buffer<int>::make(1, {.alignment = 24})); },
     "A fixed_buffer was asked for a block with an alignment of 24."},
    {"budget", [] { ignore(tenure::set_budget(tenure::tag(), {})); }, "set_budget was called with the id of the tag"},
    {"tn_allocate", [] { ignore(tn_allocate(1, 24, TN_TEMP)); }, "tn_allocate was asked for a block with an alignment"},
    {"tn_allocate_lifetime", [] { ignore(tn_allocate(1, 0, 7)); }, "tn_allocate was called with lifetime = 7."},
    {"tn_aligned_alloc", [] { ignore(tn_aligned_alloc(1, 24)); }, "A heap was asked for a block with an alignment of"},
    {"tn_arena_create", [] { ignore(tn_arena_create(SIZE_MAX, nullptr)); },
     "tn_arena_create was called with first_chunk_bytes = 18446744073709551615."},
    {"tn_pool_create", [] { ignore(tn_pool_create(0, 0, nullptr)); }, "tn_pool_create was called with bytes = 0."},
    {"tn_shared_pool_create", [] { ignore(tn_shared_pool_create(8, 24, nullptr)); },
     "tn_shared_pool_create was asked for a block with an alignment of 24."},
    {"tn_offset_create", [] { ignore(tn_offset_create(UINT64_MAX)); }, "tn_offset_create was called with capacity ="},
    {"tn_handle_pool_create", [] { ignore(tn_handle_pool_create(8, 8, 0)); },
     "tn_handle_pool_create was called with max_count = 0. A pool has 1 to 2^32 objects."},
    {"tn_frame_memory_create", [] { ignore(tn_frame_memory_create(9, nullptr)); },
     "tn_frame_memory_create was called with frames = 9. Memory lives for 1 to 8 frames."},
    {"tn_temp_stack_allocate", [] { ignore(tn_temp_stack_allocate(TN_TEMP_FIRST, 1, 24)); },
     "tn_temp_stack_allocate was asked for a block with an alignment of 24."},
    {"tn_tag_begin", [] { ignore(tn_tag_begin(4000)); }, "tn_tag_begin was called with tag = 4000, which no tag has."},
    {"tn_tag_end", [] { tn_tag_end(4000); },
     "tn_tag_end was called with before = 4000, which no tag has. Pass what the tn_tag_begin of this scope returned: "
     "tn_tag before = tn_tag_begin(tag); ... tn_tag_end(before)."},
    {"tn_affinity_ready_made", [] { ignore(tn_affinity_ready_made(9)); },
     "tn_affinity_ready_made was called with which = 9."},
    {"half_a_source",
     [] {
         tn_block_source half{};
         half.size = sizeof half;
         half.acquire = &acquire_nothing;
         ignore(tn_arena_create(0, &half));
     },
     "a tn_block_source has only one of its functions acquire and release: 0x"},
    {"tn_affinity_create",
     [] {
         tn_affinity_options options{};
         options.size = sizeof options;
         options.alignment = 24;
         ignore(tn_affinity_create(&options));
     },
     "tn_affinity_create got invalid options: 0x"},
};

class refused_arguments : public testing::TestWithParam<refused_call> {};

TEST_P(refused_arguments, are_reported_once) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    GetParam().make();
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(heard.last().substr(0, GetParam().reported.size()), GetParam().reported);
}

INSTANTIATE_TEST_SUITE_P(every, refused_arguments, testing::ValuesIn(calls),
                         [](const auto& tested) { return std::string(tested.param.name); });

}
