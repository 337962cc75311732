// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Of the shape of jq: reads a document into a tree, with an object of its own for each number, string, list and
// dictionary, computes figures of it, and ends the tree value by value.
//
// The advice for make_text() is an arena: the strings end together.

#include <charconv>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include <tenure/arena/arena.hpp>

#include "shape.hpp"

namespace {

std::optional<tenure::arena> items; // applied advice

enum class kind : std::uint8_t { number, text, list, dictionary };

struct value {
    std::uint64_t references = 1;
    kind is = kind::number;
};
struct number_value : value {
    double number = 0;
};
struct text_value : value {
    std::size_t bytes = 0;
    char letters[1];
};
struct list_value : value {
    std::size_t count = 0, room = 0;
    value** items = nullptr; ///< of a dictionary: a key and its value in turn
};

template<class T>
T* make_value(kind is) {
    T* const made = ::new (std::malloc(sizeof(T))) T;
    made->is = is;
    return made;
}

[[gnu::noinline]] void* make_text(std::size_t bytes) {
    if constexpr (shape::is_advised)
        return items->allocate(bytes);
    else
        return std::malloc(bytes);
}

void end_text(void* text) {
    if constexpr (!shape::is_advised) std::free(text);
}

class reader {
public:
    explicit reader(std::string_view text) : rest_(text) {}

    value* read() {
        skip_spaces();
        switch (rest_.front()) {
        case '"': return read_text();
        case '[': return read_list(kind::list, ']');
        case '{': return read_list(kind::dictionary, '}');
        default: break;
        }
        const std::size_t end = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
        const std::string_view digits = rest_.substr(0, end);
        rest_.remove_prefix(end);
        auto* const made = make_value<number_value>(kind::number);
        std::from_chars(digits.data(), digits.data() + digits.size(), made->number);
        return made;
    }

private:
    void skip_spaces() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
    }
    bool take(char letter) {
        skip_spaces();
        if (rest_.empty() || rest_.front() != letter) return false;
        rest_.remove_prefix(1);
        return true;
    }

    value* read_text() {
        rest_.remove_prefix(1);
        const std::size_t bytes = rest_.find('"');
        auto* const made = ::new (make_text(sizeof(text_value) + bytes)) text_value;
        made->is = kind::text;
        made->bytes = bytes;
        std::memcpy(made->letters, rest_.data(), bytes);
        rest_.remove_prefix(bytes + 1);
        return made;
    }

    static void add(list_value& to, value* item) {
        if (to.count == to.room) {
            to.room += to.room / 8 + 8;
            to.items = static_cast<value**>(std::realloc(to.items, to.room * sizeof(value*)));
        }
        to.items[to.count++] = item;
    }

    value* read_list(kind is, char last) {
        rest_.remove_prefix(1);
        auto* const made = make_value<list_value>(is);
        while (!take(last)) {
            add(*made, read());
            if (is == kind::dictionary && take(':')) add(*made, read());
            take(',');
        }
        return made;
    }

    std::string_view rest_;
};

void release(value* of) {
    if (--of->references != 0) return;
    if (of->is == kind::text) return end_text(of);
    if (of->is == kind::list || of->is == kind::dictionary) {
        auto& list = *static_cast<list_value*>(of);
        for (std::size_t each = 0; each < list.count; ++each) release(list.items[each]);
        std::free(list.items);
    }
    std::free(of);
}

struct figures {
    double sum = 0;
    std::size_t letters = 0, values = 0;

    void add(const value* of) {
        ++values;
        if (of->is == kind::number) sum += static_cast<const number_value*>(of)->number;
        if (of->is == kind::text) letters += static_cast<const text_value*>(of)->bytes;
        if (of->is != kind::list && of->is != kind::dictionary) return;
        const auto& list = *static_cast<const list_value*>(of);
        for (std::size_t each = 0; each < list.count; ++each) add(list.items[each]);
    }
};

void count_values(std::string_view text, std::string& out) {
    if constexpr (shape::is_advised) items.emplace();
    value* const all = reader(text).read();
    figures found;
    found.add(all);
    char digits[64];
    const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), found.sum);
    out.append(digits, end).append(" ").append(std::to_string(found.letters)).append(" ");
    out.append(std::to_string(found.values)).append("\n");
    release(all);
    if constexpr (shape::is_advised) items->clear(); // once, instead of every free
}

}

int main(int count, char** words) { return shape::run(count, words, &count_values); }
