// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/at_exit.hpp for Windows.

#include <cstddef>
#include <cstdlib>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/memory.hpp>

/// What the reports have to name.
namespace game {
struct monster {
    int health[12];
};
}

namespace support {

/// The name of blocks of that type in a report: checked builds know the type.
inline constexpr const char* of_monsters = tenure::checks::caller ? "game::monster" : "48-byte blocks";

/// Not by operator+, for which GCC 12 warns of an overflow that cannot happen.
inline std::string joined(std::string_view begin, std::string_view middle, std::string_view end) {
    std::string all;
    return all.append(begin).append(middle).append(end);
}

/// What a program must not have written.
class lacks {
public:
    using is_gtest_matcher = void;
    explicit lacks(std::string text) : text_(std::move(text)) {}
    bool MatchAndExplain(const std::string& written, std::ostream*) const {
        return written.find(text_) == std::string::npos;
    }
    void DescribeTo(std::ostream* to) const { *to << "lacks \"" << text_ << '"'; }
    void DescribeNegationTo(std::ostream* to) const { *to << "has \"" << text_ << '"'; }

private:
    std::string text_;
};

/// An object that is never destroyed.
template<class T, class... Arguments>
T& forever(Arguments&&... arguments) {
    alignas(T) static unsigned char memory[sizeof(T)];
    return *::new (memory) T(std::forward<Arguments>(arguments)...);
}

inline constexpr std::size_t mapped_bytes = std::size_t{64} << 10;

inline void* map() { return tenure::platform::map(mapped_bytes, 1); }

/// Ends the program as main() does, but without the test framework's own objects.
[[noreturn]] inline void end() { std::exit(0); }

inline void check_leaks() { tenure::set_option(tenure::option::leak_check, 1); }

}
