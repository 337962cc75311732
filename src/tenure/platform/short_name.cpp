// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/short_name.hpp>

#include <cstring>

// Mangled names are those of the Itanium C++ ABI. Names are written as they are read; types are only skipped, so that
// nothing needs to be remembered for substitutions.

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr bool is_digit(char letter) noexcept { return letter >= '0' && letter <= '9'; }
constexpr bool is_lower(char letter) noexcept { return letter >= 'a' && letter <= 'z'; }
constexpr bool is_upper(char letter) noexcept { return letter >= 'A' && letter <= 'Z'; }

struct operator_name {
    char code[3];
    const char* text;
};
constexpr operator_name operators[] = {
    {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"}, {"cl", "()"},  {"ix", "[]"},
    {"eq", "=="},   {"ne", "!="},     {"lt", "<"},       {"gt", ">"},         {"le", "<="},  {"ge", ">="},
    {"ss", "<=>"},  {"ls", "<<"},     {"rs", ">>"},      {"aS", "="},         {"pl", "+"},   {"mi", "-"},
    {"ml", "*"},    {"dv", "/"},      {"rm", "%"},       {"pp", "++"},        {"mm", "--"},  {"pt", "->"},
    {"de", "*"},    {"ad", "&"},      {"an", "&"},       {"or", "|"},         {"eo", "^"},   {"nt", "!"},
    {"co", "~"},    {"aa", "&&"},     {"oo", "||"},      {"ng", "-"},         {"ps", "+"},   {"pL", "+="},
    {"mI", "-="},   {"mL", "*="},     {"dV", "/="},      {"rM", "%="},        {"aN", "&="},  {"oR", "|="},
    {"eO", "^="},   {"lS", "<<="},    {"rS", ">>="},     {"cm", ","},         {"pm", "->*"}, {"aw", " co_await"},
};

[[nodiscard]] bool begins_with(std::string_view text, std::string_view prefix) noexcept {
    return text.size() >= prefix.size() && std::memcmp(text.data(), prefix.data(), prefix.size()) == 0;
}

class name_reader {
public:
    name_reader(std::string_view mangled, char* buffer, std::size_t capacity) noexcept
        : at_(mangled.data()), end_(mangled.data() + mangled.size()), buffer_(buffer), capacity_(capacity) {}

    /// Reads the name of a function, behind "_Z". Its parameters may follow, which are not read.
    [[nodiscard]] bool read() noexcept { return read_name() && length_ != 0; }
    [[nodiscard]] std::string_view text() const noexcept { return {buffer_, length_}; }

private:
    static constexpr int max_depth = 64; // names nest less; a stack may be short

    class level {
    public:
        explicit level(int& depth) noexcept : depth_(depth) { ++depth_; }
        ~level() { --depth_; }
        level(const level&) = delete;
        level& operator=(const level&) = delete;
        [[nodiscard]] bool is_too_deep() const noexcept { return depth_ > max_depth; }

    private:
        int& depth_;
    };

    [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
        return static_cast<std::size_t>(end_ - at_) > ahead ? at_[ahead] : '\0';
    }
    /// Skips letters, of which the last may be missing.
    void skip(std::size_t count) noexcept {
        const auto left = static_cast<std::size_t>(end_ - at_);
        at_ += count < left ? count : left;
    }
    [[nodiscard]] bool take(char letter) noexcept {
        if (peek() != letter) return false;
        ++at_;
        return true;
    }
    void write(std::string_view part) noexcept {
        if (silent_ != 0) return;
        const std::size_t room = capacity_ - length_;
        const std::size_t taken = part.size() < room ? part.size() : room;
        if (taken != 0) std::memcpy(buffer_ + length_, part.data(), taken);
        length_ += taken;
    }
    void write_component(std::string_view name) noexcept {
        if (is_qualified_) write("::");
        is_qualified_ = true;
        write(name);
    }

    /// Names within types are not those of the class.
    void keep_class(std::string_view name) noexcept {
        if (silent_ == 0) class_ = name;
    }

    [[nodiscard]] bool read_number(std::size_t& value) noexcept {
        if (!is_digit(peek())) return false;
        for (value = 0; is_digit(peek()) && value < 100'000; ++at_)
            value = value * 10 + static_cast<std::size_t>(*at_ - '0');
        return true;
    }
    [[nodiscard]] bool read_text(std::string_view& text) noexcept {
        std::size_t bytes = 0;
        if (!read_number(bytes) || bytes > static_cast<std::size_t>(end_ - at_)) return false;
        text = {at_, bytes};
        at_ += bytes;
        return true;
    }
    /// The number of a parameter, substitution or discriminator, up to its underscore.
    [[nodiscard]] bool skip_sequence() noexcept {
        while (is_digit(peek()) || is_upper(peek())) ++at_;
        return take('_');
    }

    bool read_name() noexcept {
        const level here(depth_);
        if (here.is_too_deep()) return false;
        static_cast<void>(take('L')); // of one file only
        if (take('N')) return read_nested();
        if (take('Z')) return read_local();
        if (peek() == 'S' && peek(1) != 't') return skip_substitution() && read_arguments();
        if (peek() == 'S') {
            at_ += 2;
            write_component("std");
        }
        return read_component() && read_arguments();
    }

    /// Behind 'N', up to its 'E'.
    bool read_nested() noexcept {
        while (peek() == 'r' || peek() == 'V' || peek() == 'K') ++at_;
        if (peek() == 'R' || peek() == 'O') ++at_;
        while (!take('E')) {
            bool is_read = false;
            if (peek() == 'I') {
                is_read = read_arguments();
            } else if (peek() == 'S') {
                is_read = skip_substitution();
            } else if (peek() == 'T') {
                is_read = skip_type();
            } else if (take('M')) { // what was read is a variable, and its initialiser has a lambda
                is_read = peek() == 'U';
            } else {
                is_read = read_component();
            }
            if (!is_read) return false;
        }
        return true;
    }

    /// Behind 'Z': a function, and what is inside it.
    bool read_local() noexcept {
        if (!read_name()) return false;
        ++silent_;
        while (peek() != 'E' && skip_type()) {}
        --silent_;
        if (!take('E')) return false;
        if (take('s')) return true; // a string
        if (take('d')) {            // in a default argument
            while (is_digit(peek())) ++at_;
            if (!take('_')) return false;
        }
        if (!read_name()) return false;
        return skip_discriminator();
    }
    bool skip_discriminator() noexcept {
        if (!take('_')) return true;
        if (take('_')) return skip_sequence();
        if (!is_digit(peek())) return false;
        ++at_;
        return true;
    }

    bool read_component() noexcept {
        static_cast<void>(take('L'));
        if (is_digit(peek())) {
            std::string_view text;
            if (!read_text(text)) return false;
            if (begins_with(text, "_GLOBAL__N_")) text = "(anonymous namespace)";
            if (begins_with(text, "$_")) text = "{lambda}"; // Clang's, outside functions
            write_component(text);
            keep_class(text);
        } else if (is_digit(peek(1)) && (peek() == 'C' || peek() == 'D')) {
            write_component(peek() == 'D' ? "~" : "");
            write(class_);
            at_ += 2;
        } else if (peek() == 'C' && peek(1) == 'I' && is_digit(peek(2))) { // inherited from a base
            write_component(class_);
            at_ += 3;
            return skip_type();
        } else if (peek() == 'U' && (peek(1) == 'l' || peek(1) == 't')) {
            if (!read_unnamed()) return false;
        } else if (!read_operator()) {
            return false;
        }
        while (take('B')) { // an ABI's tag
            std::string_view tag;
            if (!read_text(tag)) return false;
        }
        return true;
    }

    bool read_unnamed() noexcept {
        const bool is_lambda = peek(1) == 'l';
        at_ += 2;
        write_component(is_lambda ? "{lambda}" : "{unnamed}");
        ++silent_;
        while (is_lambda && peek() != 'E' && skip_parameter_of_lambda()) {}
        --silent_;
        if (is_lambda && !take('E')) return false;
        while (is_digit(peek())) ++at_;
        return take('_');
    }

    /// A type, or the declaration of a template parameter in front of the types.
    bool skip_parameter_of_lambda() noexcept {
        if (peek() != 'T') return skip_type();
        if (peek(1) == 'p') at_ += 2; // a pack
        if (peek(1) == 'y') {
            at_ += 2;
            return true;
        }
        if (peek(1) == 'n') at_ += 2;
        return skip_type();
    }

    bool read_operator() noexcept {
        if (peek() == 'c' && peek(1) == 'v') {
            at_ += 2;
            write_component("operator (type)");
            ++silent_;
            const bool is_skipped = skip_type();
            --silent_;
            return is_skipped;
        }
        if (peek() == 'l' && peek(1) == 'i') {
            at_ += 2;
            std::string_view suffix;
            if (!read_text(suffix)) return false;
            write_component("operator\"\"");
            write(suffix);
            return true;
        }
        for (const operator_name& each : operators) {
            if (peek() != each.code[0] || peek(1) != each.code[1]) continue;
            at_ += 2;
            write_component("operator");
            write(each.text);
            return true;
        }
        return false;
    }

    /// The arguments of a template, if they follow.
    bool read_arguments() noexcept {
        if (peek() != 'I') return true;
        write("<...>");
        return skip_list();
    }
    /// A list behind 'I' or 'J', up to its 'E'.
    bool skip_list() noexcept {
        const level here(depth_);
        if (here.is_too_deep()) return false;
        ++at_;
        ++silent_;
        bool good = true;
        while (good && !take('E')) good = skip_argument();
        --silent_;
        return good;
    }
    bool skip_argument() noexcept {
        if (peek() == 'I' || peek() == 'J') return skip_list();
        if (take('L')) return skip_literal();
        if (take('X')) return skip_expression();
        return skip_type();
    }
    /// Behind 'L', up to its 'E'.
    bool skip_literal() noexcept {
        if (peek() == '_' && peek(1) == 'Z') ++at_;
        if (take('Z')) {
            if (!read_name()) return false;
            while (peek() != 'E' && skip_type()) {}
            return take('E');
        }
        if (!skip_type()) return false;
        while (is_digit(peek()) || is_lower(peek()) || peek() == '_') ++at_;
        return take('E');
    }
    /// Up to the expression's 'E'. Operators are two lower-case letters; some have lists of operands with an 'E' too.
    bool skip_expression() noexcept {
        const level here(depth_);
        if (here.is_too_deep()) return false;
        while (at_ < end_) {
            if (take('E')) return true;
            bool is_skipped = true;
            if (take('L')) {
                is_skipped = skip_literal();
            } else if (peek() == 'T' || peek() == 'N' || peek() == 'S' || is_digit(peek())) {
                is_skipped = skip_type();
            } else if (peek() == 'I' || peek() == 'J') {
                is_skipped = skip_list();
            } else if ((peek() == 'c' && peek(1) == 'l') || (peek() == 'i' && peek(1) == 'l') ||
                       (peek() == 't' && peek(1) == 'l')) {
                at_ += 2;
                is_skipped = skip_expression();
            } else {
                ++at_;
            }
            if (!is_skipped) return false;
        }
        return false;
    }

    bool skip_substitution() noexcept {
        ++at_; // 'S'
        constexpr std::string_view standard = "tabsiod";
        for (const char& each : standard) {
            if (peek() != each) continue;
            ++at_;
            constexpr const char* names[] = {"std",          "std::allocator", "std::basic_string", "std::string",
                                             "std::istream", "std::ostream",   "std::iostream"};
            constexpr const char* class_names[] = {"",        "allocator", "basic_string", "string",
                                                   "istream", "ostream",   "iostream"};
            const std::string_view name = names[&each - standard.data()];
            write_component(name);
            keep_class(class_names[&each - standard.data()]);
            return true;
        }
        return skip_sequence();
    }

    bool skip_type() noexcept {
        const level here(depth_);
        if (here.is_too_deep()) return false;
        ++silent_;
        const bool is_skipped = skip_type_silently();
        --silent_;
        return is_skipped;
    }
    bool skip_type_silently() noexcept {
        while (peek() == 'P' || peek() == 'R' || peek() == 'O' || peek() == 'K' || peek() == 'V' || peek() == 'r' ||
               peek() == 'C' || peek() == 'G')
            ++at_;
        if (is_digit(peek())) return read_component() && read_arguments();
        switch (peek()) {
        case 'N': ++at_; return read_nested();
        case 'Z': ++at_; return read_local();
        case 'S':
            if (peek(1) != 't') return skip_substitution() && read_arguments();
            at_ += 2;
            return read_component() && read_arguments();
        case 'T':
            ++at_;
            if (peek() == 's' || peek() == 'u' || peek() == 'e') {
                ++at_;
                return read_name();
            }
            return skip_sequence() && read_arguments();
        case 'F':
            ++at_;
            while (peek() != 'E') {
                if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
                    ++at_;
                } else if (!(take('Y') || skip_type())) {
                    return false;
                }
            }
            return take('E');
        case 'A':
            ++at_;
            while (is_digit(peek())) ++at_;
            return take('_') && skip_type();
        case 'M': ++at_; return skip_type() && skip_type();
        case 'D': return skip_special_type();
        case 'u': ++at_; return read_component() && read_arguments();
        default:
            if (!is_lower(peek())) return false;
            ++at_; // built in
            return true;
        }
    }
    /// Types that begin with 'D'.
    bool skip_special_type() noexcept {
        const char kind = peek(1);
        skip(2);
        if (kind == 'p') return skip_type();
        if (kind == 't' || kind == 'T') return skip_expression();
        if (kind == 'o') return skip_type();
        if (kind == 'v' || kind == 'B' || kind == 'U') {
            while (is_digit(peek())) ++at_;
            return take('_') && (kind != 'v' || skip_type());
        }
        return is_lower(kind);
    }

    const char* at_;
    const char* end_;
    char* buffer_;
    std::size_t capacity_;
    std::size_t length_ = 0;
    std::string_view class_; ///< that a constructor or destructor is named by
    bool is_qualified_ = false;
    int silent_ = 0;
    int depth_ = 0;
};

[[nodiscard]] bool take_prefix(std::string_view& text, std::string_view prefix) noexcept {
    if (!begins_with(text, prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// "Thn16_" or "Tv0_n24_": a function that corrects the object's address and goes on in another.
void skip_thunk(std::string_view& rest) noexcept {
    const std::size_t offsets = take_prefix(rest, "Th") ? 1 : take_prefix(rest, "Tv") ? 2 : 0;
    for (std::size_t index = 0; index < offsets; ++index) {
        while (!rest.empty() && rest[0] != '_') rest.remove_prefix(1);
        static_cast<void>(take_prefix(rest, "_"));
    }
}

void skip_qualifiers(std::string_view& rest) noexcept {
    while (take_prefix(rest, "r") || take_prefix(rest, "V") || take_prefix(rest, "K") || take_prefix(rest, "R") ||
           take_prefix(rest, "O")) {}
}

}

std::string_view short_name(std::string_view mangled, char* buffer, std::size_t capacity) noexcept {
    std::string_view rest = mangled;
    if (begins_with(rest, "_GLOBAL__sub_I_")) {
        constexpr std::string_view initialisers = "(initialisers of a file)";
        const std::size_t taken = initialisers.size() < capacity ? initialisers.size() : capacity;
        if (taken != 0) std::memcpy(buffer, initialisers.data(), taken);
        return {buffer, taken};
    }
    if (!take_prefix(rest, "_Z")) return mangled;
    name_reader reader(rest, buffer, capacity);
    return reader.read() ? reader.text() : mangled;
}

bool is_own_name(std::string_view mangled) noexcept {
    std::string_view rest = mangled;
    if (take_prefix(rest, "tn_")) return true;
    if (!take_prefix(rest, "_Z")) return false;
    skip_thunk(rest);
    while (take_prefix(rest, "Z") || take_prefix(rest, "L")) {} // inside a function of ours
    if (!take_prefix(rest, "N")) return false;
    skip_qualifiers(rest);
    constexpr std::string_view abi = TENURE_TEXT(TENURE_ABI);
    static_assert(abi.size() == 12);
    return take_prefix(rest, "6tenure12") && take_prefix(rest, abi);
}

bool is_standard_name(std::string_view mangled) noexcept {
    std::string_view rest = mangled;
    if (!take_prefix(rest, "_Z")) return false;
    if (take_prefix(rest, "N")) skip_qualifiers(rest);
    return take_prefix(rest, "St") || take_prefix(rest, "9__gnu_cxx");
}

bool is_global_new_or_delete(std::string_view mangled) noexcept {
    std::string_view rest = mangled;
    return take_prefix(rest, "_Zn") || take_prefix(rest, "_Zd");
}

}
