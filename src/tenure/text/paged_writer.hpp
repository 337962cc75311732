// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Records of many objects as one text, written by many threads at once.
///
/// Use it for     saving and dumping objects in parallel: each page of them has a place of its own to be written to.
/// Not for        one record: text/text_writer.hpp; records without a bound on their size.
/// Memory from    a block source, in one block, by reserve() only: the same memory for every round.
/// Cost           what the records cost, and some ns per page; join() moves the text once, without its first page.
/// Overhead       for an object the difference of its bound and its text, most of it never touched; 32 bytes per page.
/// Threads        write() runs as many as its executor; everything else one at a time.
/// Fork           usable in the child, unless another thread was using it just then.
/// When full      refuses to reserve and changes nothing; a record above its bound is named by error(), and no byte is
///                written past its page.
/// Example        examples/text.cpp

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/text/text_writer.hpp>

namespace tenure::inline TENURE_ABI {

/// What room is taken beforehand.
struct page_shape {
    std::size_t pages = 0;
    std::size_t objects_per_page = 0;
    std::size_t bytes_per_object = 0; ///< the bound of a record
};

/// Text in one piece. It lies in memory as struct iovec does, for writev().
struct text_piece {
    char* data = nullptr;
    std::size_t size_bytes = 0;
};

/// The first record, by page and object, that was longer than its bound.
struct page_error {
    std::size_t page = 0;
    std::size_t object = 0; ///< of the page
    std::size_t needed_bytes = 0;
    std::size_t bound_bytes = 0;

    /// Whether there was one.
    explicit operator bool() const noexcept { return needed_bytes > bound_bytes; }
    /// Says it in a sentence, for people. Returns   the bytes that it needs, as the functions of format.hpp.
    TENURE_API std::size_t describe(std::span<char> room) const noexcept;
};

/// Runs everything on the calling thread, in order: an executor for small rounds.
struct run_serially {
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        for (std::size_t index = 0; index < count; ++index) body(index);
    }
};

class TENURE_API paged_writer {
public:
    /// Takes nothing from the source before reserve(). Requires  `source` outlives the writer.
    explicit paged_writer(block_source& source = page_source::process()) noexcept : source_(source) {}
    ~paged_writer() { trim(); }
    paged_writer(const paged_writer&) = delete;
    paged_writer& operator=(const paged_writer&) = delete;

    /// Takes the memory of a round, or keeps what it has when that is enough. The text of the last round is gone.
    /// Returns   false when the source refuses, or the product is more than an address: then nothing changes.
    [[nodiscard]] bool reserve(const page_shape& shape) noexcept;

    /// Writes so many objects, page by page; the last page may have fewer. The text of the last round is gone.
    ///
    /// `executor(count, body)` calls `body(page)` once for each page below `count`, in any order, on any threads, and
    /// returns when all calls have. `write_object(text_writer& to, page, object)` writes one record; calls for
    /// different pages come at the same time. An exception of either passes through, and there is then no text.
    ///
    /// Returns   whether every record kept its bound; if not, error() names the first one, whatever the order in which
    ///           pages ran. Also false, without an error, when there are more objects than reserve() took room for, and
    ///           when the executor left pages out: mistakes, which checked builds report.
    template<class Executor, class WriteObject>
    [[nodiscard]] bool write(std::size_t objects, Executor&& executor, const WriteObject& write_object);

    /// The same with pages of different sizes: `objects_of(page)` says how many it has.
    template<class CountObjects, class Executor, class WriteObject>
    [[nodiscard]] bool write_pages(std::size_t pages, const CountObjects& objects_of, Executor&& executor,
                                   const WriteObject& write_object);

    /// The text of each page, in order, for writev() and the like; one piece after join(). Empty when write() failed.
    /// Returns   what is valid until the next call that writes, reserves or trims.
    [[nodiscard]] std::span<const text_piece> pieces() const noexcept { return {pieces_, piece_count_}; }
    /// All of it in one piece: pages are moved up to the one before, where they do not lie there already.
    /// Cost      O(bytes), once in a round.
    [[nodiscard]] std::string_view join() noexcept;
    [[nodiscard]] std::size_t size_bytes() const noexcept;

    [[nodiscard]] const page_error& error() const noexcept { return error_; }
    [[nodiscard]] const page_shape& shape() const noexcept { return shape_; }
    /// What was taken from the source.
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return block_bytes_; }

    /// Gives the memory back; reserve() comes before the next round. Returns   the bytes given back.
    std::size_t trim() noexcept;

    /// Looks at every page of the text and says whether all is consistent. Cost      O(pages).
    [[nodiscard]] bool valid() const noexcept;

private:
    /// Of a page that failed. Its piece stays empty.
    struct page_state {
        std::size_t object;
        std::size_t needed_bytes;
    };

    [[nodiscard]] bool begin_round(std::size_t pages) noexcept;
    [[nodiscard]] bool begin_page(std::size_t page, std::size_t objects) noexcept;
    void fail_page(std::size_t page, std::size_t object, std::size_t needed_bytes) noexcept;
    [[nodiscard]] bool end_round() noexcept;
    [[nodiscard]] std::size_t page_bytes() const noexcept { return shape_.objects_per_page * shape_.bytes_per_object; }
    [[nodiscard]] char* page_at(std::size_t page) const noexcept { return first_ + page * page_bytes(); }
    template<class WriteObject>
    void write_page(std::size_t page, std::size_t objects, const WriteObject& write_object);

    block_source& source_;
    page_shape shape_;
    char* first_ = nullptr; // the block: the pages, the pieces, the states
    text_piece* pieces_ = nullptr;
    page_state* states_ = nullptr;
    std::size_t block_bytes_ = 0;
    std::size_t running_pages_ = 0; // of the round that is being written
    std::size_t piece_count_ = 0;   // of the text that is there
    page_error error_;
};

// A page's thread writes to its text, and once, at its end, to its piece: what neighbours share a line of is not
// touched in between.
template<class WriteObject>
inline void paged_writer::write_page(std::size_t page, std::size_t objects, const WriteObject& write_object) {
    if (!begin_page(page, objects)) return;
    text_writer to(page_at(page), page_bytes());
    std::size_t const bound = shape_.bytes_per_object;
    for (std::size_t object = 0; object < objects; ++object) {
        std::size_t const before = to.needed_bytes();
        write_object(to, page, object);
        std::size_t const needed = to.needed_bytes() - before;
        // While every record keeps its bound, the page has room for all.
        if (needed > bound) [[unlikely]]
            return fail_page(page, object, needed);
    }
    pieces_[page] = {page_at(page), to.size_bytes()};
}

template<class CountObjects, class Executor, class WriteObject>
inline bool paged_writer::write_pages(std::size_t pages, const CountObjects& objects_of, Executor&& executor,
                                      const WriteObject& write_object) {
    if (!begin_round(pages)) return false;
    executor(pages, [&](std::size_t page) { write_page(page, objects_of(page), write_object); });
    return end_round();
}

template<class Executor, class WriteObject>
inline bool paged_writer::write(std::size_t objects, Executor&& executor, const WriteObject& write_object) {
    std::size_t const each = shape_.objects_per_page;
    // Pages of no objects have room for none: one page too many is refused.
    std::size_t const pages = each != 0 ? objects / each + (objects % each != 0) : objects != 0 ? shape_.pages + 1 : 0;
    auto const objects_of = [&](std::size_t page) { return page * each + each <= objects ? each : objects % each; };
    return write_pages(pages, objects_of, executor, write_object);
}

}
