/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */
#ifndef TENURE_TENURE_TEXT_H
#define TENURE_TENURE_TEXT_H

/**
 * \file
 * Text writers for C: records appended to memory that you provide, and records of many objects written by many threads.
 * The conventions are those of tenure.h, which also has tn_snprintf.
 */

#include <tenure/tenure.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------- one text */

/**
 * Appends to a text in memory of the caller, who may read and write these fields: the text is `first` to `cursor`,
 * without a terminating zero. When something does not fit, nothing more is written, not even part of a call, and
 * `missed_bytes` counts what is missing. One thread at a time. No call allocates or takes a lock.
 */
typedef struct tn_text_writer {
    char* first;
    char* cursor;
    char* end; /**< of the memory; equal to `cursor` once something did not fit */
    uint64_t missed_bytes;
} tn_text_writer;

/** Starts an empty text of at most `bytes` bytes at `to`. All of them may be written to, also those behind the text. */
TN_API void tn_text_writer_start(tn_text_writer* writer, char* to, size_t bytes);
TN_API void tn_text_writer_append(tn_text_writer* writer, const char* text, size_t bytes);
TN_API void tn_text_writer_append_int(tn_text_writer* writer, int64_t number);
TN_API void tn_text_writer_append_uint(tn_text_writer* writer, uint64_t number);
/** The same as "%.*f", with a precision of at most 64. */
TN_API void tn_text_writer_append_fixed(tn_text_writer* writer, double value, uint32_t precision);
/** The same as tn_snprintf, without a zero. A refused format appends nothing, and checked builds report it. */
TN_API void tn_text_writer_printf(tn_text_writer* writer, const char* format, ...) TN_PRINTF(2, 3);
TN_API void tn_text_writer_vprintf(tn_text_writer* writer, const char* format, va_list arguments) TN_PRINTF(2, 0);
/** Appends what was written to `cursor` by other means, or counts it as missed if it exceeds the memory. */
TN_API void tn_text_writer_advance(tn_text_writer* writer, size_t bytes);
/** Bytes that all text so far needs, written or not. */
TN_API uint64_t tn_text_writer_needed_bytes(const tn_text_writer* writer);

/* ------------------------------------------------------------------------------------------------ many records */

/**
 * Writes records of many objects as one text, from many threads at once. Only tn_paged_writer_reserve allocates. The
 * work may use any threads; everything else is for one thread at a time.
 */
typedef struct tn_paged_writer tn_paged_writer;

/** What to write. All functions get `context`. */
typedef struct tn_page_work {
    uint32_t size;
    uint32_t reserved;
    void* context;
    /** Writes one record. Calls for different pages run concurrently. */
    void (*write_object)(void* context, tn_text_writer* to, size_t page, size_t object);
    /** Calls `body(body_context, page)` once for each page below `count`, on any threads, and returns when all calls
        have returned. NULL: on the calling thread, in order. */
    void (*run)(void* context, size_t count, void (*body)(void* body_context, size_t page), void* body_context);
    /** The number of objects of a page; for tn_paged_writer_write_pages alone. */
    size_t (*objects_of)(void* context, size_t page);
} tn_page_work;

/** Text of a page. The layout is that of struct iovec, for writev(). */
typedef struct tn_text_piece {
    char* data;
    size_t size_bytes;
} tn_text_piece;

/** The first record, by page and object, that was longer than its bound; all zero if there is none. */
typedef struct tn_page_error {
    uint32_t size;
    uint32_t reserved;
    uint64_t page;
    uint64_t object; /**< index within the page */
    uint64_t needed_bytes;
    uint64_t bound_bytes;
} tn_page_error;

/** Creates a writer without memory. `source` may be NULL. Returns NULL when out of memory. */
TN_API tn_paged_writer* tn_paged_writer_create(const tn_block_source* source);
TN_API void tn_paged_writer_destroy(tn_paged_writer* writer);
/** Reserves memory for a round, or keeps the current memory if it is enough. Discards the text of the last round. */
TN_API tn_status tn_paged_writer_reserve(tn_paged_writer* writer, size_t pages, size_t objects_per_page,
                                         size_t bytes_per_object);
/**
 * Writes `objects` objects, page by page; the last page may have fewer. Returns TN_INVALID_ARGUMENT, and there is no
 * text, when a record exceeds its bound (see tn_paged_writer_get_error), when there are more objects than reserved,
 * when `run` left pages out, or when `work` lacks its size or a function.
 */
TN_API tn_status tn_paged_writer_write(tn_paged_writer* writer, size_t objects, const tn_page_work* work);
/** The same with pages of different sizes, as `objects_of` tells. */
TN_API tn_status tn_paged_writer_write_pages(tn_paged_writer* writer, size_t pages, const tn_page_work* work);
TN_API void tn_paged_writer_get_error(const tn_paged_writer* writer, tn_page_error* error);
/** The text of each page, in order, valid until the next call that writes, reserves or trims. Returns their number. */
TN_API size_t tn_paged_writer_pieces(const tn_paged_writer* writer, const tn_text_piece** pieces);
/** Joins the text into one piece: moves each page up to the end of the previous one, unless it is already there. */
TN_API void tn_paged_writer_join(tn_paged_writer* writer, tn_text* text);
/** Bytes of the text. */
TN_API size_t tn_paged_writer_size(const tn_paged_writer* writer);
/** Releases the memory; reserve again before the next round. Returns the number of bytes. */
TN_API size_t tn_paged_writer_trim(tn_paged_writer* writer);

#ifdef __cplusplus
}
#endif

#endif
