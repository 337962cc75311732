/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Calls the functions of typed allocation as Clang's -fsanitize=alloc-token does, in C and with both forms of names.
   Says each promise that is broken and ends with 1. */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* __alloc_token_malloc(size_t, size_t);
void* __alloc_token_calloc(size_t, size_t, size_t);
void* __alloc_token_realloc(void*, size_t, size_t);
void* __alloc_token_reallocarray(void*, size_t, size_t, size_t);
void* __alloc_token_aligned_alloc(size_t, size_t, size_t);
void* __alloc_token_memalign(size_t, size_t, size_t);
int __alloc_token_posix_memalign(void**, size_t, size_t, size_t);
void* __alloc_token_valloc(size_t, size_t);
void* __alloc_token_pvalloc(size_t, size_t);
void* __alloc_token__Znwm(size_t, size_t);
void* __alloc_token__Znam(size_t, size_t);
void* __alloc_token__ZnwmRKSt9nothrow_t(size_t, const void*, size_t);
void* __alloc_token__ZnamRKSt9nothrow_t(size_t, const void*, size_t);
void* __alloc_token__ZnwmSt11align_val_t(size_t, size_t, size_t);
void* __alloc_token__ZnamSt11align_val_t(size_t, size_t, size_t);
void* __alloc_token__ZnwmSt11align_val_tRKSt9nothrow_t(size_t, size_t, const void*, size_t);
void* __alloc_token__ZnamSt11align_val_tRKSt9nothrow_t(size_t, size_t, const void*, size_t);
void* __alloc_token_0_malloc(size_t);
void* __alloc_token_3_malloc(size_t);
void* __alloc_token_7_calloc(size_t, size_t);
void* __alloc_token_3__Znwm(size_t);
int __alloc_token_5_posix_memalign(void**, size_t, size_t);
void* __alloc_token_5_realloc(void*, size_t);

enum { token_count = 8, each_count = 3000, slice_bits = 15 };
static const size_t beyond = PTRDIFF_MAX;
static int failed = 0;

static void check(int holds, const char* what) {
    if (holds) return;
    printf("broken: %s\n", what);
    failed = 1;
}

static uintptr_t slice_of(const void* block) { return (uintptr_t)block >> slice_bits; }

/* The blocks that each token was given. Nothing is freed before all are compared. */
static void* blocks[token_count + 1][each_count];

static int share_a_slice(int left, int right) {
    for (int i = 0; i < each_count; ++i) {
        for (int j = 0; j < each_count; ++j) {
            if (slice_of(blocks[left][i]) == slice_of(blocks[right][j])) return 1;
        }
    }
    return 0;
}

static void* fill(void* unused) {
    for (int i = 0; i < each_count; ++i) {
        for (size_t token = 0; token < token_count; ++token) {
            blocks[token][i] = __alloc_token_malloc((size_t)(i % 10) * 50, token);
            memset(blocks[token][i], (int)token, (size_t)(i % 10) * 50);
        }
        blocks[token_count][i] = malloc((size_t)(i % 10) * 50);
    }
    return unused;
}

static void free_all(void) {
    for (int token = 0; token <= token_count; ++token) {
        for (int i = 0; i < each_count; ++i) free(blocks[token][i]);
    }
}

static void tokens_are_apart(void) {
    fill(NULL);
    for (int left = 1; left < token_count; ++left) {
        for (int right = left + 1; right <= token_count; ++right)
            check(!share_a_slice(left, right), "blocks of different tokens are in different pages");
        check(!share_a_slice(left, 0), "blocks of a token are apart from those without");
    }
    check(share_a_slice(0, token_count), "token 0 is malloc");
    for (int token = 0; token < token_count; ++token) {
        for (int i = 0; i < each_count; ++i) {
            const unsigned char* bytes = blocks[token][i];
            for (int at = 0; at < i % 10 * 50; ++at) check(bytes[at] == token, "blocks do not overlap");
        }
    }
    free_all();
}

static void another_thread_frees(void) {
    pthread_t thread;
    check(pthread_create(&thread, NULL, fill, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread runs");
    free_all();
}

/* Both forms of names mean the same token, and hashes keep the halves apart. */
static void forms_agree(void) {
    const size_t half = SIZE_MAX / 2;
    for (int i = 0; i < each_count; ++i) {
        blocks[0][i] = __alloc_token_malloc(64, 3);
        blocks[1][i] = i % 2 == 0 ? __alloc_token_3_malloc(64) : __alloc_token_3__Znwm(64);
        blocks[2][i] = __alloc_token_malloc(64, 1000003u * (size_t)(i + 8) % half);
        blocks[3][i] = __alloc_token_malloc(64, half + 1000003u * (size_t)i % half);
        blocks[4][i] = __alloc_token_0_malloc(64);
        for (int rest = 5; rest <= token_count; ++rest) blocks[rest][i] = NULL;
    }
    check(share_a_slice(0, 1), "the fast form and the argument name the same token");
    check(!share_a_slice(2, 3), "types with pointers are apart from those without");
    check(!share_a_slice(2, 4) && !share_a_slice(3, 4), "hashes are apart from blocks without a token");
    free_all();
}

static int is_zero(const unsigned char* bytes, size_t count) {
    while (count != 0 && bytes[count - 1] == 0) --count;
    return count == 0;
}

static void functions_keep_their_promises(void) {
    for (size_t turn = 0; turn < 200; ++turn) {
        for (size_t bytes = 0; bytes < 200000; bytes = bytes * 2 + 1) {
            void* made[19] = {0};
            errno = 77;
            made[0] = __alloc_token_malloc(bytes, 2);
            made[1] = __alloc_token_calloc(bytes, 1, 2);
            check(is_zero(made[1], bytes), "calloc is zero");
            made[2] = __alloc_token_realloc(NULL, bytes + 1, 2);
            made[3] = __alloc_token_reallocarray(NULL, 2, bytes + 1, 2);
            made[4] = __alloc_token_aligned_alloc(256, bytes, 2);
            made[5] = __alloc_token_memalign(48, bytes, 2);
            check(__alloc_token_posix_memalign(&made[6], 64, bytes, 2) == 0, "posix_memalign succeeds");
            made[7] = __alloc_token_valloc(bytes, 2);
            made[8] = __alloc_token_pvalloc(bytes, 2);
            made[9] = __alloc_token__Znwm(bytes, 2);
            made[10] = __alloc_token__Znam(bytes, 2);
            made[11] = __alloc_token__ZnwmRKSt9nothrow_t(bytes, "", 2);
            made[12] = __alloc_token__ZnamRKSt9nothrow_t(bytes, "", 2);
            made[13] = __alloc_token__ZnwmSt11align_val_t(bytes, 128, 2);
            made[14] = __alloc_token__ZnamSt11align_val_t(bytes, 128, 2);
            made[15] = __alloc_token__ZnwmSt11align_val_tRKSt9nothrow_t(bytes, 128, "", 2);
            made[16] = __alloc_token__ZnamSt11align_val_tRKSt9nothrow_t(bytes, 128, "", 2);
            made[17] = __alloc_token_7_calloc(1, bytes);
            check(is_zero(made[17], bytes), "calloc is zero in the fast form");
            check(__alloc_token_5_posix_memalign(&made[18], 64, bytes) == 0,
                  "posix_memalign succeeds in the fast form");
            check(errno == 77, "success leaves errno");
            const size_t alignments[19] = {16, 16, 16, 16,  256, 64,  64,  4096, 4096, 16,
                                           16, 16, 16, 128, 128, 128, 128, 16,   64};
            for (int each = 0; each < 19; ++each) {
                check(made[each] != NULL && (uintptr_t)made[each] % alignments[each] == 0, "blocks are aligned");
                check(malloc_usable_size(made[each]) >= bytes, "blocks are large enough");
                memset(made[each], 0xEE, malloc_usable_size(made[each]));
                free(made[each]);
            }
        }
    }
}

static void realloc_moves_to_its_token(void) {
    for (int i = 0; i < each_count; ++i) {
        char* block = malloc(40);
        memset(block, i, 40);
        block = i % 2 == 0 ? __alloc_token_realloc(block, 4000, 5) : __alloc_token_5_realloc(block, 4000);
        check(block[0] == (char)i && block[39] == (char)i, "realloc keeps the contents");
        blocks[0][i] = block;
        blocks[1][i] = malloc(4000);
        blocks[2][i] = __alloc_token_malloc(4000, 5);
        for (int rest = 3; rest <= token_count; ++rest) blocks[rest][i] = NULL;
    }
    check(!share_a_slice(0, 1), "realloc moves to the pages of its token");
    check(share_a_slice(0, 2), "and of no other");
    free_all();
    check(__alloc_token_realloc(__alloc_token_malloc(10, 1), 0, 1) == NULL, "realloc to nothing frees");
}

static void refusals_are_those_of_malloc(void) {
    void* kept = &failed;
    errno = 0;
    check(__alloc_token_malloc(beyond, 1) == NULL && errno == ENOMEM, "malloc refuses with ENOMEM");
    errno = 0;
    check(__alloc_token_calloc(beyond, 4, 1) == NULL && errno == ENOMEM, "calloc sees the overflow");
    errno = 0;
    check(__alloc_token_reallocarray(NULL, beyond, 4, 1) == NULL && errno == ENOMEM, "reallocarray sees the overflow");
    errno = 0;
    check(__alloc_token_aligned_alloc(48, 10, 1) == NULL && errno == EINVAL, "aligned_alloc wants a power of two");
    errno = 0;
    check(__alloc_token_pvalloc(SIZE_MAX, 1) == NULL && errno == ENOMEM, "pvalloc sees the overflow");
    errno = 77;
    check(__alloc_token_posix_memalign(&kept, 3, 10, 1) == EINVAL && errno == 77, "posix_memalign returns EINVAL");
    check(__alloc_token_posix_memalign(&kept, 64, beyond, 1) == ENOMEM, "posix_memalign returns ENOMEM");
    check(kept == &failed, "posix_memalign leaves the result");
    check(__alloc_token__ZnwmRKSt9nothrow_t(beyond, "", 1) == NULL, "new (nothrow) refuses");
}

int main(void) {
    tokens_are_apart();
    another_thread_frees();
    forms_agree();
    functions_keep_their_promises();
    realloc_moves_to_its_token();
    refusals_are_those_of_malloc();
    return failed;
}
