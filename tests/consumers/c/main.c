/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include <tenure/tenure.h>
#include <tenure/tenure_text.h>

int use_engine(void);

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

static void write_record(void* context, tn_text_writer* to, size_t page, size_t object) {
    (void)context;
    tn_text_writer_printf(to, "%zu.%zu,", page, object);
}

/* Many records, each page by a thread if `run` is set. */
static void write_records(void) {
    tn_paged_writer* const writer = tn_paged_writer_create(NULL);
    check(tn_paged_writer_reserve(writer, 2, 2, 8) == TN_OK, "memory is reserved");
    tn_page_work work;
    memset(&work, 0, sizeof work);
    work.size = sizeof work;
    work.write_object = write_record;
    check(tn_paged_writer_write(writer, 3, &work) == TN_OK, "records are written");
    tn_text text;
    tn_paged_writer_join(writer, &text);
    check(text.length == 12 && memcmp(text.data, "0.0,0.1,1.0,", 12) == 0, "they are one text");
    tn_paged_writer_destroy(writer);
}

typedef struct monster {
    float x, y;
    struct monster* target;
} monster;

/* One frame: scratch memory of the frame, a result for the next frames, and objects that come and go. */
static void run_frame(tn_pool* monsters) {
    tn_temp_scope scope;
    tn_temp_begin(&scope);
    float* const distances = tn_allocate(1000 * sizeof *distances, 0, TN_TEMP); /* until the end of the scope */
    float* const path = tn_allocate(64 * sizeof *path, 0, TN_TEMP_JOB);         /* for a few frames, any thread */
    monster* const born = tn_pool_allocate(monsters);                           /* until it dies */
    check(distances != NULL && path != NULL && born != NULL, "a frame has memory");
    tn_pool_deallocate(monsters, born);
    tn_deallocate(path, TN_TEMP_JOB);
    tn_temp_end(&scope); /* frees `distances` */
}

static void play(void) {
    tn_pool* const monsters = tn_pool_create(sizeof(monster), 0, NULL);
    for (int frame = 0; frame < 3; ++frame) {
        run_frame(monsters);
        tn_next_frame(); /* empties Temp and reports TempJob memory that is too old */
    }
    check(tn_pool_size(monsters) == 0, "no monster is left");
    tn_pool_destroy(monsters);
}

int main(void) {
    play();
    check(use_engine() == 0, "tenure_engine.h does what engine.c expects");
    check(tn_abi_version() == TN_ABI_VERSION, "the library is the header's");
    check(tn_check_level() == 0, "the library has no checks");

    char* text = tn_malloc(100);
    check(text != NULL && tn_usable_size(text) >= 100, "memory is had");
    strcpy(text, "held");
    text = tn_realloc(text, 10000);
    check(strcmp(text, "held") == 0, "contents are kept");
    tn_free(text);

    tn_temp_scope scope;
    tn_temp_begin(&scope);
    void* const scratch = tn_allocate(1000, 16, TN_TEMP);
    check(scratch != NULL, "Temp is had");
    tn_temp_end(&scope);
    check(tn_allocate(1000, 16, TN_TEMP) == scratch, "Temp was rewound");
    tn_next_frame();

    tn_arena* const arena = tn_arena_create(0, NULL);
    check(tn_arena_allocate(arena, 10, 8) != NULL, "an arena serves");
    tn_arena_destroy(arena);

    tn_offset_allocator* const offsets = tn_offset_create(1000);
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
    check(tn_handle_deallocate(&handle, &holders) == TN_STILL_HELD && holders == 1, "it is held");
    check(tn_handle_release(&handle) == TN_OK && tn_handle_deallocate(&handle, NULL) == TN_OK, "it is freed");
    check(tn_handle_is_live(&handle) == 0, "it is stale");

    char line[40];
    check(tn_snprintf(line, sizeof line, "%s%.2f", "y", 12.25) == 6, "a number is formatted");
    check(strcmp(line, "y12.25") == 0, "as snprintf does");
    tn_text_writer record;
    tn_text_writer_start(&record, line, sizeof line);
    tn_text_writer_printf(&record, "lap %d: ", 12);
    tn_text_writer_append_fixed(&record, 93.0625, 3); /* a half rounds to the even digit */
    check(record.missed_bytes == 0 && record.cursor - record.first == 14, "a record is appended");
    check(memcmp(record.first, "lap 12: 93.062", 14) == 0, "with its numbers");
    write_records();

    tn_region_begin("of C", 4);
    tn_no_alloc_begin();
    check(tn_no_alloc_is_active() != 0, "the scope is active");
    tn_mark("promised", 8);
    tn_allow_alloc_begin();
    check(tn_no_alloc_is_active() == 0, "allocation is permitted");
    tn_allow_alloc_end();
    tn_no_alloc_end();
    tn_region_end();
    tn_no_wait_begin(); /* neither allocates, frees nor locks */
    check(tn_no_wait_is_active() != 0 && tn_no_alloc_is_active() != 0, "the stronger scope is active");
    tn_no_wait_end();

    tn_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    tn_get_stats(&stats);
    check(stats.heap_is_ours == 1, "the heap is ours");
    return failures == 0 ? 0 : 1;
}
