// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Of the shape of Python's json module: reads a document three times, into objects of its own for each number, string,
// list and dictionary. The text of each number is copied into a block that ends when the number is known.
//
// The advice for copy_text() is Temp, with its scope in read_number().

#include <charconv>
#include <cstring>
#include <new>
#include <string_view>

#include <tenure/lifetime/temp.hpp>

#include "shape.hpp"

namespace {

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
T* make_value(kind is, std::size_t bytes = sizeof(T)) {
    T* const made = ::new (std::malloc(bytes)) T;
    made->is = is;
    return made;
}

/// What Python keeps in front of the letters of a bytes object, and the zero behind them.
constexpr std::size_t bytes_around_text = 33;

[[gnu::noinline]] char* copy_text(std::string_view text) {
    const std::size_t bytes = text.size() + bytes_around_text;
    void* block = nullptr;
    if constexpr (shape::is_advised)
        block = tenure::temp::allocate(bytes);
    else
        block = std::malloc(bytes);
    char* const letters = static_cast<char*>(block) + (bytes_around_text - 1);
    std::memcpy(letters, text.data(), text.size());
    letters[text.size()] = '\0';
    return letters;
}

void end_text(char* letters) {
    if constexpr (!shape::is_advised) std::free(letters - (bytes_around_text - 1));
}

number_value* number_of(char* letters) {
    auto* const made = make_value<number_value>(kind::number);
    made->number = std::strtod(letters, nullptr);
    return made;
}

[[gnu::noinline]] value* read_number(std::string_view text) {
    if constexpr (shape::is_advised) {
        const tenure::temp_scope scope;
        return number_of(copy_text(text));
    } else {
        char* const letters = copy_text(text);
        value* const made = number_of(letters);
        end_text(letters);
        return made;
    }
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
        return read_number(digits);
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
        auto* const made = make_value<text_value>(kind::text, sizeof(text_value) + bytes);
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
    for (int round = 0; round < 3; ++round) {
        value* const all = reader(text).read();
        figures found;
        found.add(all);
        char digits[64];
        const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), found.sum);
        out.append(digits, end).append(" ").append(std::to_string(found.letters)).append(" ");
        out.append(std::to_string(found.values)).append("\n");
        release(all);
    }
}

}

int main(int count, char** words) { return shape::run(count, words, &count_values); }
