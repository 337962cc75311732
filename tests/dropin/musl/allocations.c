/* SPDX-FileCopyrightText: Tenure contributors
 * SPDX-License-Identifier: MIT */

/* Allocates, resizes and frees blocks of many sizes in several threads and in the child of a fork, and checks their
 * contents. Knows nothing of what serves it. */

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { block_count = 500, rounds = 2000, thread_count = 4 };

static int is_filled(const unsigned char* block, size_t bytes, unsigned char with) {
    for (size_t at = 0; at < bytes; ++at) {
        if (block[at] != with) return 0;
    }
    return 1;
}

static void* work(void* seed) {
    unsigned char* blocks[block_count] = {0};
    size_t bytes[block_count] = {0};
    uint64_t random = (uint64_t)(uintptr_t)seed * 2654435761u + 1;
    for (int round = 0; round < rounds; ++round) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t index = (random >> 33) % block_count;
        const size_t wanted = (random >> 20) % 100 == 0 ? (random >> 40) % 2000000 + 1 : (random >> 40) % 3000 + 1;
        const unsigned char with = (unsigned char)index;
        if (blocks[index] != NULL && !is_filled(blocks[index], bytes[index], with)) return "contents were lost";
        if (round % 3 == 0) {
            unsigned char* const moved = realloc(blocks[index], wanted);
            const size_t kept = bytes[index] < wanted ? bytes[index] : wanted;
            if (moved == NULL || (blocks[index] != NULL && !is_filled(moved, kept, with))) return "realloc failed";
            blocks[index] = moved;
        } else {
            free(blocks[index]);
            if (round % 3 == 1) {
                blocks[index] = malloc(wanted);
            } else if (round % 2 == 0) {
                blocks[index] = calloc(wanted, 1);
                if (!is_filled(blocks[index], wanted, 0)) return "calloc's block is not zero";
            } else {
                void* aligned = NULL;
                if (posix_memalign(&aligned, 256, wanted) != 0 || (uintptr_t)aligned % 256 != 0)
                    return "posix_memalign failed";
                blocks[index] = aligned;
            }
            if (blocks[index] == NULL) return "malloc failed";
        }
        bytes[index] = wanted;
        if (malloc_usable_size(blocks[index]) < wanted) return "the usable size is too small";
        memset(blocks[index], with, wanted);
    }
    for (int index = 0; index < block_count; ++index) free(blocks[index]);
    return NULL;
}

static int work_in_threads(void) {
    pthread_t threads[thread_count];
    int result = 0;
    for (uintptr_t each = 0; each < thread_count; ++each) {
        if (pthread_create(&threads[each], NULL, work, (void*)(each + 1)) != 0) return 1;
    }
    for (int each = 0; each < thread_count; ++each) {
        void* said = NULL;
        pthread_join(threads[each], &said);
        if (said != NULL) {
            fprintf(stderr, "%s\n", (const char*)said);
            result = 1;
        }
    }
    return result;
}

int main(void) {
    if (work_in_threads() != 0) return 1;
    const pid_t child = fork();
    if (child == 0) _exit(work_in_threads());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "the child ended with %d\n", status);
        return 1;
    }
    return 0;
}
