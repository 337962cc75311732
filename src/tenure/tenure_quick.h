/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */
#ifndef TENURE_TENURE_QUICK_H
#define TENURE_TENURE_QUICK_H

/**
 * \file
 * The memory layout behind the fast paths, for languages in which a native call costs more than an allocation.
 *
 * A caller can use these structures to do the work of tn_try_malloc, tn_try_free, Temp's inline path and the handle
 * checks in its own code, as Tenure's .NET package does. Everyone else needs tenure.h only.
 *
 * The layout is not part of the stable C interface: it follows the heap and may change in any release, and
 * TN_QUICK_VERSION with it. Before the first use, compare tn_quick_version() with the version that the code was written
 * for. When they differ, refuse the library, or call the functions of tenure.h instead.
 */

#include <tenure/tenure.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Incremented when anything in this header changes. */
#define TN_QUICK_VERSION 3u

/** TN_QUICK_VERSION of the loaded library. */
TN_API uint32_t tn_quick_version(void);

/* ------------------------------------------------------------------------------------------ the thread's caches */

/*
 * Only the calling thread may touch its structures. Read the cache's address again before each use: setting or clearing
 * an owner tag installs another cache.
 */

/** A thread's free blocks of one size. Push and pop at the end. Call the long functions when it is empty or full. */
typedef struct tn_block_cache {
    uint32_t count;
    uint32_t capacity;
    void** blocks;
} tn_block_cache;

/** Position of the calling thread's next Temp block. */
typedef struct tn_temp_position {
    uint64_t cursor; /**< address of the next block; sizes are rounded up to 16 */
    uint64_t limit;  /**< cursor + size must not exceed it; zero sends every request to tn_allocate */
    uint64_t region; /**< overflow chunk in use; a scope may restore its cursor only if this is unchanged and no tag is
                          set */
} tn_temp_position;

/**
 * Position of the calling thread's next TempJob block, whose bytes start 8 after the cursor.
 *
 * To allocate: compute end = cursor + (8 + size, rounded up to 16); if it exceeds `limit`, call tn_allocate. Otherwise
 * store `word` + size in the 8 bytes at the cursor, then 1 in the block's state byte, with release order, then `end` in
 * `cursor`. Zero bytes take the room of one. Sizes are below 2^32, alignments at most 16.
 *
 * To free, on any thread: read the 8 bytes in front of the block. If their highest bit is set, or the state byte is
 * zero, call tn_deallocate. Otherwise store zero in the state byte, with release order.
 */
typedef struct tn_temp_job_state {
    uint64_t cursor; /**< 8 bytes below a multiple of 16; only its thread writes it */
    uint64_t limit;  /**< any thread may set it to zero at any time; read it once per request */
    uint64_t word;   /**< frame and owner tag */
} tn_temp_job_state;

/** How to find a block's size class and a thread's cache. The same until the process ends. */
typedef struct tn_quick_layout {
    uint32_t size;
    uint32_t is_available;             /**< 0 in checked builds and when the heap is malloc's: call the functions */
    uint32_t caches_offset;            /**< from a thread's cache to its tn_block_cache of class 0; the others follow */
    uint32_t classes_limit_bytes;      /**< largest size in the class table */
    const uint8_t* class_of_eights;    /**< class of a size, at index (size + 7) / 8; sizes below 9 count as 9 */
    uint32_t segment_shift;            /**< clear this many low bits of a block's address to get its segment */
    uint32_t slice_shift;              /**< the segment has one class byte for every 2^slice_shift of its bytes ... */
    uint32_t classes_of_slices_offset; /**< ... from this offset on; pass a block at a segment's start to tn_free */
    uint32_t job_chunk_shift;          /**< clear this many low bits of a TempJob block's address to get its chunk */
    uint32_t job_states_offset; /**< the chunk has one state byte for every 16 of its bytes, from this offset on */
    uint32_t reserved;
} tn_quick_layout;
TN_API void tn_get_quick_layout(tn_quick_layout* layout);

/** Addresses of the calling thread's state, valid until it ends. `tag` - `temp` is the same in every thread. */
typedef struct tn_quick_thread {
    uint32_t size;
    uint32_t reserved;
    void* const* heap_cache; /**< points to NULL until the thread's first tn_malloc */
    tn_temp_position* temp;
    const uint16_t* tag;                /**< points to a value that is not zero while an owner tag is set */
    tn_temp_job_state* const* temp_job; /**< read it again before each use: it changes with the thread's first block */
} tn_quick_thread;
TN_API void tn_get_quick_thread(tn_quick_thread* thread);

/* ---------------------------------------------------------------------------------------------------- handles */

/*
 * Each handle has an entry. The entry's word, at tn_handle_words() + entry, has the generation in its lower half and
 * the holder count in its upper half. tn_handle_generations() + entry holds the generation a second time. A caller may
 * work on them directly, with atomic operations:
 *  - check: compare the generation in either place;
 *  - acquire: add 2^32 to the word;
 *  - release: compare the generation in tn_handle_generations(), then subtract 2^32 from the word.
 * If the word's previous value had another generation, or a release found a count of zero, undo the operation.
 */

/** Address of entry zero's word, writable; the table never moves. NULL when the system has no address space left. */
TN_API uint64_t* tn_handle_words(void);
/** Address of entry zero's generation, likewise. Reading it does not contend with threads that acquire or release. */
TN_API const uint32_t* tn_handle_generations(void);

#ifdef __cplusplus
}
#endif

#endif
