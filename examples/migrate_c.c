/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/**
 * \file
 * From malloc to tenure.h, in C: the same work before and after.
 */

#include <stdio.h>
#include <stdlib.h>

#include <tenure/tenure.h>

static int before(void) {
    char* text = malloc(100);
    int* const zeros = calloc(1000, sizeof(int));
    char* const longer = realloc(text, 5000);
    if (longer != NULL) text = longer;
    const int good = text != NULL && zeros != NULL && zeros[999] == 0;
    free(zeros);
    free(text);
    return good;
}

static int after(void) {
    char* text = tn_malloc(100);
    int* const zeros = tn_calloc(1000, sizeof(int));
    char* const longer = tn_realloc(text, 5000);
    if (longer != NULL) text = longer;
    void* const line = tn_aligned_alloc(128, 64); /* the size first, any size */
    const int good = tn_usable_size(text) >= 5000 && zeros != NULL && zeros[999] == 0 && line != NULL;
    tn_free(line);
    tn_free_sized(zeros, 1000 * sizeof(int)); /* with the size, where you know it */
    tn_free(text);
    tn_trim();
    return good;
}

static int scratch(void) {
    tn_temp_scope scope;
    tn_temp_begin(&scope);
    float* const distances = tn_allocate(1000 * sizeof(float), 0, TN_TEMP); /* 0: the default alignment, 16 */
    const int good = distances != NULL;
    if (good) distances[0] = 1;
    tn_temp_end(&scope); /* frees it */
    return good;
}

int main(void) {
    const int good = before() && after() && scratch();
    puts(good ? "the same" : "not the same");
    return good ? 0 : 1;
}
