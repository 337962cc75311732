// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Names of functions in reports. Any bytes are read without an access past their end or past the buffer, and give a
// name or themselves. Names that are made of the fuzzer's bytes by the rules of the ABI give the name that was meant.

#include <tenure/platform/short_name.hpp>

#include <string>
#include <string_view>
#include <utility>

#include "operations.hpp"

namespace {

/// A copy without a zero at its end: AddressSanitizer sees each access past it.
class exact_text {
public:
    explicit exact_text(std::string_view text) : bytes_(text.begin(), text.end()) { bytes_.shrink_to_fit(); }
    [[nodiscard]] std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

private:
    std::vector<char> bytes_;
};

std::string shortened(std::string_view name, std::size_t room) {
    const exact_text exact(name);
    std::vector<char> buffer(room);
    const std::string_view text = tenure::platform::short_name(exact.view(), buffer.data(), buffer.size());
    if (text.data() == buffer.data()) fuzz::require(text.size() <= room, "the name fits");
    return std::string(text);
}

void read_any(std::string_view name, std::size_t room) {
    const std::string whole = shortened(name, 10 * name.size() + 64);
    const std::string cut = shortened(name, room);
    fuzz::require(cut == name || whole.substr(0, room) == cut, "a short buffer has the begin of the name");
    const exact_text exact(name);
    const bool is_own = tenure::platform::is_own_name(exact.view());
    const bool is_standard = tenure::platform::is_standard_name(exact.view());
    fuzz::require(!is_own || !is_standard, "a function is of one library");
    static_cast<void>(tenure::platform::is_global_new_or_delete(exact.view()));
}

/// Makes mangled names.
class name_maker {
public:
    explicit name_maker(fuzz::input& from) : from_(from) {}

    /// "_Z", a function and its parameters. Returns   also the name that is meant.
    std::pair<std::string, std::string> function() {
        auto made = function_in("");
        return {"_Z" + made.first, made.second};
    }

private:
    static constexpr int max_depth = 12;

    std::size_t below(std::size_t end) { return from_.byte() % end; }

    std::string identifier() {
        std::string made(1 + below(12), 'a');
        for (char& each : made) each = "abcXYZ_EINSTZ"[below(13)];
        return made;
    }
    static std::string with_length(const std::string& name) { return std::to_string(name.size()) + name; }

    std::string types(std::size_t count) {
        std::string made;
        while (count-- != 0) made += type();
        return made;
    }
    std::string type() {
        if (depth_ >= max_depth) return "i";
        ++depth_;
        std::string made = type_here();
        --depth_;
        return made;
    }
    std::string type_here() {
        switch (below(16)) {
        case 0: return "P" + type();
        case 1: return "RK" + type();
        case 2: return with_length(identifier());
        case 3: return with_length(identifier()) + arguments();
        case 4: return "N" + with_length(identifier()) + with_length(identifier()) + arguments() + "E";
        case 5: return "St" + with_length(identifier()) + arguments();
        case 6: return "F" + types(1 + below(3)) + "E";
        case 7: return "A" + std::to_string(below(100)) + "_" + type();
        case 8: return "M" + type() + type();
        case 9: return "S" + std::string(below(2), '0') + "_";
        case 10: return "T" + std::string(below(2), '1') + "_";
        case 11: return "Dp" + type();
        case 12: return "Dn";
        case 13: return "Z" + function_in("").first + "E" + with_length(identifier());
        case 14: return "Ss";
        default: return std::string(1, "vwbcahstijlmxyfdez"[below(18)]);
        }
    }
    std::string arguments() {
        std::string made = "I";
        for (std::size_t count = 1 + below(3); count != 0; --count) {
            switch (below(6)) {
            case 0: made += "Li" + std::to_string(below(100)) + "E"; break;
            case 1: made += "Lin" + std::to_string(below(100)) + "E"; break;
            case 2: made += "J" + types(below(3)) + "E"; break;
            case 3: made += "XadL_Z" + with_length(identifier()) + "EE"; break;
            default: made += type();
            }
        }
        return made + "E";
    }
    std::string lambda() { return "Ul" + types(1 + below(2)) + "E" + std::string(below(2), '0') + "_"; }

    /// In a scope whose readable name, with "::", is `scope`.
    std::pair<std::string, std::string> function_in(const std::string& scope) {
        if (depth_ >= max_depth) return {"1fv", scope + "f"};
        ++depth_;
        auto made = function_here(scope);
        --depth_;
        return made;
    }
    std::pair<std::string, std::string> function_here(const std::string& scope) {
        if (below(4) == 0) { // inside another one
            auto outer = function_in(scope);
            auto inner = nested(outer.second + "::");
            return {"Z" + outer.first + "E" + inner.first, inner.second};
        }
        auto made = below(3) == 0 ? plain(scope) : nested(scope);
        return {made.first + types(1 + below(3)), made.second};
    }
    std::pair<std::string, std::string> plain(const std::string& scope) {
        const std::string name = identifier();
        if (below(3) == 0) return {with_length(name) + arguments(), scope + name + "<...>"};
        return {(below(4) == 0 ? "L" : "") + with_length(name), scope + name};
    }
    std::pair<std::string, std::string> nested(const std::string& scope) {
        std::string mangled = below(2) == 0 ? "NK" : "N", readable = scope, last;
        for (std::size_t count = 1 + below(3); count != 0; --count) {
            last = identifier();
            mangled += with_length(last);
            readable += last;
            if (below(3) == 0) {
                mangled += arguments();
                readable += "<...>";
            }
            readable += "::";
        }
        switch (below(6)) {
        case 0: return {mangled + "C2E", readable + last};
        case 1: return {mangled + "D1E", readable + "~" + last};
        case 2: return {mangled + "clE", readable + "operator()"};
        case 3: return {mangled + "cv" + type() + "E", readable + "operator (type)"};
        case 4: return {mangled + "M" + lambda() + "clE", readable + "{lambda}::operator()"};
        default: {
            const std::string name = identifier();
            return {mangled + with_length(name) + "E", readable + name};
        }
        }
    }

    fuzz::input& from_;
    int depth_ = 0;
};

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    if (count == 0) return 0;
    const std::string_view rest{reinterpret_cast<const char*>(bytes) + 1, count - 1};
    read_any(rest, bytes[0]);
    read_any("_Z" + std::string(rest), bytes[0]);
    fuzz::input from(bytes, count);
    const auto [mangled, readable] = name_maker(from).function();
    const std::string found = shortened(mangled, readable.size() + 64);
    if (found != readable)
        std::fprintf(stderr, "%s: %s instead of %s\n", mangled.c_str(), found.c_str(), readable.c_str());
    fuzz::require(found == readable, "the name is the one that was meant");
    return 0;
}
