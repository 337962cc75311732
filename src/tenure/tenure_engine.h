/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */
#ifndef TENURE_TENURE_ENGINE_H
#define TENURE_TENURE_ENGINE_H

/**
 * \file
 * What game engines need beyond tenure.h, in C: two scratch stacks, Temp for fibers, pools with handles, memory that
 * frees itself, and budgets. The conventions are those of tenure.h.
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
 *  another pool is refused like a stale one: for certain while no place of P pools was used for more than 400 million /
 * P objects, and very likely after that (pool/handle_pool.hpp). */
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

/* --------------------------------------------------------------------------------- memory that frees itself */

/** Memory that is valid for a fixed number of frames. Any thread allocates; nobody frees. */
typedef struct tn_frame_memory tn_frame_memory;

/** A block is valid until tn_next_frame was called `frames` times: 1 to 8. `source` may be NULL: pages of the system.
 *  Returns NULL when out of memory or when an argument is out of range. */
TN_API tn_frame_memory* tn_frame_memory_create(uint32_t frames, const tn_block_source* source);
/** Releases all memory, at whatever age. NULL is allowed. */
TN_API void tn_frame_memory_destroy(tn_frame_memory* memory);
/** NULL, and nothing changes, when out of memory. */
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

/** Called without a lock, on the thread of the request. At a refusal it may free blocks of the tag; the request is then
 *  tried once more. */
typedef void (*tn_budget_handler)(void* context, const tn_budget_event* event);

/**
 * Sets the budget of a tag in the process heap: requests that would exceed `limit_bytes` return NULL, and `handler`,
 * which may be NULL, is told. UINT64_MAX for both removes it. TN_INVALID_ARGUMENT for tag zero, and for
 * a number that no tag has.
 */
TN_API tn_status tn_set_budget(uint32_t tag, uint64_t limit_bytes, uint64_t threshold_bytes, tn_budget_handler handler,
                               void* context);

#ifdef __cplusplus
}
#endif

#endif
