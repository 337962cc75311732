/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* What a game engine in C writes with tenure_engine.h. */

#include <string.h>

#include <tenure/tenure_engine.h>

/* Returns the words of a text, on the stack `results`; its own lists are on the other one. */
static size_t* find_words(const char* text, size_t* count, tn_temp_stack results) {
    tn_scratch_scope scope;
    const tn_temp_stack scratch = tn_scratch_begin(&scope, results);
    const size_t length = strlen(text);
    size_t* const found = tn_temp_stack_allocate(scratch, (length + 1) * sizeof(size_t), 0);
    size_t* words = NULL;
    size_t at;
    *count = 0;
    for (at = 0; found != NULL && at < length; ++at)
        if (text[at] != ' ' && (at == 0 || text[at - 1] == ' ')) found[(*count)++] = at;
    words = tn_temp_stack_allocate(results, *count * sizeof(size_t), 0);
    if (words != NULL && found != NULL) memcpy(words, found, *count * sizeof(size_t));
    tn_scratch_end(&scope);
    return words;
}

typedef struct monster {
    int health;
    tn_pool_handle target; /* may outlive the target: then it is stale */
} monster;

typedef struct hit {
    float x, y;
    int damage;
} hit;

/* Returns zero when all is as it should be. */
static int remember_hits(void) {
    tn_stable_vector* const hits = tn_stable_vector_create(sizeof(hit), 0, 1000000); /* addresses; memory as it grows */
    hit* const first = tn_stable_vector_append(hits, 1);
    int failures = first == NULL;
    if (first != NULL) first->damage = 10;
    for (int count = 0; count < 100000; ++count) {
        hit* const more = tn_stable_vector_append(hits, 1);
        if (more != NULL) more->damage = 1;
    }
    int damage = 0;
    const hit* const all = tn_stable_vector_data(hits);
    for (size_t at = 0; at < tn_stable_vector_size(hits); ++at) damage += all[at].damage;
    failures += first != all || damage != 100010; /* nothing has moved */
    tn_stable_vector_destroy(hits);
    return failures;
}

/* Returns zero when all is as it should be. */
int use_engine(void);
int use_engine(void) {
    int failures = 0;
    size_t count = 0;
    tn_temp_scope scope;
    tn_temp_begin(&scope);
    size_t* const words = find_words("two stacks are enough", &count, TN_TEMP_FIRST);
    failures += words == NULL || count != 4 || words[3] != 15;
    tn_temp_end(&scope);

    tn_handle_pool* const monsters = tn_handle_pool_create(sizeof(monster), 0, 1000);
    void* place = NULL;
    const tn_pool_handle dragon = tn_handle_pool_allocate(monsters, &place);
    failures += dragon == 0 || tn_handle_pool_get(monsters, dragon) != place;
    tn_handle_pool_deallocate(monsters, dragon);
    failures += tn_handle_pool_get(monsters, dragon) != NULL;
    tn_handle_pool_destroy(monsters);

    failures += remember_hits();

    tn_frame_memory* const commands = tn_frame_memory_create(3, NULL); /* triple buffering */
    failures += tn_frame_memory_allocate(commands, 1000, 0) == NULL;
    tn_next_frame();
    tn_frame_memory_destroy(commands);
    return failures;
}
