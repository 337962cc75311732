// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A function that returns memory in Temp and uses scratch memory to compute it: two stacks of Temp.

#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/lifetime/scratch.hpp>

namespace {

template<class T>
using temp_vector = std::vector<T, tenure::stl_allocator<T, tenure::temp_stack>>;

/// Appends the positions of the words to `into`, which is on the stack `results`. The scratch memory comes from the
/// other stack, so the end of its scope leaves `into` alone, however much it grows.
void append_words(std::string_view text, temp_vector<std::size_t>& into, tenure::temp_stack& results) {
    const tenure::scratch_scope scratch(results);
    temp_vector<char> letters(scratch.stack());
    for (const char each : text) letters.push_back(each == '\n' ? ' ' : each);
    for (std::size_t at = 0; at < letters.size(); ++at)
        if (letters[at] != ' ' && (at == 0 || letters[at - 1] == ' ')) into.push_back(at);
}

/// Its own words are scratch memory, so it passes its scope on as the stack for the results of the callee.
std::size_t count_words(std::string_view text) {
    const tenure::scratch_scope scratch;
    temp_vector<std::size_t> words(scratch.stack());
    append_words(text, words, scratch);
    return words.size();
}

}

int main() {
    const tenure::temp_scope scope;
    tenure::temp_stack& results = tenure::temp_stack::first(); // Temp itself
    temp_vector<std::size_t> words(results);
    append_words("two stacks are enough", words, results);
    append_words("for any depth of calls", words, results);
    std::printf("%zu words, then %zu\n", words.size(), count_words("one result at a time"));
    return words.size() == 9 && words[8] == 17 ? 0 : 1;
}
