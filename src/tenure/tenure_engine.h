/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */
#ifndef TENURE_TENURE_ENGINE_H
#define TENURE_TENURE_ENGINE_H

/**
 * \file
 * What game engines need beyond tenure.h, in C: two scratch stacks, Temp for fibers, pools with handles, arrays that
 * never move, memory that frees itself, budgets, hooks, usage per frame and heap, and heap profiles. The conventions
 * are those of tenure.h.
 */

#include <tenure/tenure.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- scratch stacks */

/** One of the calling thread's two stacks of Temp. */
typedef uint32_t tn_temp_stack;
#define TN_TEMP_FIRST 0u  /**< Temp itself: what TN_TEMP allocates from */
#define TN_TEMP_SECOND 1u /**< any other number counts as this one */

/** Allocates from a stack: valid until the scope ends that was begun on it last, tn_reset_temp or the frame. NULL when
 *  out of memory. */
TN_API void* tn_temp_stack_allocate(tn_temp_stack stack, size_t bytes, size_t alignment);

/** An open scope. */
typedef struct tn_scratch_scope {
    uint64_t state[4];
} tn_scratch_scope;

/**
 * Begins a scope on the stack that is not `results`: the one on which the caller wants what the function returns.
 * Returns the stack for scratch memory. Scopes nest, and end in reverse order on the thread that began them.
 */
TN_API tn_temp_stack tn_scratch_begin(tn_scratch_scope* scope, tn_temp_stack results);
/** Frees what was allocated from the scope's stack since it began. */
TN_API void tn_scratch_end(tn_scratch_scope* scope);

/* ------------------------------------------------------------------------------------- Temp of fibers and jobs */

/**
 * A Temp of its own for a fiber or a job that may continue on another thread. The scheduler switches it when it
 * switches stacks: what the job has allocated, and its open scopes, stay with the job. One thread at a time uses it.
 * Checked builds report a scope that ends while another state than its own is the thread's Temp.
 */
typedef struct tn_temp_state tn_temp_state;

/** Reserves nothing until the first allocation. A budget of zero is option temp_budget_bytes. NULL when out of memory.
 */
TN_API tn_temp_state* tn_temp_state_create(size_t budget_bytes);
/** Frees everything that was allocated in it. No thread may use it. NULL is allowed. */
TN_API void tn_temp_state_destroy(tn_temp_state* state);
/**
 * Makes `next` the calling thread's Temp; NULL is the thread's own. Stores the one in use before, NULL for the thread's
 * own, in `before`, if that is not NULL. Nothing changes unless TN_OK is returned: TN_OUT_OF_MEMORY when the thread has
 * no memory for its records; TN_INVALID_ARGUMENT, in checked builds, when another thread uses `next`, which is
 * reported.
 */
TN_API tn_status tn_temp_state_switch(tn_temp_state* next, tn_temp_state** before);
/** The one that the calling thread uses; NULL is the thread's own. */
TN_API tn_temp_state* tn_temp_state_current(void);

/* ------------------------------------------------------------------------------------------- pools with handles */

/** Objects of one size, named by handles that go stale when the object is freed. One thread at a time. A handle of
 *  another pool is refused like a stale one: for certain while no place of P pools was used for more than
 *  400 million / P objects, and very likely after that (pool/handle_pool.hpp). */
typedef struct tn_handle_pool tn_handle_pool;

/** A handle. Zero names no object. */
typedef uint64_t tn_pool_handle;

/**
 * Creates a pool for at most `max_count` objects, up to 2^32, whose addresses are reserved at the first one. Objects
 * never move. Returns NULL when out of memory or when an argument is out of range.
 */
TN_API tn_handle_pool* tn_handle_pool_create(size_t bytes, size_t alignment, size_t max_count);
/** NULL is allowed. */
TN_API void tn_handle_pool_destroy(tn_handle_pool* pool);
/** Allocates uninitialised memory for an object and stores its address in `object`, if that is not NULL. Returns zero
 *  when full or out of memory. */
TN_API tn_pool_handle tn_handle_pool_allocate(tn_handle_pool* pool, void** object);
/** TN_STALE_HANDLE, and nothing changes, if the handle is zero, stale or of another pool. */
TN_API tn_status tn_handle_pool_deallocate(tn_handle_pool* pool, tn_pool_handle handle);
/** The object's address; NULL if the handle is zero, stale or of another pool. */
TN_API void* tn_handle_pool_get(const tn_handle_pool* pool, tn_pool_handle handle);
/** The object at the next higher address, or the first for a handle of zero. Stores its handle in `handle`. Returns
 *  NULL at the end. The object of the handle may have been freed meanwhile. */
TN_API void* tn_handle_pool_next(const tn_handle_pool* pool, tn_pool_handle* handle);
/** Frees every object; all handles become stale. */
TN_API void tn_handle_pool_clear(tn_handle_pool* pool);
/** Returns pages without objects to the system. Returns their bytes. */
TN_API size_t tn_handle_pool_trim(tn_handle_pool* pool);
TN_API size_t tn_handle_pool_size(const tn_handle_pool* pool);

/* ------------------------------------------------------------------------------------ arrays that never move */

/**
 * A contiguous array of elements of one size that grows and never moves: addresses are reserved at the first element,
 * and committed as it grows. One thread at a time calls functions of the array, also those that only read. Others may
 * read elements meanwhile, through addresses that they were told. Checked builds report calls that overlap, and writes
 * behind the last element.
 */
typedef struct tn_stable_vector tn_stable_vector;

/**
 * Creates an array for at most `max_count` elements. They follow each other without gaps; `alignment` is that of the
 * first one, so `bytes` is usually a multiple of it, as a sizeof is. Returns NULL when out of memory or when an
 * argument is out of range. If the addresses do not exist, every growth fails.
 */
TN_API tn_stable_vector* tn_stable_vector_create(size_t bytes, size_t alignment, size_t max_count);
/** NULL is allowed. */
TN_API void tn_stable_vector_destroy(tn_stable_vector* vector);
/** Appends `count` elements, filled with zero. Returns the first one; NULL, and nothing changes, when full or out of
 *  memory. */
TN_API void* tn_stable_vector_append(tn_stable_vector* vector, size_t count);
/** Removes the last element. TN_INVALID_ARGUMENT if there is none. */
TN_API tn_status tn_stable_vector_pop_back(tn_stable_vector* vector);
/** Removes all elements. The memory stays. */
TN_API void tn_stable_vector_clear(tn_stable_vector* vector);
/** Commits memory for `count` elements in all. TN_INVALID_ARGUMENT above the maximum, or TN_OUT_OF_MEMORY; nothing has
 *  changed then. */
TN_API tn_status tn_stable_vector_reserve(tn_stable_vector* vector, size_t count);
/** Returns the memory after the last element to the system. Returns the bytes of its pages, touched or not. */
TN_API size_t tn_stable_vector_trim(tn_stable_vector* vector);
/** The first element's address: the same from the first growth to the end of the array; NULL before. */
TN_API void* tn_stable_vector_data(const tn_stable_vector* vector);
/** The element's address; NULL if `index` is not below the size. */
TN_API void* tn_stable_vector_at(const tn_stable_vector* vector, size_t index);
TN_API size_t tn_stable_vector_size(const tn_stable_vector* vector);
/** Elements that fit into the committed memory. */
TN_API size_t tn_stable_vector_capacity(const tn_stable_vector* vector);

/* --------------------------------------------------------------------------------- memory that frees itself */

/** Memory that is valid for a fixed number of frames. Any thread allocates; nobody frees. */
typedef struct tn_frame_memory tn_frame_memory;

/** A block is valid until tn_next_frame was called `frames` times: 1 to 8. `source` may be NULL: pages of the system.
 *  Returns NULL when out of memory or when an argument is out of range. */
TN_API tn_frame_memory* tn_frame_memory_create(uint32_t frames, const tn_block_source* source);
/** Releases all memory, at whatever age. NULL is allowed. */
TN_API void tn_frame_memory_destroy(tn_frame_memory* memory);
/** NULL, and nothing changes, when out of memory. Checked builds report a write outside a block when its memory is used
 *  again, by tn_frame_memory_trim and by tn_frame_memory_destroy. */
TN_API void* tn_frame_memory_allocate(tn_frame_memory* memory, size_t bytes, size_t alignment);
/** Returns memory that no frame uses to the source. No other thread may allocate during the call. Returns the bytes. */
TN_API size_t tn_frame_memory_trim(tn_frame_memory* memory);
TN_API void tn_frame_memory_get_stats(const tn_frame_memory* memory, tn_allocator_stats* stats);

/* ------------------------------------------------------------------------------------------------------ budgets */

#define TN_BUDGET_THRESHOLD 0u /**< the threshold is exceeded; told again only after the use fell below it */
#define TN_BUDGET_REFUSAL 1u   /**< the request would exceed the limit */

typedef struct tn_budget_event {
    uint32_t size;
    uint32_t what;
    tn_text name;        /**< of the tag */
    uint64_t used_bytes; /**< threshold: with the request; refusal: without */
    uint64_t requested_bytes;
    uint64_t threshold_bytes;
    uint64_t limit_bytes;
} tn_budget_event;

/** Called without a lock, on the thread of the request, and always with its own context. A handler that was replaced
 *  may still be running on another thread when tn_set_budget returns. At a refusal it may free blocks of the tag; the
 *  request is then tried once more. */
typedef void (*tn_budget_handler)(void* context, const tn_budget_event* event);

/**
 * Sets the budget of a tag in the process heap: requests that would exceed `limit_bytes` return NULL, and `handler`,
 * which may be NULL, is told. UINT64_MAX for both removes it. TN_INVALID_ARGUMENT for tag zero, and for
 * a number that no tag has.
 */
TN_API tn_status tn_set_budget(uint32_t tag, uint64_t limit_bytes, uint64_t threshold_bytes, tn_budget_handler handler,
                               void* context);

/** A budget as it was set. UINT64_MAX: no limit, no threshold. */
typedef struct tn_budget {
    uint32_t size;
    uint32_t reserved;
    uint64_t limit_bytes;
    uint64_t threshold_bytes;
    tn_budget_handler handler; /**< NULL also for one that was set in C++ */
    void* context;             /**< of the handler */
} tn_budget;

/** Fills `budget`, whose size the caller sets. TN_INVALID_ARGUMENT for a number that no tag has, and without a size. */
TN_API tn_status tn_budget_of(uint32_t tag, tn_budget* budget);
/** How many requests the tag's limit has met since the process began, whether the handler made room or not. */
TN_API uint64_t tn_refusals_of(uint32_t tag);

/* -------------------------------------------------------------------------------------------------------- hooks */

/**
 * A program's functions at the begin and end of each slow call and of each block. Each may be NULL; a field past `size`
 * counts as NULL. Which blocks are told: tenure/base/hooks.hpp. They must not call the library.
 */
typedef struct tn_hooks {
    uint32_t size;
    uint32_t flags; /**< zero or TN_HOOKS_NOT_AT_THREAD_END */
    void* context;  /**< passed to each */
    /** `what` names the part; its text lives as long as the process. `bytes` is zero in frees. */
    void (*call_begin)(void* context, tn_text what, size_t bytes);
    void (*call_end)(void* context, tn_text what);
    void (*block_begin)(void* context, const void* block, size_t bytes);
    void (*block_end)(void* context, const void* block);
} tn_hooks;

/** Leaves out what the library does when a thread ends: frees of the thread's chunks, calls that return its caches.
 * For hooks in a language whose runtime has ended the thread before and cannot run there. */
#define TN_HOOKS_NOT_AT_THREAD_END 1u

/**
 * Installs hooks, which are copied, or none for NULL. Call it when the program starts. TN_OUT_OF_MEMORY after eight
 * different hooks in a process: each copy stays, because another thread may still use it; equal hooks use it again.
 * TN_INVALID_ARGUMENT without a size, or for another flag.
 */
TN_API tn_status tn_set_hooks(const tn_hooks* hooks);

/* -------------------------------------------------------------------------------------------------------- usage */

/** A heap's memory. The figures of tn_heap_get_stats, and what they leave out. */
typedef struct tn_heap_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t live_count;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t reserved_bytes;
    uint64_t in_use_bytes;    /**< pages that hold blocks, and larger blocks */
    uint64_t committed_bytes; /**< in_use_bytes, free memory that was touched, and the heap's own records */
    uint64_t resident_bytes;  /**< resident part of the memory acquired from the source */
    uint64_t cached_bytes;    /**< free blocks in thread caches */
    uint64_t retained_bytes;  /**< freed huge blocks that are retained for reuse */
    uint64_t purged_bytes;    /**< returned to the source after the purge delay, so far */
    uint64_t thread_count;    /**< threads that have a cache now */
} tn_heap_usage;

/** Fills `usage`, whose size the caller sets. Takes a time that grows with the heap's pages. */
TN_API void tn_heap_get_usage(const tn_heap* heap, tn_heap_usage* usage);

/** The usage of each owner tag at the end of each frame. One thread at a time. */
typedef struct tn_frame_usage_log tn_frame_usage_log;

/** A tag at the end of one frame. */
typedef struct tn_frame_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t persistent_bytes; /**< live bytes of the process heap */
    uint64_t temp_job_bytes;   /**< live bytes of TempJob */
    uint64_t temp_bytes;       /**< allocated from Temp since the last record */
    uint64_t refusals;         /**< requests past the tag's budget since the last record */
} tn_frame_usage;

/** Keeps the latest `frames` frames of the tags below `tags`. Zero: 600 frames, 64 tags. Returns NULL when out of
 * memory or when an argument is out of range. */
TN_API tn_frame_usage_log* tn_frame_usage_log_create(size_t frames, uint32_t tags, const tn_block_source* source);
/** NULL is allowed. */
TN_API void tn_frame_usage_log_destroy(tn_frame_usage_log* log);
/** Records all tags. Call it once a frame, before tn_next_frame. */
TN_API void tn_frame_usage_log_record(tn_frame_usage_log* log);
/** The number of frames in the log. */
TN_API size_t tn_frame_usage_log_size(const tn_frame_usage_log* log);
/** Fills `usage` with a tag's usage in a frame, oldest first, and stores the frame's number in `frame`, if that is not
 *  NULL. TN_INVALID_ARGUMENT past the last frame, and if the size of `usage` is not set. */
TN_API tn_status tn_frame_usage_log_at(const tn_frame_usage_log* log, size_t index, uint32_t tag, tn_frame_usage* usage,
                                       uint64_t* frame);
/** Writes the log as JSON in pieces, for `tenure usage`. */
TN_API void tn_frame_usage_log_write(const tn_frame_usage_log* log, void (*write)(void* context, tn_text piece),
                                     void* context);

/* ------------------------------------------------------------------------------------------------ heap profiles */

#define TN_ALREADY_STARTED 9 /**< it runs already: end it first */
#define TN_NOT_STARTED 10    /**< it has not been started */

/**
 * Begins a profile of the process heap: which call stacks hold its memory, and how much each has allocated. Forgets the
 * last one. One allocated byte in `mean_bytes` is chosen and its block recorded; zero is option profile_sample_bytes,
 * 512 KiB. Inline paths stay inline; a recorded block costs microseconds. TN_ALREADY_STARTED; TN_UNSUPPORTED where the
 * heap's blocks come from the process's malloc; TN_INVALID_ARGUMENT past 2^30. Any thread, as for the others.
 */
TN_API tn_status tn_profile_start(uint64_t mean_bytes);
/** Ends it. What it has recorded can be saved until the next start. TN_NOT_STARTED. */
TN_API tn_status tn_profile_stop(void);
/** Not zero while a profile is being recorded. */
TN_API uint32_t tn_profile_is_running(void);
/**
 * Writes the profile to a file for `tenure profile`. It appears under its name when it is complete, and replaces one of
 * that name. Allocates nothing. TN_NOT_STARTED if there was no profile since the process began; TN_FILE_ERROR.
 */
TN_API tn_status tn_profile_save(const char* path, size_t length);
/** The same, and what each page of the heap is used for: for `tenure pins`. Takes about 0.1 s for a GiB of memory, and
 * 24 bytes of the file for every 4 KiB at most. After tn_profile_stop() as tn_profile_save(). */
TN_API tn_status tn_profile_save_with_pages(const char* path, size_t length);

#ifdef __cplusplus
}
#endif

#endif
