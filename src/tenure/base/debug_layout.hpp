// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layout of an allocator's records as one constant object in the library, for programs that read the memory of
/// another process: debuggers and readers of core files. They need no debug information, only the object, and every
/// release tells its own numbers.
///
///   | header | roots... | classes... | facts... |
///
/// A fact is a name and a number: the size of a record, the offset of a member, a limit. A root is a name and an
/// address in the process. A reader looks up names, refuses a version that it does not know, and says which name is
/// missing. New names may be added within a version; a name that stays keeps its meaning.
///
/// The object has C linkage: `tenure_debug_layout` is the heap's, `tenure_debug_pool_layout` that of pools. Shared
/// libraries and the drop-in export it; several copies may be in one process. A program without symbols is searched for
/// the magic at a multiple of 8; `self` is then the place where it was found. The roots are relocated when the library
/// is loaded, so that the object is in memory that core files contain.

#include <array>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::debug_layout {

constexpr std::uint32_t version = 1;
/// The kind is its last byte.
constexpr char heap_magic[8] = {'T', 'N', 'D', 'E', 'B', 'U', 'G', 'H'};
constexpr char pool_magic[8] = {'T', 'N', 'D', 'E', 'B', 'U', 'G', 'P'};

struct header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t checks; ///< the check level of the library
    const void* self;     ///< the address of this header
    std::uint32_t bytes;  ///< of the whole object
    // The three tables: offset from this header, number of entries, and distance of two entries.
    std::uint32_t facts, fact_count, fact_bytes;
    std::uint32_t roots, root_count, root_bytes;
    std::uint32_t classes, class_count, class_bytes;
};
static_assert(sizeof(header) == 64);

constexpr std::size_t name_bytes = 28;

/// The name ends with at least one zero.
struct fact {
    char name[name_bytes];
    std::uint32_t value;
};
static_assert(sizeof(fact) == 32);

struct root {
    char name[24];
    const void* address;
};
static_assert(sizeof(root) == 32);

/// A size class of small blocks.
struct size_class {
    std::uint32_t block_bytes;
    std::uint32_t page_slices;   ///< of a page
    std::uint32_t front_bytes;   ///< of a page, in front of the first block
    std::uint32_t page_blocks;   ///< of a page
    std::uint32_t rested_offset; ///< index of its first place in a thread's quarantine, in checked builds
    std::uint32_t rested_room;   ///< number of places; a power of two
};
static_assert(sizeof(size_class) == 24);

/// Where the names of owner tags are, by number. The first two have none.
struct tag_list {
    const void* first;
    std::uint32_t count, entry_bytes;
    std::uint32_t text_offset, length_offset; ///< in an entry: a pointer, and 8 bytes
};
extern const tag_list names_of_tags; ///< base/tag.cpp

namespace detail {
template<std::size_t room, std::size_t bytes>
constexpr void copy_name(char (&to)[room], const char (&name)[bytes]) noexcept {
    static_assert(bytes <= room, "the name is too long");
    for (std::size_t each = 0; each < bytes; ++each) to[each] = name[each];
}
}

template<std::size_t bytes>
[[nodiscard]] constexpr fact fact_of(const char (&name)[bytes], std::size_t value) noexcept {
    fact made{};
    detail::copy_name(made.name, name);
    made.value = static_cast<std::uint32_t>(value);
    return made;
}
template<std::size_t bytes>
[[nodiscard]] constexpr root root_of(const char (&name)[bytes], const void* address) noexcept {
    root made{};
    detail::copy_name(made.name, name);
    made.address = address;
    return made;
}

/// The whole object. The roots come first, so that the loader writes to one OS page of it.
template<std::size_t roots, std::size_t classes, std::size_t facts>
struct object {
    header head;
    std::array<root, roots> root_table;
    std::array<size_class, classes> class_table;
    std::array<fact, facts> fact_table;

    [[nodiscard]] static constexpr header head_of(const char (&magic)[8], const void* self,
                                                  std::uint32_t checks) noexcept {
        header made{};
        for (std::size_t each = 0; each < sizeof magic; ++each) made.magic[each] = magic[each];
        made.version = debug_layout::version;
        made.checks = checks;
        made.self = self;
        made.bytes = sizeof(object);
        made.facts = offsetof(object, fact_table);
        made.fact_count = facts;
        made.fact_bytes = sizeof(fact);
        made.roots = offsetof(object, root_table);
        made.root_count = roots;
        made.root_bytes = sizeof(root);
        made.classes = offsetof(object, class_table);
        made.class_count = classes;
        made.class_bytes = sizeof(size_class);
        return made;
    }
};

}
