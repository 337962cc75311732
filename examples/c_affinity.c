/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/**
 * \file
 * An affinity group of your own in C: the nodes of a tree, stored together in the order of their allocation.
 */

#include <stdio.h>

#include <tenure/tenure.h>

typedef struct node {
    struct node* left;
    struct node* right;
    int value;
} node;

static node* grow(tn_affinity_group* nodes, int levels) {
    node* const made = tn_affinity_allocate(nodes, sizeof(node), 0);
    if (made == NULL) return NULL;
    made->value = 1;
    made->left = levels > 1 ? grow(nodes, levels - 1) : NULL;
    made->right = levels > 1 ? grow(nodes, levels - 1) : NULL;
    return made;
}

static int sum(const node* tree) { return tree == NULL ? 0 : tree->value + sum(tree->left) + sum(tree->right); }

int main(void) {
    /* Fields that are zero have their defaults. */
    const tn_affinity_options options = {
        .size = sizeof options, .name = {"tree", 4}, .sizes_required = 1 /* every free passes the size */};
    tn_affinity_group* const nodes = tn_affinity_create(&options);
    if (nodes == NULL) return 1;
    node* const tree = grow(nodes, 10);
    const int total = sum(tree);
    printf("%d nodes\n", total);
    if (tree != NULL) tn_affinity_deallocate_sized(nodes, tree, sizeof(node), 0); /* one object */
    tn_affinity_clear(nodes);                                                     /* and all others at once */
    tn_affinity_destroy(nodes);
    return total == 1023 ? 0 : 1;
}
