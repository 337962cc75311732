/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* A plug-in with OpenMP: the program that opens it has none. */

#include <stdlib.h>

int run_plug_in(void) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        void* volatile block = malloc(10);
        free(block);
        sum += 1;
    }
    return sum;
}
