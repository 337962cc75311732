// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The report of what is still held when the program ends (option leak_check). Each part says what it holds: those with
/// many objects register each of them, the others one function.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// What is still held, as one line.
struct held_blocks {
    std::string_view part;      ///< "pool"
    std::string_view name = {}; ///< the type, owner or name
    std::size_t count = 0;
    std::size_t bytes = 0;
    void* const* stack = nullptr; ///< of the allocation, if it is known
    std::size_t stack_count = 0;
};

/// The lines of the report. Blocks with the same words and the same caller share a line.
class held_list {
public:
    static constexpr std::size_t max_lines = 64;   ///< what comes later is only counted
    static constexpr std::size_t max_written = 16; ///< the largest
    static constexpr std::size_t max_frames = 6;

    void add(const held_blocks& held) noexcept;
    /// A line about blocks that another line counts: the types of the process heap's blocks.
    void add_detail(const held_blocks& held) noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Writes the lines to standard error; nothing if there are none.
    void write() noexcept;

private:
    struct line {
        char words[120];
        std::size_t words_bytes;
        std::size_t count, bytes;
        bool is_detail;
        void* frames[max_frames];
        std::size_t frame_count;
    };
    void add_line(const held_blocks& held, bool is_detail) noexcept;
    void write_lines(bool are_details) noexcept;

    line lines_[max_lines];
    std::size_t line_count_ = 0;
    std::size_t count_ = 0, bytes_ = 0;
};

/// Adds a part's own lines.
using list_function = void (*)(held_list&) noexcept;
/// Adds the lines of one object; `type` is a name as of signature_of(), or nullptr.
using list_holder_function = void (*)(const void* holder, const char* type, held_list&) noexcept;

/// A part with one function, of static duration. Enlist it once, when the library is loaded.
struct leak_lister {
    list_function list;
    leak_lister* next = nullptr;
    void enlist() noexcept;
};

/// Registers an object that may hold blocks at the end, if the option is on. The object may be registered already.
TENURE_API void add_holder(const void* holder, list_holder_function list) noexcept;
/// The type of its blocks, as of signature_of().
TENURE_API void name_holder(const void* holder, const char* type) noexcept;
/// The contents of an object have moved to another, which has the same type. Both stay registered.
TENURE_API void share_holder(const void* from, const void* to) noexcept;
/// Cost      a load if none is registered.
TENURE_API void remove_holder(const void* holder) noexcept;

/// The process heap also serves blocks of code that does not know the library, such as operator new: they are reported
/// only if the option was set.
TENURE_API void serve_foreign_blocks() noexcept;
[[nodiscard]] bool serves_foreign_blocks() noexcept;

/// Adds what all parts hold.
void list_held(held_list& to) noexcept;

/// The compiler's text for this function, which contains the name of T.
template<class T>
[[nodiscard]] constexpr const char* signature_of() noexcept {
    return __PRETTY_FUNCTION__;
}
/// The name of the type in it.
[[nodiscard]] std::string_view type_in(const char* signature) noexcept;

}
