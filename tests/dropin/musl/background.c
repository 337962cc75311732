/* SPDX-FileCopyrightText: Tenure contributors
 * SPDX-License-Identifier: MIT */

/* Frees much and allocates no more: ends well if a thread is there that gives the memory back. Knows nothing of what
 * serves it. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { block_count = 400, block_bytes = 40000 };

static int count_threads(void) {
    DIR* const folder = opendir("/proc/self/task");
    int count = -2; /* "." and ".." */
    if (folder == NULL) return 0;
    while (readdir(folder) != NULL) ++count;
    closedir(folder);
    return count;
}

int main(void) {
    static char* blocks[block_count];
    for (int each = 0; each < block_count; ++each) {
        blocks[each] = malloc(block_bytes);
        if (blocks[each] == NULL) return 1;
        memset(blocks[each], each, block_bytes);
    }
    for (int each = 0; each < block_count; ++each) free(blocks[each]);
    for (int tries = 0; tries < 1000; ++tries) {
        const struct timespec pause = {0, 10000000};
        if (count_threads() == 2) return 0;
        nanosleep(&pause, NULL);
    }
    fprintf(stderr, "no thread has started\n");
    return 1;
}
