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
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// What is still held, as one line.
struct held_blocks {
    std::string_view part;      ///< "pool"
    std::string_view name = {}; ///< the type, owner or name
    std::size_t count = 0;
    std::size_t bytes = 0;
    void* const* stack = nullptr; ///< of the allocation, if it is known
    std::size_t stack_count = 0;
    std::string_view unit = "block"; ///< what is counted, a constant: an arena does not count its blocks
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
    /// An object that is no longer there, though its destructor did not run: what it held cannot be counted.
    void add_lost(std::string_view part, const void* holder) noexcept;
    /// An object whose lock did not become free, so it cannot be counted. `name` follows the part, in place of the
    /// address; it stays readable until write().
    void add_busy(std::string_view part, std::string_view name, const void* holder = nullptr) noexcept;
    /// Every lock is taken with this patience: a thread may hold it for ever, and the program must end.
    [[nodiscard]] platform::lock_patience& patience() noexcept { return patience_; }
    /// Writes the lines to standard error; nothing if there are none.
    void write() noexcept;

private:
    /// Objects that are not counted, for one reason.
    struct uncounted {
        static constexpr std::size_t max_named = 4; // the first; the others are only counted
        struct object {
            std::string_view part; // a constant of the library
            std::string_view name;
            const void* at;
        };
        object objects[max_named];
        std::size_t count = 0;

        void add(const object& added) noexcept;
        void write(std::string_view why, std::string_view advice) const noexcept;
    };
    struct line {
        char words[120];
        std::size_t words_bytes;
        std::string_view unit;
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
    uncounted lost_, busy_;
    platform::lock_patience patience_{platform::lock_patience::at_exit_ns};
};

/// Adds a part's own lines.
using list_function = void (*)(held_list&) noexcept;
/// What the report knows of one object.
struct holder_facts {
    const char* type;        ///< of its blocks, as of signature_of(), or nullptr
    std::size_t block_bytes; ///< zero: the object knows
};
/// What the report has to know about a kind of object that may hold blocks at the end. The program may have unmapped or
/// overwritten such an object without a call of its destructor.
struct holder_kind {
    std::string_view part; ///< "pool"
    std::size_t bytes;     ///< of the object
    /// A number from members that stay as they are from add_holder() to remove_holder(), also when the contents move.
    std::uint64_t (*mark)(const void* holder) noexcept;
    /// Adds the lines of one object that has kept its mark. It waits for locks only with the list's patience.
    void (*list)(const void* holder, const holder_facts& facts, held_list&) noexcept;
};
/// A number for holder_kind::mark.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t mark, std::uint64_t value) noexcept {
    return (mark ^ value) * 0x9E37'79B9'7F4A'7C15;
}

/// A part with one function, of static duration. Enlist it once, when the library is loaded.
struct leak_lister {
    list_function list;
    leak_lister* next = nullptr;
    void enlist() noexcept;
};

/// Registers an object that may hold blocks at the end, if the option is on. The object may be registered already, and
/// an address may be that of an object that is gone.
/// Requires  `kind` is of static duration.
TENURE_API void add_holder(const void* holder, const holder_kind& kind, std::size_t block_bytes = 0) noexcept;
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

/// A name that the program owns, unless it was in a plug-in that is unloaded.
[[nodiscard]] std::string_view readable_name(std::string_view name) noexcept;

/// The compiler's text for this function, which contains the name of T.
template<class T>
[[nodiscard]] constexpr const char* signature_of() noexcept {
    return TENURE_THIS_SIGNATURE;
}
/// The name of the type in it. The text may be that of a plug-in that was unloaded.
[[nodiscard]] std::string_view type_in(const char* signature) noexcept;

}
