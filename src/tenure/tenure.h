/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */
#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

/**
 * \file
 * Tenure for C, and for every language that calls C: native memory chosen by how long it is held.
 *
 *  - Sizes come before alignments; both are in bytes. An alignment is a power of two. Zero means the default, 16.
 *  - Allocation functions return a pointer, or NULL when out of memory. Functions that can fail for several reasons
 *    return a tn_status. A call that fails changes nothing.
 *  - Structures that may grow start with their own size, which the caller sets (`info.size = sizeof info`): options,
 *    statistics, descriptions and sources. The library reads and writes only the fields that both sides know. A missing
 *    size is misuse: options without a size are rejected, and output structures are not filled in. Structures without a
 *    field `size`, such as tn_handle and tn_arena, keep their layout as long as TN_ABI_VERSION does not change.
 *  - Names are those of C++ with the prefix tn_: begin and end, create and destroy, allocate and deallocate. tn_malloc
 *    and tn_free are named as C's.
 *  - Text is UTF-8 with a length, not null-terminated. Text that is returned stays valid until the process ends.
 *  - Any thread may call any function unless its comment says otherwise. Some objects serve one thread at a time.
 *  - NULL or a destroyed object is misuse unless the comment allows NULL; so is NULL for a result.
 *  - No function throws. Checked builds (tn_check_level() of 1 or more) report misuse, then abort the process unless a
 *    handler is installed (tn_set_report_handler) and returns.
 *  - C99 or C++11, and a 64-bit platform, are required.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TN_API
#    if defined(__GNUC__) && !defined(_WIN32)
#        define TN_API __attribute__((visibility("default")))
#    elif defined(_WIN32) && defined(TENURE_SHARED) && defined(TENURE_BUILDING)
#        define TN_API __declspec(dllexport)
#    else
#        define TN_API
#    endif
#endif

/** Lets the compiler compare arguments with a format. */
#if defined(__MINGW32__) && !defined(__clang__)
#    define TN_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#    define TN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#    define TN_PRINTF(text, first)
#endif

/* ------------------------------------------------------------------------------------------------- the library */

/** Incremented when a change to this header breaks callers compiled against an earlier version. */
#define TN_ABI_VERSION 1u

/** TN_ABI_VERSION of the loaded library. Call it before any other function. */
TN_API uint32_t tn_abi_version(void);

/** Check level, fixed when the library was built: 0 none, 1 misuse, 2 library invariants, 3 whole structures. */
TN_API uint32_t tn_check_level(void);

/** Text owned by the library or the caller; `data` may be NULL when `length` is zero. */
typedef struct tn_text {
    const char* data;
    uint64_t length;
} tn_text;

/** Library version, such as "0.1.0". */
TN_API void tn_version(tn_text* version);

/** Result of a call that can fail for several reasons. */
typedef int32_t tn_status;
#define TN_OK 0
#define TN_OUT_OF_MEMORY 1    /**< the block source or the system has no memory left */
#define TN_INVALID_ARGUMENT 2 /**< a size, alignment, index or value is out of range */
#define TN_STALE_HANDLE 3     /**< the handle's memory was freed, or the handle never referred to any */
#define TN_STILL_HELD 4       /**< acquired and not yet released */
#define TN_NOT_HELD 5         /**< released more often than acquired */
#define TN_UNSUPPORTED 6      /**< not supported by this build, system or heap */
#define TN_FILE_ERROR 7       /**< a file cannot be opened, extended or mapped */
#define TN_UNKNOWN_NAME 8     /**< no option, tag or key has this name */

/** Describes a status in a short English phrase; "unknown status" for any other number. */
TN_API void tn_status_text(tn_status status, tn_text* text);

/* ------------------------------------------------------------------------------- memory held until it is freed */

/** Allocates from the process heap, 16-byte aligned. Zero bytes count as one. Returns NULL when out of memory. */
TN_API void* tn_malloc(size_t bytes);
/** Allocates `count * bytes` zeroed bytes. Returns NULL also when the product overflows. */
TN_API void* tn_calloc(size_t count, size_t bytes);
/** Resizes a block and keeps its contents up to the smaller size. A NULL `block` allocates a new one. */
TN_API void* tn_realloc(void* block, size_t bytes);
/** Allocates at a multiple of `alignment`. Returns NULL also when `alignment` is not a power of two. */
TN_API void* tn_aligned_alloc(size_t bytes, size_t alignment);
/** Same as tn_realloc, with an alignment. */
TN_API void* tn_aligned_realloc(void* block, size_t bytes, size_t alignment);
/** Frees a block. NULL is allowed and does nothing. */
TN_API void tn_free(void* block);
/** Frees a block of a known size. `bytes` is the size passed to the allocation; checked builds compare them. */
TN_API void tn_free_sized(void* block, size_t bytes);
/** Number of bytes the block can hold: at least the requested size. Zero for NULL. */
TN_API size_t tn_usable_size(const void* block);
/** Not zero if the pointer is inside memory of the process heap. */
TN_API uint32_t tn_owns(const void* pointer);
/** Returns free pages of the process heap and of TempJob to the system. Returns the number of bytes. */
TN_API size_t tn_trim(void);

/* -------------------------------------------------------------------------------------------------- lifetimes */

typedef uint32_t tn_lifetime;
#define TN_TEMP 0u       /**< until the end of the frame, one thread */
#define TN_TEMP_JOB 1u   /**< a few frames, any thread */
#define TN_PERSISTENT 2u /**< until freed, any thread: the process heap */

/** Allocates with a lifetime. Returns NULL when out of memory, or when `held` or `alignment` is invalid. */
TN_API void* tn_allocate(size_t bytes, size_t alignment, tn_lifetime held);
/**
 * Frees a block. `held` is the lifetime it was allocated with. For Temp this does nothing: the block is freed when its
 * scope, reset or frame ends. NULL is allowed. An invalid lifetime is misuse, and the block stays allocated.
 */
TN_API void tn_deallocate(void* block, tn_lifetime held);
/** Frees a block of a known size. Temp rewinds if this is the newest block. NULL is allowed. */
TN_API void tn_deallocate_sized(void* block, size_t bytes, tn_lifetime held);
/** Ends the frame: ages TempJob by one frame and empties the calling thread's Temp. Call once a frame on one thread. */
TN_API void tn_next_frame(void);
/** Number of frames ended so far. */
TN_API uint64_t tn_frame(void);
/** Empties the calling thread's Temp. */
TN_API void tn_reset_temp(void);

/**
 * Prepares the calling thread, so that its next `bytes` of Temp or TempJob do not wait for the operating system. Blocks
 * count with their rounded sizes, those of TempJob, up to 16 KiB each, with 8 bytes more. Not prepared: Temp past its
 * budget, Persistent but for the thread's cache, and blocks under passthrough. Returns 1 if the memory is ready; 0 when
 * out of memory, for more than 1 GiB of TempJob, for Temp after an overflow, and when `held` is invalid.
 */
TN_API uint32_t tn_warm_up(size_t bytes, tn_lifetime held);

/** A scope of the calling thread's Temp: filled in by tn_temp_begin, passed to tn_temp_end. */
typedef struct tn_temp_scope {
    uint64_t cursor;
    uint64_t region;
    uint64_t depth; /**< nesting depth, counted in checked builds */
} tn_temp_scope;

/** Begins a Temp scope. Scopes nest; end them in reverse order. */
TN_API void tn_temp_begin(tn_temp_scope* scope);
/** Ends a scope: frees all Temp memory that the thread allocated since its begin. Call once for each begin. */
TN_API void tn_temp_end(const tn_temp_scope* scope);

/** Figures of the calling thread's Temp, in bytes and counts. */
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

/* -------------------------------------------------------------------------------------------- short calls */

/*
 * For callers that must not wait inside a call, such as .NET's SuppressGCTransition. These functions take no lock and
 * make no system call. They fail if the thread's cache is empty or full, the thread has not allocated yet, the build is
 * checked, or the block comes from another malloc. Then call tn_malloc or tn_free. tenure_quick.h goes further.
 */

/** Allocates from the calling thread's cache, 16-byte aligned. Returns NULL when the cache cannot serve the request. */
TN_API void* tn_try_malloc(size_t bytes);
/** Frees a block into the calling thread's cache. Returns not zero on success. NULL is not allowed. */
TN_API uint32_t tn_try_free(void* block);

/* ---------------------------------------------------------------------------------------------- block sources */

/** Supplies an allocator with large blocks. It must outlive the allocator. */
typedef struct tn_block_source {
    uint32_t size;
    uint32_t any_thread; /**< not zero: any thread may call these functions at any time */
    void* context;
    /** Returns at least `bytes` bytes at a multiple of `alignment`, or NULL when out of memory. */
    void* (*acquire)(void* context, size_t bytes, size_t alignment);
    /** Releases a whole block. `bytes` is the size passed to acquire. */
    void (*release)(void* context, void* block, size_t bytes);
} tn_block_source;
/** Figures of one allocator. */
typedef struct tn_allocator_stats {
    uint32_t size;
    uint32_t reserved;
    uint64_t live_count;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t reserved_bytes; /**< address space held from the source now, touched or not */
    uint64_t source_blocks;
} tn_allocator_stats;

/* ------------------------------------------------------------------------------------------------------ heaps */

typedef struct tn_heap tn_heap;
/** Heap configuration. Zero in a field selects the default. */
typedef struct tn_heap_options {
    uint32_t size;
    uint32_t reserved;
    tn_text name;                  /**< for reports; copied, up to 63 bytes */
    uint64_t limit_bytes;          /**< maximum memory taken from the source */
    uint64_t purge_delay_ns;       /**< how long freed memory is retained for reuse; UINT64_MAX: no delay */
    uint64_t max_retained_bytes;   /**< maximum of freed huge blocks to retain; UINT64_MAX: retain none */
    const tn_block_source* source; /**< NULL: pages of the system */
    uint64_t no_background;        /**< not zero: the heap's own slow calls purge it, not the background thread */
} tn_heap_options;

/** Creates a heap. `options` may be NULL. Returns NULL when out of memory or when `options` lack their size. */
TN_API tn_heap* tn_heap_create(const tn_heap_options* options);
/** Returns all memory to the source. No thread may use the heap during or after this call. NULL is allowed. */
TN_API void tn_heap_destroy(tn_heap* heap);
TN_API void* tn_heap_allocate(tn_heap* heap, size_t bytes, size_t alignment);
TN_API void* tn_heap_allocate_zeroed(tn_heap* heap, size_t bytes, size_t alignment);
TN_API void* tn_heap_reallocate(tn_heap* heap, void* block, size_t bytes, size_t alignment);
TN_API void tn_heap_deallocate(tn_heap* heap, void* block);
TN_API size_t tn_heap_usable_size(const tn_heap* heap, const void* block);
TN_API uint32_t tn_heap_owns(const tn_heap* heap, const void* pointer);
/** Frees every block and keeps the pages. No other thread may use the heap during this call. */
TN_API void tn_heap_clear(tn_heap* heap);
TN_API size_t tn_heap_trim(tn_heap* heap);
TN_API void tn_heap_get_stats(const tn_heap* heap, tn_allocator_stats* stats);

/* ----------------------------------------------------------------------------------------------------- arenas */

/**
 * An arena: memory that is freed together, for one thread at a time. The layout of these first fields is part of this
 * interface. A caller may allocate in its own code (align, add, compare with the limit, store) and call
 * tn_arena_allocate when there is no room. Both fields are zero when it must not: in checked builds and passthrough.
 */
typedef struct tn_arena {
    uint64_t cursor; /**< address of the next block */
    uint64_t limit;  /**< end of the current chunk */
} tn_arena;
/** A position in an arena, saved by tn_arena_mark. */
typedef struct tn_arena_marker {
    void* chunk;
    uint64_t cursor;
    uint64_t number;
} tn_arena_marker;

/**
 * Creates an arena. A `first_chunk_bytes` of zero means 64 KiB; a NULL `source` means pages of the system. Returns NULL
 * when out of memory, or when `first_chunk_bytes` exceeds PTRDIFF_MAX. If the source cannot supply a chunk of the usual
 * size, the arena asks for one just large enough for the request.
 */
TN_API tn_arena* tn_arena_create(size_t first_chunk_bytes, const tn_block_source* source);
TN_API void tn_arena_destroy(tn_arena* arena);
TN_API void* tn_arena_allocate(tn_arena* arena, size_t bytes, size_t alignment);
/** Frees the block if it is the newest one; otherwise does nothing. */
TN_API void tn_arena_deallocate(tn_arena* arena, void* block, size_t bytes);
TN_API void tn_arena_mark(const tn_arena* arena, tn_arena_marker* marker);
/** Frees everything allocated since the mark. A clear, or a rewind to an earlier marker, makes the marker invalid. */
TN_API void tn_arena_rewind(tn_arena* arena, const tn_arena_marker* marker);
TN_API void tn_arena_clear(tn_arena* arena);
TN_API size_t tn_arena_trim(tn_arena* arena);
TN_API void tn_arena_get_stats(const tn_arena* arena, tn_allocator_stats* stats);

/* ------------------------------------------------------------------------------------------------------ pools */

typedef struct tn_pool tn_pool; /**< blocks of one size, for one thread */
/**
 * Creates a pool. Size and alignment are at most 256 MiB, and the size is at least 1. Returns NULL when out of memory
 * or when an argument is out of range. `source` may be NULL.
 */
TN_API tn_pool* tn_pool_create(size_t bytes, size_t alignment, const tn_block_source* source);
TN_API void tn_pool_destroy(tn_pool* pool);
TN_API void* tn_pool_allocate(tn_pool* pool);
TN_API void tn_pool_deallocate(tn_pool* pool, void* block);
TN_API void tn_pool_clear(tn_pool* pool);
TN_API size_t tn_pool_trim(tn_pool* pool);
TN_API size_t tn_pool_size(const tn_pool* pool);
TN_API void tn_pool_get_stats(const tn_pool* pool, tn_allocator_stats* stats);

typedef struct tn_shared_pool tn_shared_pool; /**< blocks of one size, for any thread */
TN_API tn_shared_pool* tn_shared_pool_create(size_t bytes, size_t alignment, const tn_block_source* source);
TN_API void tn_shared_pool_destroy(tn_shared_pool* pool);
TN_API void* tn_shared_pool_allocate(tn_shared_pool* pool);
TN_API void tn_shared_pool_deallocate(tn_shared_pool* pool, void* block);
/** For clear and trim: no other thread may use the pool during the call. */
TN_API void tn_shared_pool_clear(tn_shared_pool* pool);
TN_API size_t tn_shared_pool_trim(tn_shared_pool* pool);
TN_API size_t tn_shared_pool_size(const tn_shared_pool* pool);
TN_API void tn_shared_pool_get_stats(const tn_shared_pool* pool, tn_allocator_stats* stats);

/* -------------------------------------------------------------------------------------------- affinity groups */

typedef struct tn_affinity_group
    tn_affinity_group; /**< keeps objects that are visited together close together in memory */

/** Affinity group configuration. Zero in a field selects the default; see also tn_affinity_configure. */
typedef struct tn_affinity_options {
    uint32_t size;
    uint32_t any_thread;         /**< not zero: any thread may use the group */
    tn_text name;                /**< for reports; copied, up to 63 bytes */
    uint64_t alignment;          /**< minimum alignment of every object: 4 to 1024; default 8 */
    uint64_t block_bytes;        /**< bytes from the source at a time: 64 KiB to 1 GiB, a power of two; default 2 MiB */
    uint64_t max_retained_bytes; /**< maximum of empty blocks to retain; UINT64_MAX: retain none */
    uint32_t sizes_required;     /**< not zero: every free must pass the size, and the group stores none */
    uint32_t split_by_size;      /**< not zero: each size up to 512 bytes gets its own pages */
    const tn_block_source* source; /**< NULL: pages of the system */
    uint32_t huge_pages;           /**< not zero: pages of 2 MiB if the system has them; not with a `source` */
    uint32_t reserved;
} tn_affinity_options;

/**
 * Creates a group. `options` may be NULL. Returns NULL when out of memory, when an option is out of range, or when any
 * thread may use the group but only one may use its source.
 */
TN_API tn_affinity_group* tn_affinity_create(const tn_affinity_options* options);
/** NULL is allowed. A ready-made group is misuse: it is reported, and stays if a handler returns. */
TN_API void tn_affinity_destroy(tn_affinity_group* group);

/** The ready-made groups of the process, which C++ calls `affinities`. Any thread may use them. */
typedef uint32_t tn_ready_made;
#define TN_AFFINITY_OBJECTS 0u /**< objects that fit none of the others; at multiples of 8 */
#define TN_AFFINITY_DATA 1u    /**< arrays and other data that nodes point to; at multiples of 16 */
#define TN_AFFINITY_NODES 2u   /**< objects that a traversal visits; at multiples of 8 */
#define TN_AFFINITY_PHYSICS 3u /**< objects of a physics engine; at multiples of 16 */

/** A ready-made group: always the same one, created by its first use. NULL for any other number. */
TN_API tn_affinity_group* tn_affinity_ready_made(tn_ready_made which);
/**
 * Configures a group anew, before its first object; no other thread may use it meanwhile. `options` may be NULL. The
 * group keeps its name, and a group for any thread remains one. Zero in `alignment` or `block_bytes` keeps what it was
 * created with: for a ready-made group, its own alignment and what the environment says. Returns TN_INVALID_ARGUMENT
 * when an option is out of range, `size` was not set, or the source does not serve the group's threads, and
 * TN_STILL_HELD when the group has an object or a block (tn_affinity_trim releases empty blocks).
 */
TN_API tn_status tn_affinity_configure(tn_affinity_group* group, const tn_affinity_options* options);
/** Returns 1 if every free must pass the size, because of `sizes_required` or TENURE_AFFINITY_SIZE_REQUIRED; else 0. */
TN_API uint32_t tn_affinity_sizes_required(const tn_affinity_group* group);
TN_API void* tn_affinity_allocate(tn_affinity_group* group, size_t bytes, size_t alignment);
/** Frees an object. Not if tn_affinity_sizes_required(group): use tn_affinity_deallocate_sized. */
TN_API void tn_affinity_deallocate(tn_affinity_group* group, void* object);
TN_API void tn_affinity_deallocate_sized(tn_affinity_group* group, void* object, size_t bytes, size_t alignment);
TN_API void tn_affinity_clear(tn_affinity_group* group);
TN_API size_t tn_affinity_trim(tn_affinity_group* group);
TN_API void tn_affinity_get_stats(const tn_affinity_group* group, tn_allocator_stats* stats);

/* ---------------------------------------------------------------------------------------------------- offsets */

/** Address ranges you manage yourself (GPU buffers, files). One thread at a time; functions that take a `const
 * tn_offset_allocator*` may run in several threads at once while no other function runs. */
typedef struct tn_offset_allocator tn_offset_allocator;
typedef struct tn_offset_range {
    uint64_t offset;
    uint32_t id; /**< UINT32_MAX: empty range */
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

/** Creates an allocator for offsets from 0 to `capacity`, at most 2^62, in a unit of your choice. */
TN_API tn_offset_allocator* tn_offset_create(uint64_t capacity);
TN_API void tn_offset_destroy(tn_offset_allocator* offsets);
/** Allocates a range. A size or an alignment of zero counts as one. */
TN_API tn_status tn_offset_allocate(tn_offset_allocator* offsets, uint64_t size, uint64_t alignment,
                                    tn_offset_range* range);
TN_API void tn_offset_deallocate(tn_offset_allocator* offsets, tn_offset_range range);
/** Frees a range after `frames` more frames have ended, at most 63. */
TN_API void tn_offset_deallocate_after(tn_offset_allocator* offsets, tn_offset_range range, uint32_t frames);
/** Frees the ranges whose frame has ended, and returns their number. Also completes earlier deallocations. */
TN_API uint64_t tn_offset_collect(tn_offset_allocator* offsets);
TN_API tn_status tn_offset_grow(tn_offset_allocator* offsets, uint64_t capacity);
TN_API tn_status tn_offset_shrink(tn_offset_allocator* offsets, uint64_t capacity);
TN_API void tn_offset_clear(tn_offset_allocator* offsets);
TN_API uint64_t tn_offset_size_of(const tn_offset_allocator* offsets, tn_offset_range range);
TN_API void tn_offset_get_usage(const tn_offset_allocator* offsets, tn_offset_usage* usage);
/** Calls `visit` for every range, lowest offset first. `visit` must not change the offsets. */
typedef void (*tn_offset_visitor)(void* context, uint64_t offset, uint64_t size, uint32_t is_free);
TN_API void tn_offset_walk(const tn_offset_allocator* offsets, tn_offset_visitor visit, void* context);

/* ---------------------------------------------------------------------------------------------------- handles */

/** A handle to a piece of memory. All copies become stale when the memory is freed. A handle of all zeros is stale. */
typedef struct tn_handle {
    void* pointer;
    uint64_t bytes;
    uint32_t entry;
    uint32_t generation;
} tn_handle;

typedef uint32_t tn_handle_flags;
#define TN_HANDLE_UNWRITTEN 0u  /**< the memory is uninitialized */
#define TN_HANDLE_ZEROED 1u     /**< the memory is all zero */
#define TN_HANDLE_HUGE_PAGES 2u /**< ask the system for 2 MiB pages; combines with the others */

/**
 * Allocates from the process heap and creates a handle. `kind` names the memory in listings, which show up to 128 bytes
 * of it. The table stores the pointer, so the text must stay valid. NULL means "memory".
 */
TN_API tn_status tn_handle_allocate(size_t bytes, size_t alignment, tn_handle_flags flags, const char* kind,
                                    tn_handle* handle);
/**
 * Maps a file and creates a handle, so that the memory can exceed the machine's RAM. A NULL `path` uses an unnamed file
 * in the system's folder for temporary files. Otherwise the file is created if it does not exist, extended to `bytes`
 * if it is shorter, and stays afterwards. After TN_FILE_ERROR, errno holds the system's reason. TN_OUT_OF_MEMORY means
 * that there is no address space for `bytes`. On failure an existing file is unchanged and a new one is removed.
 */
TN_API tn_status tn_handle_map_file(const char* path, uint64_t bytes, const char* kind, tn_handle* handle);
/** Creates a handle for the caller's memory. `release` may be NULL; it gets the pointer and size passed here. */
typedef void (*tn_handle_releaser)(void* pointer, size_t bytes);
TN_API tn_status tn_handle_add(void* pointer, uint64_t bytes, tn_handle_releaser release, const char* kind,
                               tn_handle* handle);
TN_API uint32_t tn_handle_is_live(const tn_handle* handle);
TN_API tn_status tn_handle_acquire(const tn_handle* handle);
TN_API tn_status tn_handle_release(const tn_handle* handle);
/** Frees the memory; every copy becomes stale. If it is held, returns TN_STILL_HELD and the count in `holders`. */
TN_API tn_status tn_handle_deallocate(const tn_handle* handle, uint32_t* holders);
TN_API uint32_t tn_handle_holders(const tn_handle* handle);

/** A live handle in a listing. The library sets `size` here: do not read fields beyond it. */
typedef struct tn_handle_info {
    uint32_t size;
    uint32_t reserved;
    tn_handle handle;
    uint64_t age_ns;
    const char* kind;
    uint32_t holders;
    uint32_t tag;       /**< tn_tag of the thread that created it */
    void* const* stack; /**< return addresses, with option handle_stack_frames */
    uint64_t stack_count;
} tn_handle_info;
/** Calls `visit` for every live handle. */
typedef void (*tn_handle_visitor)(void* context, const tn_handle_info* info);
TN_API void tn_handle_for_each(tn_handle_visitor visit, void* context);

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

typedef uint32_t tn_tag; /**< an owner name; zero: no tag */
/** Finds or registers an owner name. Returns zero for an empty name, and a shared tag when there are too many names. */
TN_API tn_tag tn_tag_named(const char* name, size_t length);
TN_API void tn_tag_name(tn_tag tag, tn_text* name);
/**
 * Assigns the calling thread's following allocations to `tag`. Returns the previous tag, for tn_tag_end(). An unknown
 * number counts as zero: no tag. Scopes end in reverse order, on their thread: checked builds report other ends.
 */
TN_API tn_tag tn_tag_begin(tn_tag tag);
TN_API void tn_tag_end(tn_tag before);
/** Number of tags. Tags are numbered from 1 to this number. */
TN_API uint32_t tn_tag_count(void);

typedef struct tn_tag_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t persistent_count;
    uint64_t persistent_bytes;
    uint64_t temp_job_count;
    uint64_t temp_job_bytes;
    uint64_t temp_bytes; /**< total ever allocated from Temp */
} tn_tag_usage;
TN_API void tn_tag_get_usage(tn_tag tag, tn_tag_usage* usage);

/* -------------------------------------------------------------------------------- promises, regions and marks */

/*
 * End every begin once, on the same thread. All of these nest. Checked builds report an end without a begin; otherwise
 * such an end does nothing. When nothing observes the process, a begin or an end costs an add and a test.
 */

/** Promises that the calling thread will not allocate until the end. Checked builds report its allocations from this
 * library; the hardened drop-in and `tenure watch` also report every malloc. Frees are allowed. */
TN_API void tn_no_alloc_begin(void);
TN_API void tn_no_alloc_end(void);
/** Permits the calling thread to allocate until the end, despite any promise made before or during it. Inside
 * tn_no_wait_begin() also to free and to lock. */
TN_API void tn_allow_alloc_begin(void);
TN_API void tn_allow_alloc_end(void);
/** Not zero while an allocation by the calling thread would break a promise. */
TN_API uint32_t tn_no_alloc_is_active(void);

/**
 * Promises that the calling thread will allocate nothing, free nothing and take no lock until the end. Checked builds
 * report its allocations and frees through this library; the hardened drop-in also reports every malloc and free;
 * `tenure watch` also reports locks and waits, with their places. Not seen: spin locks and futexes that the program
 * inlines, the C library's calls within itself, and system calls that bypass it. Free of a null pointer counts.
 */
TN_API void tn_no_wait_begin(void);
TN_API void tn_no_wait_end(void);
/** Not zero while a free or a lock would break a promise of the thread. tn_no_alloc_is_active() is then, too. */
TN_API uint32_t tn_no_wait_is_active(void);

/**
 * Marks what the calling thread does until the end as part of the named region, for `tenure watch`. The observer copies
 * up to 63 bytes of a name that it has not seen before.
 */
TN_API void tn_region_begin(const char* name, size_t name_bytes);
TN_API void tn_region_end(void);
/** Marks a moment with a name, for `tenure watch`. */
TN_API void tn_mark(const char* name, size_t name_bytes);

/* ------------------------------------------------------------------------------------------------------- text */

/**
 * The same as C11's snprintf, without its locks and allocations: everything except `%n` and the locale. The text is
 * that of glibc in the locale C.UTF-8; numbers are rounded to nearest, ties to even. Returns -1 and an empty text for
 * `%n`, for a conversion that C11 does not have, for a wide character outside Unicode, and for a width, a precision or
 * a text above INT_MAX. `to` may be NULL if `size` is zero. tenure_text.h has writers that append to a text.
 */
TN_API int tn_snprintf(char* to, size_t size, const char* format, ...) TN_PRINTF(3, 4);
TN_API int tn_vsnprintf(char* to, size_t size, const char* format, va_list arguments) TN_PRINTF(3, 0);

/* -------------------------------------------------------------------------------------- figures and settings */

/** Figures of the whole process. While other threads run, each figure is from some moment during the call. */
typedef struct tn_stats {
    uint32_t size;
    uint32_t heap_is_ours; /**< 0: persistent memory comes from the process's malloc (option passthrough) */
    uint64_t live_count;   /**< allocated blocks of the process heap */
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t committed_bytes;
    uint64_t reserved_bytes;
    uint64_t retained_bytes; /**< freed huge blocks that are retained for reuse */
    uint64_t thread_count;
    uint64_t temp_job_live_count;
    uint64_t temp_job_live_bytes;
    uint64_t temp_job_chunk_bytes;
    uint64_t temp_job_leaked_count;
    uint64_t resident_bytes; /**< of the process heap's memory, what is in memory */
    uint64_t cached_bytes;   /**< free blocks in thread caches of the process heap */
    uint64_t sample_count;   /**< blocks in use that the heap profile has recorded; 0 before its start */
} tn_stats;
TN_API void tn_get_stats(tn_stats* stats);

typedef uint32_t tn_option_origin;
#define TN_ORIGIN_BUILT_IN 0u
#define TN_ORIGIN_ENVIRONMENT 1u
#define TN_ORIGIN_PROGRAM 2u

typedef struct tn_option_info {
    uint32_t size;
    uint32_t origin; /**< where the value comes from: TN_ORIGIN_... */
    tn_text name;
    tn_text environment;
    tn_text help;
    uint64_t value;
    uint64_t built_in;
    uint64_t lowest;
    uint64_t highest;
} tn_option_info;
TN_API uint32_t tn_option_count(void);
/** Reads an option by index. Returns TN_INVALID_ARGUMENT past the last one. */
TN_API tn_status tn_option_at(uint32_t index, tn_option_info* info);
TN_API tn_status tn_option_get(const char* name, size_t length, uint64_t* value);
/** Sets an option from text as in the environment: "64M", "all". Parts that already read it keep the old value. */
TN_API tn_status tn_option_set(const char* name, size_t length, const char* value, size_t value_length);

typedef uint32_t tn_report_kind;
#define TN_REPORT_MISUSE 0u
#define TN_REPORT_INVARIANT 1u
#define TN_REPORT_LEAK 2u
#define TN_REPORT_NOTICE 3u

/** Receives a report, on any thread. It must not allocate from the part that reports. */
typedef void (*tn_report_handler)(void* context, tn_report_kind kind, const char* text, size_t length);
/**
 * Installs a report handler. NULL restores the default, which writes to standard error and aborts the process for
 * misuse and broken invariants. Keep alive what the former handler uses: another thread may still be running it.
 */
TN_API void tn_set_report_handler(tn_report_handler handler, void* context);

#ifdef __cplusplus
}
#endif

#endif
