/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */
#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

/**
 * \file
 * Tenure for C, and for whatever calls C: native memory chosen by how long it is held.
 *
 * Rules for everything here:
 *  - Sizes come before alignments, both in bytes. An alignment is a power of two; zero stands for 16.
 *  - Memory functions return a pointer, null when refused. Others return a tn_status where more than one thing can go
 *    wrong. A call that fails changes nothing.
 *  - A structure begins with its own size, set by the caller (`info.size = sizeof info`), so that it can grow at its
 *    end: a library that knows fewer fields fills those, one that knows more fills what there is room for. A size that
 *    was forgotten is the caller's mistake: options without one are refused, and figures are not filled in.
 *  - Text is UTF-8 with a length, not terminated; what is handed out lives as long as the process.
 *  - Any thread may call anything, unless a line says otherwise; an object made for one thread is that thread's.
 *  - Null objects and null pointers to results are the caller's mistake, save where null is said to be allowed.
 *  - Nothing is thrown. The caller's mistakes are reported in checked builds (tn_check_level() of 1 and more), and the
 *    process is aborted unless a handler is installed that returns (tn_set_report_handler).
 *
 * Requires C99 or C++11, 64 bits.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TN_API
#    if defined(__GNUC__)
#        define TN_API __attribute__((visibility("default")))
#    else
#        define TN_API
#    endif
#endif

/* ------------------------------------------------------------------------------------------------- the library */

/** Changes when something here changes in a way that a caller compiled before would not survive. */
#define TN_ABI_VERSION 1u

/** TN_ABI_VERSION of the library that is loaded. Ask it first. */
TN_API uint32_t tn_abi_version(void);

/** 0 none, 1 the caller's mistakes, 2 our invariants, 3 whole structures. Fixed when the library was built. */
TN_API uint32_t tn_check_level(void);

/** Text that the library or the caller owns; `data` may be null when `length` is zero. */
typedef struct tn_text {
    const char* data;
    uint64_t length;
} tn_text;

/** "0.1.0". */
TN_API void tn_version(tn_text* version);

/** Why a call did not do what was asked. */
typedef int32_t tn_status;
#define TN_OK 0
#define TN_OUT_OF_MEMORY 1    /**< the source or the system refused */
#define TN_INVALID_ARGUMENT 2 /**< a size, alignment or index out of its range */
#define TN_STALE_HANDLE 3     /**< what it stood for was freed, or it never stood for anything */
#define TN_STILL_HELD 4       /**< somebody has acquired it and not released it */
#define TN_NOT_HELD 5         /**< released more often than acquired */
#define TN_UNSUPPORTED 6      /**< this build, system or heap cannot do it */
#define TN_FILE_ERROR 7       /**< a file cannot be opened, made larger or mapped */
#define TN_UNKNOWN_NAME 8     /**< no option, tag or key is called so */

/** One sentence, in English. "unknown status" for a number that is none. */
TN_API void tn_status_text(tn_status status, tn_text* text);

/* ------------------------------------------------------------------------------- memory held until it is freed */

/** Zero bytes count as one. Memory of the process heap, at multiples of 16. */
TN_API void* tn_malloc(size_t bytes);
/** The same, all zero. Null also when the product overflows. */
TN_API void* tn_calloc(size_t count, size_t bytes);
/** Larger or smaller; contents are kept up to the smaller size. A null `block` is allocated. */
TN_API void* tn_realloc(void* block, size_t bytes);
/** Null when `alignment` is no power of two. */
TN_API void* tn_aligned_alloc(size_t bytes, size_t alignment);
/** As tn_realloc, at multiples of `alignment`. */
TN_API void* tn_aligned_realloc(void* block, size_t bytes, size_t alignment);
/** Null is allowed and does nothing. */
TN_API void tn_free(void* block);
/** `bytes` is what was asked for; checked builds compare. */
TN_API void tn_free_sized(void* block, size_t bytes);
/** Bytes that may be used: what was asked for, or more. Zero for null. */
TN_API size_t tn_usable_size(const void* block);
/** Whether the pointer is inside memory of the process heap. */
TN_API uint32_t tn_owns(const void* pointer);
/** Gives free pages back to the system. Returns the bytes. */
TN_API size_t tn_trim(void);

/* -------------------------------------------------------------------------------------------------- lifetimes */

typedef uint32_t tn_lifetime;
#define TN_TEMP 0u       /**< this frame, this thread */
#define TN_TEMP_JOB 1u   /**< a few frames, any thread */
#define TN_PERSISTENT 2u /**< until it is freed, any thread: the process heap */

/** Null when refused, or when the lifetime or the alignment is none. */
TN_API void* tn_allocate(size_t bytes, size_t alignment, tn_lifetime held);
/**
 * Temp: does nothing until its scope, reset or frame ends. Null is allowed. A lifetime that is none is the caller's
 * mistake: the block stays allocated.
 */
TN_API void tn_deallocate(void* block, tn_lifetime held);
/** Temp: rewinds when it is the newest block. Null is allowed. */
TN_API void tn_deallocate_sized(void* block, size_t bytes, tn_lifetime held);
/** Ends the frame: TempJob ages by one, the calling thread's Temp is emptied. One thread, once a frame. */
TN_API void tn_next_frame(void);
/** Frames ended so far. */
TN_API uint64_t tn_frame(void);
/** Empties the calling thread's Temp. */
TN_API void tn_reset_temp(void);

/** A place in the calling thread's Temp. */
typedef struct tn_temp_marker {
    uint64_t cursor;
    uint64_t region;
    uint64_t depth; /**< of nesting, counted in checked builds */
} tn_temp_marker;

/** Begins a scope of Temp. Scopes nest, and end in reverse order. */
TN_API void tn_temp_mark(tn_temp_marker* marker);
/** Ends it: what the thread allocated from Temp since is gone. Once for each marker. */
TN_API void tn_temp_rewind(const tn_temp_marker* marker);

/** What the calling thread's Temp has seen, in bytes and counts. */
typedef struct tn_temp_stats {
    uint32_t size;
    uint32_t reserved;
    uint64_t budget_bytes;
    uint64_t used_bytes;
    uint64_t committed_bytes;
    uint64_t overflow_count;
    uint64_t overflow_bytes;
    uint64_t overflow_peak_bytes;
} tn_temp_stats;
TN_API void tn_temp_get_stats(tn_temp_stats* stats);

/* ------------------------------------------------------------------------------ short calls, and none at all */

/*
 * For callers to whom a call of unbounded length is expensive: .NET's SuppressGCTransition allows none that may wait.
 * These take no lock and make no system call. They refuse where a longer call is needed (an empty or full cache, a
 * first call, checked builds, blocks that come from another malloc): then use tn_malloc and tn_free.
 */

/** A block of the process heap from what the calling thread has at hand, at multiples of 16; null when it has none. */
TN_API void* tn_try_alloc(size_t bytes);
/** Whether the block was taken back. Null is not allowed. */
TN_API uint32_t tn_try_free(void* block);

/*
 * Structures whose layout is part of this interface, so that a caller can do in its own code what tn_try_alloc,
 * tn_try_free and Temp's inline path do. The calling thread alone may touch what it is given, and must go on asking
 * for its begin: an owner tag that comes or goes puts another cache there.
 */

/** Free blocks of one size at one thread: taken from the end. Empty and full ones send the caller to the long calls. */
typedef struct tn_block_cache {
    uint32_t count;
    uint32_t capacity;
    void** blocks;
} tn_block_cache;

/** Where the calling thread's next Temp block lies. */
typedef struct tn_temp_state {
    uint64_t cursor; /**< sizes are rounded up to 16 */
    uint64_t limit;  /**< cursor + size must not pass it; zero sends every request to tn_allocate */
    uint64_t region; /**< a scope may store its begin's cursor only while this is what it was, and no tag is set */
} tn_temp_state;

/** How to read the above: the same for the life of the process. */
typedef struct tn_quick_layout {
    uint32_t size;
    uint32_t is_available;             /**< 0 in checked builds, and where the heap is malloc's: use the calls */
    uint32_t caches_offset;            /**< from a thread's cache to its tn_block_cache of class 0; others follow */
    uint32_t classes_limit_bytes;      /**< sizes up to this one have their class in the table */
    const uint8_t* class_of_eights;    /**< the class of a size is at (size + 7) / 8; sizes below 9 count as 9 */
    uint32_t segment_shift;            /**< a block's segment begins at its address with so many bits cleared */
    uint32_t slice_shift;              /**< a byte of class for every so many bytes of a segment ... */
    uint32_t classes_of_slices_offset; /**< ... from here on; a block at a segment's very begin goes to tn_free */
    uint32_t reserved;
} tn_quick_layout;
TN_API void tn_get_quick_layout(tn_quick_layout* layout);

/** Where the calling thread's state lies until its end. The distance from `temp` to `tag` is the same in each. */
typedef struct tn_quick_thread {
    uint32_t size;
    uint32_t reserved;
    void* const* heap_cache; /**< what it points to is null until the first tn_malloc of the thread */
    tn_temp_state* temp;
    const uint16_t* tag; /**< not zero while an owner tag is set */
} tn_quick_thread;
TN_API void tn_get_quick_thread(tn_quick_thread* thread);

/* ---------------------------------------------------------------------------------------------- block sources */

/** Where an allocator takes big blocks from. It outlives the allocator. */
typedef struct tn_block_source {
    uint32_t size;
    uint32_t any_thread; /**< not zero: any thread may call at any time */
    void* context;
    /** Memory of at least `bytes`, at a multiple of `alignment`; null when refused. */
    void* (*acquire)(void* context, size_t bytes, size_t alignment);
    /** Takes back a whole block, with the size that it was acquired with. */
    void (*release)(void* context, void* block, size_t bytes);
} tn_block_source;

/** Figures of an allocator. */
typedef struct tn_allocator_stats {
    uint32_t size;
    uint32_t reserved;
    uint64_t live_count;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t reserved_bytes; /**< taken from the source now: addresses, touched or not */
    uint64_t source_blocks;
} tn_allocator_stats;

/* ------------------------------------------------------------------------------------------------------ heaps */

typedef struct tn_heap tn_heap;

/** Zero in a field stands for the default. */
typedef struct tn_heap_options {
    uint32_t size;
    uint32_t reserved;
    tn_text name;                  /**< in reports; copied, up to 63 bytes */
    uint64_t limit_bytes;          /**< the most that it takes from its source */
    uint64_t purge_delay_ns;       /**< how long freed memory is kept; UINT64_MAX: not at all */
    uint64_t max_retained_bytes;   /**< of freed huge blocks; UINT64_MAX: none */
    const tn_block_source* source; /**< null: pages of the system */
} tn_heap_options;

/** A heap of its own; `options` may be null. Null when refused, or when `options` do not say their size. */
TN_API tn_heap* tn_heap_create(const tn_heap_options* options);
/** Gives everything back. No thread uses it any more. Null is allowed. */
TN_API void tn_heap_destroy(tn_heap* heap);
TN_API void* tn_heap_allocate(tn_heap* heap, size_t bytes, size_t alignment);
TN_API void* tn_heap_allocate_zeroed(tn_heap* heap, size_t bytes, size_t alignment);
TN_API void* tn_heap_reallocate(tn_heap* heap, void* block, size_t bytes, size_t alignment);
TN_API void tn_heap_deallocate(tn_heap* heap, void* block);
TN_API size_t tn_heap_usable_size(const tn_heap* heap, const void* block);
TN_API uint32_t tn_heap_owns(const tn_heap* heap, const void* pointer);
/** Everything is free; pages are kept. No other thread uses it meanwhile. */
TN_API void tn_heap_clear(tn_heap* heap);
TN_API size_t tn_heap_trim(tn_heap* heap);
TN_API void tn_heap_get_stats(const tn_heap* heap, tn_allocator_stats* stats);

/* ----------------------------------------------------------------------------------------------------- arenas */

/**
 * Memory that dies together; one thread at a time. The begin's layout is part of this interface: a caller may allocate
 * by itself (align, add, compare with the limit, store) and calls tn_arena_allocate when there is no room. Both are
 * zero where it must not: in checked builds, and where blocks come from another malloc.
 */
typedef struct tn_arena {
    uint64_t cursor; /**< where the next block lies */
    uint64_t limit;  /**< end of the current chunk */
} tn_arena;

/** A place in an arena. */
typedef struct tn_arena_marker {
    void* chunk;
    uint64_t cursor;
    uint64_t number;
} tn_arena_marker;

/**
 * `first_chunk_bytes` of zero: 64 KiB; `source` may be null: pages of the system. Null when refused, and for a first
 * chunk past PTRDIFF_MAX bytes. Where the source refuses a chunk of that size, chunks are as large as what is asked
 * for.
 */
TN_API tn_arena* tn_arena_create(size_t first_chunk_bytes, const tn_block_source* source);
TN_API void tn_arena_destroy(tn_arena* arena);
TN_API void* tn_arena_allocate(tn_arena* arena, size_t bytes, size_t alignment);
/** Takes it back when it is the newest one. */
TN_API void tn_arena_deallocate(tn_arena* arena, void* block, size_t bytes);
TN_API void tn_arena_mark(const tn_arena* arena, tn_arena_marker* marker);
/** Everything allocated since is gone. Not after a clear or a rewind to an earlier marker. */
TN_API void tn_arena_rewind(tn_arena* arena, const tn_arena_marker* marker);
TN_API void tn_arena_clear(tn_arena* arena);
TN_API size_t tn_arena_trim(tn_arena* arena);
TN_API void tn_arena_get_stats(const tn_arena* arena, tn_allocator_stats* stats);

/* ------------------------------------------------------------------------------------------------------ pools */

typedef struct tn_pool tn_pool; /**< one size, one thread */

/** Blocks of 1 byte to 256 MiB, aligned to as much at most. Null when refused or out of range. `source` may be null. */
TN_API tn_pool* tn_pool_create(size_t bytes, size_t alignment, const tn_block_source* source);
TN_API void tn_pool_destroy(tn_pool* pool);
TN_API void* tn_pool_allocate(tn_pool* pool);
TN_API void tn_pool_deallocate(tn_pool* pool, void* block);
TN_API void tn_pool_clear(tn_pool* pool);
TN_API size_t tn_pool_trim(tn_pool* pool);
TN_API size_t tn_pool_size(const tn_pool* pool);
TN_API void tn_pool_get_stats(const tn_pool* pool, tn_allocator_stats* stats);

typedef struct tn_shared_pool tn_shared_pool; /**< one size, any thread */

TN_API tn_shared_pool* tn_shared_pool_create(size_t bytes, size_t alignment, const tn_block_source* source);
TN_API void tn_shared_pool_destroy(tn_shared_pool* pool);
TN_API void* tn_shared_pool_allocate(tn_shared_pool* pool);
TN_API void tn_shared_pool_deallocate(tn_shared_pool* pool, void* block);
/** Clear and trim: no other thread uses the pool meanwhile. */
TN_API void tn_shared_pool_clear(tn_shared_pool* pool);
TN_API size_t tn_shared_pool_trim(tn_shared_pool* pool);
TN_API size_t tn_shared_pool_size(const tn_shared_pool* pool);
TN_API void tn_shared_pool_get_stats(const tn_shared_pool* pool, tn_allocator_stats* stats);

/* -------------------------------------------------------------------------------------------- affinity groups */

typedef struct tn_affinity tn_affinity; /**< objects that are visited together live together */

/** Zero in a field stands for the default. */
typedef struct tn_affinity_options {
    uint32_t size;
    uint32_t any_thread;           /**< not zero: any thread may use it */
    tn_text name;                  /**< in reports; copied, up to 63 bytes */
    uint64_t alignment;            /**< of every object that asks for no more: 8 to 1024 */
    uint64_t block_bytes;          /**< taken at a time: 64 KiB to 1 GiB, a power of two */
    uint64_t max_retained_bytes;   /**< of empty blocks; UINT64_MAX: none */
    uint32_t sizes_required;       /**< not zero: every free names the size, and none is remembered */
    uint32_t split_by_size;        /**< not zero: each size up to 512 bytes has pages of its own */
    const tn_block_source* source; /**< null: pages of the system */
} tn_affinity_options;

/**
 * `options` may be null. Null when refused, when an option is out of its range, and for a group that any thread may use
 * with a source that any thread may not.
 */
TN_API tn_affinity* tn_affinity_create(const tn_affinity_options* options);
TN_API void tn_affinity_destroy(tn_affinity* group);
TN_API void* tn_affinity_allocate(tn_affinity* group, size_t bytes, size_t alignment);
/** Not for a group whose sizes are given. */
TN_API void tn_affinity_deallocate(tn_affinity* group, void* object);
TN_API void tn_affinity_deallocate_sized(tn_affinity* group, void* object, size_t bytes, size_t alignment);
TN_API void tn_affinity_clear(tn_affinity* group);
TN_API size_t tn_affinity_trim(tn_affinity* group);
TN_API void tn_affinity_get_stats(const tn_affinity* group, tn_allocator_stats* stats);

/* ---------------------------------------------------------------------------------------------------- offsets */

typedef struct tn_offsets tn_offsets; /**< bookkeeping for memory that is not ours; one thread */

typedef struct tn_offset_range {
    uint64_t offset;
    uint32_t id; /**< UINT32_MAX: no range */
    uint32_t reserved;
} tn_offset_range;

typedef struct tn_offset_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t capacity;
    uint64_t free;
    uint64_t largest_free;
    uint64_t waiting;
    uint64_t range_count;
    uint64_t free_count;
    uint64_t record_bytes;
} tn_offset_usage;

/** `capacity` of at most 2^62, in a unit of yours. */
TN_API tn_offsets* tn_offset_create(uint64_t capacity);
TN_API void tn_offset_destroy(tn_offsets* offsets);
/** A size of zero counts as one, and so does an alignment of zero. */
TN_API tn_status tn_offset_allocate(tn_offsets* offsets, uint64_t size, uint64_t alignment, tn_offset_range* range);
TN_API void tn_offset_deallocate(tn_offsets* offsets, tn_offset_range range);
/** When `frames` frames have ended: at most 63. */
TN_API void tn_offset_deallocate_after(tn_offsets* offsets, tn_offset_range range, uint32_t frames);
TN_API uint64_t tn_offset_collect(tn_offsets* offsets);
TN_API tn_status tn_offset_grow(tn_offsets* offsets, uint64_t capacity);
TN_API tn_status tn_offset_shrink(tn_offsets* offsets, uint64_t capacity);
TN_API void tn_offset_clear(tn_offsets* offsets);
TN_API uint64_t tn_offset_size_of(const tn_offsets* offsets, tn_offset_range range);
TN_API void tn_offset_get_usage(const tn_offsets* offsets, tn_offset_usage* usage);
/** Tells all ranges, lowest offset first. `visit` must not use the offsets. */
TN_API void tn_offset_walk(const tn_offsets* offsets,
                           void (*visit)(void* context, uint64_t offset, uint64_t size, uint32_t is_free),
                           void* context);

/* ---------------------------------------------------------------------------------------------------- handles */

/**
 * What stands for a piece of memory and goes stale with it, in every copy. All zero: stale. Its entry's word lies at
 * tn_handle_words() + entry: the generation in the lower half, in the upper one how many hold it. The generation lies
 * once more at tn_handle_generations() + entry. A caller may by itself compare the generation in either; add 2^32
 * atomically to acquire; and to release, compare the generation that lies apart and then subtract it. What turns out to
 * have been done to another generation, or to a count of zero, is undone.
 */
typedef struct tn_handle {
    void* pointer;
    uint64_t bytes;
    uint32_t entry;
    uint32_t generation;
} tn_handle;

/** Entry zero's word, writable; the table never moves. Null when the system refuses addresses. */
TN_API uint64_t* tn_handle_words(void);
/** Entry zero's generation, likewise: for a look that does not meet those who count. */
TN_API const uint32_t* tn_handle_generations(void);

#define TN_HANDLE_UNWRITTEN 0u  /**< the memory is as it comes */
#define TN_HANDLE_ZEROED 1u     /**< the memory is all zero */
#define TN_HANDLE_HUGE_PAGES 2u /**< the system is asked for pages of 2 MiB; may be added to the others */

/**
 * Memory of the process heap and a handle for it. `kind` is for listings, which tell 128 bytes of it, and is kept by
 * address: it must stay. Null: "memory".
 */
TN_API tn_status tn_handle_allocate(size_t bytes, size_t alignment, uint32_t flags, const char* kind,
                                    tn_handle* handle);
/**
 * Memory that is a file's, so that it may be more than the machine has. `path` null: a file without a name, in the
 * system's folder for temporary files. Otherwise the file is made, or kept when it is there, and stays; it gets
 * `bytes`. After TN_FILE_ERROR the C library's errno holds the system's reason. TN_OUT_OF_MEMORY: there are no
 * addresses for so many bytes. The file is then as it was, and a new one is gone again.
 */
TN_API tn_status tn_handle_map_file(const char* path, uint64_t bytes, const char* kind, tn_handle* handle);
/** A handle for memory of the caller's; `release` may be null, and gets what was entered. */
TN_API tn_status tn_handle_add(void* pointer, uint64_t bytes, void (*release)(void* pointer, size_t bytes),
                               const char* kind, tn_handle* handle);
TN_API uint32_t tn_handle_is_live(const tn_handle* handle);
TN_API tn_status tn_handle_acquire(const tn_handle* handle);
TN_API tn_status tn_handle_release(const tn_handle* handle);
/** Gives the memory back; every copy is stale from now on. TN_STILL_HELD, and by how many, when it is held. */
TN_API tn_status tn_handle_free(const tn_handle* handle, uint32_t* holders);
TN_API uint32_t tn_handle_holders(const tn_handle* handle);

/** A live handle as a listing tells it. Here the library sets the size: fields that it does not know are not there. */
typedef struct tn_handle_info {
    uint32_t size;
    uint32_t reserved;
    tn_handle handle;
    uint64_t age_ns;
    const char* kind;
    uint32_t holders;
    uint32_t tag;       /**< of the thread that made it */
    void* const* stack; /**< return addresses, with option handle_stack_frames */
    uint64_t stack_count;
} tn_handle_info;
/** Tells every live handle. */
TN_API void tn_handle_for_each(void (*visit)(void* context, const tn_handle_info* info), void* context);

typedef struct tn_handle_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t live_count;
    uint64_t live_bytes;
    uint64_t held_count;
    uint64_t entry_count;
    uint64_t retired_count;
} tn_handle_usage;
TN_API void tn_handle_get_usage(tn_handle_usage* usage);

/* ------------------------------------------------------------------------------------------------------- tags */

/** Finds or registers an owner's name. Zero for no name, and a common tag when there are too many. */
TN_API uint32_t tn_tag_named(const char* name, size_t length);
TN_API void tn_tag_name(uint32_t tag, tn_text* name);
/**
 * What the calling thread allocates from now on belongs to `tag`. Returns the tag before, for tn_tag_pop(). Here and
 * there a number that no tag has counts as zero, which stands for none.
 */
TN_API uint32_t tn_tag_push(uint32_t tag);
TN_API void tn_tag_pop(uint32_t before);
/** Tags are numbered from 1 to this. */
TN_API uint32_t tn_tag_count(void);

typedef struct tn_tag_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t persistent_count;
    uint64_t persistent_bytes;
    uint64_t temp_job_count;
    uint64_t temp_job_bytes;
    uint64_t temp_bytes; /**< ever allocated */
} tn_tag_usage;
TN_API void tn_tag_get_usage(uint32_t tag, tn_tag_usage* usage);

/* -------------------------------------------------------------------------------- promises, regions and marks */

/*
 * What is begun is ended, once, on the same thread; all of it nests. Checked builds report an end without a begin,
 * which otherwise does nothing. Where nobody observes the process, a begin or an end is an add and a test.
 */

/**
 * From now on the calling thread allocates nothing. Checked builds report what it allocates from this library, the
 * hardened drop-in and `tenure watch` every malloc as well. Frees are allowed.
 */
TN_API void tn_no_alloc_begin(void);
TN_API void tn_no_alloc_end(void);
/** From now on the calling thread may allocate whatever was promised, and is promised before the end. */
TN_API void tn_allow_alloc_begin(void);
TN_API void tn_allow_alloc_end(void);
/** Not zero while an allocation by the calling thread would break a promise. */
TN_API uint32_t tn_no_alloc_is_active(void);

/**
 * What the calling thread does until the end is done in the region of that name, for `tenure watch`. It copies up to 63
 * bytes of a name that it sees for the first time.
 */
TN_API void tn_region_begin(const char* name, size_t name_bytes);
TN_API void tn_region_end(void);
/** A moment with a name, likewise. */
TN_API void tn_mark(const char* name, size_t name_bytes);

/* -------------------------------------------------------------------------------------- figures and settings */

/** The whole process. While threads go on, each figure is as of some moment during the call. */
typedef struct tn_stats {
    uint32_t size;
    uint32_t heap_is_ours; /**< 0: persistent memory comes from the process's malloc (option passthrough) */
    uint64_t live_count;   /**< blocks of the process heap */
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t committed_bytes;
    uint64_t reserved_bytes;
    uint64_t retained_bytes; /**< freed huge blocks that are kept for the next */
    uint64_t thread_count;
    uint64_t temp_job_live_count;
    uint64_t temp_job_live_bytes;
    uint64_t temp_job_chunk_bytes;
    uint64_t temp_job_leaked_count;
} tn_stats;
TN_API void tn_get_stats(tn_stats* stats);

#define TN_ORIGIN_BUILT_IN 0u
#define TN_ORIGIN_ENVIRONMENT 1u
#define TN_ORIGIN_PROGRAM 2u

typedef struct tn_option_info {
    uint32_t size;
    uint32_t origin; /**< of the value */
    tn_text name;
    tn_text environment;
    tn_text help;
    uint64_t value;
    uint64_t built_in;
    uint64_t lowest;
    uint64_t highest;
} tn_option_info;
TN_API uint32_t tn_option_count(void);
/** TN_INVALID_ARGUMENT past the last. */
TN_API tn_status tn_option_at(uint32_t index, tn_option_info* info);
TN_API tn_status tn_option_get(const char* name, size_t length, uint64_t* value);
/** `value` as the environment would say it: "64M", "all". Parts that have read the option keep what they read. */
TN_API tn_status tn_option_set(const char* name, size_t length, const char* value, size_t value_length);

#define TN_REPORT_MISUSE 0u
#define TN_REPORT_INVARIANT 1u
#define TN_REPORT_LEAK 2u
#define TN_REPORT_NOTICE 3u

/** Hears what the library has to say, on any thread; must not allocate from the part that reports. */
typedef void (*tn_report_handler)(void* context, uint32_t kind, const char* text, size_t length);
/**
 * Null restores the default: standard error, and the process is aborted for misuse and broken invariants. When this
 * returns, another thread may be inside the former handler still: what it uses stays until that cannot be any more.
 */
TN_API void tn_set_report_handler(tn_report_handler handler, void* context);

#ifdef __cplusplus
}
#endif

#endif
