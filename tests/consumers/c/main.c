/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include <tenure/tenure.h>

static int failures = 0;

static void check(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "not so: %s\n", what);
    ++failures;
}

static void count_range(void* context, uint64_t offset, uint64_t size, uint32_t is_free) {
    (void)offset;
    if (is_free == 0) *(uint64_t*)context += size;
}

int main(void) {
    check(tn_abi_version() == TN_ABI_VERSION, "the library is the header's");
    check(tn_check_level() == 0, "the library has no checks");

    char* text = tn_malloc(100);
    check(text != NULL && tn_usable_size(text) >= 100, "memory is had");
    strcpy(text, "held");
    text = tn_realloc(text, 10000);
    check(strcmp(text, "held") == 0, "contents are kept");
    tn_free(text);

    tn_temp_marker marker;
    tn_temp_mark(&marker);
    void* const scratch = tn_allocate(1000, 16, TN_TEMP);
    check(scratch != NULL, "Temp is had");
    tn_temp_rewind(&marker);
    check(tn_allocate(1000, 16, TN_TEMP) == scratch, "Temp was rewound");
    tn_next_frame();

    tn_arena* const arena = tn_arena_create(0, NULL);
    check(tn_arena_allocate(arena, 10, 8) != NULL, "an arena serves");
    tn_arena_destroy(arena);

    tn_offsets* const offsets = tn_offset_create(1000);
    tn_offset_range range;
    check(tn_offset_allocate(offsets, 100, 1, &range) == TN_OK, "an offset is had");
    uint64_t used = 0;
    tn_offset_walk(offsets, count_range, &used);
    check(used == 100, "the walk told it");
    tn_offset_destroy(offsets);

    tn_handle handle;
    check(tn_handle_allocate(100, 64, TN_HANDLE_ZEROED, "of C", &handle) == TN_OK, "a handle is allocated");
    check(tn_handle_acquire(&handle) == TN_OK, "it is live");
    uint32_t holders = 0;
    check(tn_handle_free(&handle, &holders) == TN_STILL_HELD && holders == 1, "it is held");
    check(tn_handle_release(&handle) == TN_OK && tn_handle_free(&handle, NULL) == TN_OK, "it is freed");
    check(tn_handle_is_live(&handle) == 0, "it is stale");

    tn_region_begin("of C", 4);
    tn_no_alloc_begin();
    check(tn_no_alloc_is_active() != 0, "the scope is active");
    tn_mark("promised", 8);
    tn_allow_alloc_begin();
    check(tn_no_alloc_is_active() == 0, "allocation is permitted");
    tn_allow_alloc_end();
    tn_no_alloc_end();
    tn_region_end();

    tn_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    tn_get_stats(&stats);
    check(stats.heap_is_ours == 1, "the heap is ours");
    return failures == 0 ? 0 : 1;
}
