// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// For `tenure advise`: evaluates rows with scratch memory, and keeps nodes of one size. With the argument "nothing" it
// ends at once.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t rows = 3000, cells = 24, kept_nodes = 200;

struct node {
    node* next;
    long values[5];
};

[[gnu::noinline]] char* make_cell(std::size_t row, std::size_t column) {
    const std::size_t bytes = 32 + (row * 7 + column * 13) % 200;
    char* const cell = static_cast<char*>(std::malloc(bytes));
    std::memset(cell, static_cast<int>(column), bytes);
    return cell;
}

/// All its memory ends with the call.
[[gnu::noinline]] long evaluate_row(std::size_t row) {
    char* made[cells];
    long sum = 0;
    for (std::size_t i = 0; i < cells; ++i) made[i] = make_cell(row, i);
    for (std::size_t i = cells; i-- > 0;) {
        sum += made[i][1];
        std::free(made[i]);
    }
    return sum;
}

[[gnu::noinline]] node* make_node(long value) {
    node* const made = new node;
    made->next = nullptr;
    made->values[0] = value;
    return made;
}

[[gnu::noinline]] void end_node(node* ended) { delete ended; }

}

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "nothing") == 0) return 0;
    std::vector<node*> nodes(kept_nodes);
    long sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        sum += evaluate_row(row);
        node*& place = nodes[row * 31 % kept_nodes];
        end_node(place);
        place = make_node(sum);
    }
    std::printf("%ld\n", sum);
    for (node* const each : nodes) end_node(each);
    return 0;
}
