// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes records of many objects as one text, from many threads at once.
///
/// Use it for     saving and dumping objects in parallel: each page of objects is written to memory of its own.
/// Not for        one record: text/text_writer.hpp; records without a bound on their size.
/// Memory from    a block source, in one block, only in reserve(): every round reuses the same memory.
/// Cost           formatting the records, and some ns per page. join() moves the text once, except its first page.
/// Overhead       per object its bound minus its text, most of it never touched; 32 bytes per page.
/// Threads        write() uses the threads of its executor; everything else one at a time.
/// Fork           usable in the child, unless another thread was using it at the fork.
/// When full      reserve() fails and changes nothing. A record longer than its bound is named by error(); nothing is
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

/// How much room to reserve.
struct page_shape {
    std::size_t pages = 0;
    std::size_t objects_per_page = 0;
    std::size_t bytes_per_object = 0; ///< maximum size of a record
};

/// Contiguous text. Its layout is that of struct iovec, for writev().
struct text_piece {
    char* data = nullptr;
    std::size_t size_bytes = 0;
};

/// The first record, by page and object, that was longer than its bound.
struct page_error {
    std::size_t page = 0;
    std::size_t object = 0; ///< index within the page
    std::size_t needed_bytes = 0;
    std::size_t bound_bytes = 0;

    /// Whether there is an error.
    explicit operator bool() const noexcept { return needed_bytes > bound_bytes; }
    /// Describes the error in a sentence. Returns   the bytes that it needs, as the functions of format.hpp do.
    TENURE_API std::size_t describe(std::span<char> room) const noexcept;
};

/// An executor for small rounds: runs everything on the calling thread, in order.
struct run_serially {
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        for (std::size_t index = 0; index < count; ++index) body(index);
    }
};

class TENURE_API paged_writer {
public:
    /// Takes no memory from the source before reserve(). Requires  `source` outlives the writer.
    explicit paged_writer(block_source& source = page_source::process()) noexcept : source_(source) {}
    ~paged_writer() { trim(); }
    paged_writer(const paged_writer&) = delete;
    paged_writer& operator=(const paged_writer&) = delete;

    /// Reserves the memory of a round, or keeps the current one if it suffices. Discards the text of the last round.
    /// Returns   false and changes nothing when out of memory, or when the total size overflows.
    [[nodiscard]] bool reserve(const page_shape& shape) noexcept;

    /// Writes `objects` objects, page by page; the last page may have fewer. Discards the text of the last round.
    ///
    /// `executor(count, body)` calls `body(page)` once for each page below `count`, in any order, on any threads, and
    /// returns when all calls have returned. `write_object(text_writer& to, page, object)` writes one record; calls for
    /// different pages run concurrently. An exception thrown by either propagates, and there is no text then.
    ///
    /// Returns   whether every record kept its bound. If not, error() names the first one in page order. Also false,
    ///           without an error, if there are more objects than reserved or if the executor left pages out: checked
    ///           builds report both as misuse.
    template<class Executor, class WriteObject>
    [[nodiscard]] bool write(std::size_t objects, Executor&& executor, const WriteObject& write_object);

    /// The same with pages of different sizes: `objects_of(page)` returns a page's number of objects.
    template<class CountObjects, class Executor, class WriteObject>
    [[nodiscard]] bool write_pages(std::size_t pages, const CountObjects& objects_of, Executor&& executor,
                                   const WriteObject& write_object);

    /// The text of each page, in order, for writev() and the like; one piece after join(). Empty when write() failed.
    /// Returns   pieces that stay valid until the next call that writes, reserves or trims.
    [[nodiscard]] std::span<const text_piece> pieces() const noexcept { return {pieces_, piece_count_}; }
    /// Joins the text into one piece: moves each page up to the end of the previous one, unless it is already there.
    /// Cost      O(bytes), once in a round.
    [[nodiscard]] std::string_view join() noexcept;
    [[nodiscard]] std::size_t size_bytes() const noexcept;

    [[nodiscard]] const page_error& error() const noexcept { return error_; }
    [[nodiscard]] const page_shape& shape() const noexcept { return shape_; }
    /// Bytes held from the source.
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return block_bytes_; }

    /// Releases the memory; call reserve() before the next round. Returns   the bytes released.
    std::size_t trim() noexcept;

    /// Whether every page of the text is consistent. Cost      O(pages).
    [[nodiscard]] bool valid() const noexcept;

private:
    /// State of a page that failed. Its piece stays empty.
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
    char* first_ = nullptr; // the block: pages, pieces, states
    text_piece* pieces_ = nullptr;
    page_state* states_ = nullptr;
    std::size_t block_bytes_ = 0;
    std::size_t running_pages_ = 0; // of the round being written
    std::size_t piece_count_ = 0;   // of the finished text
    page_error error_;
};

// A page's thread writes to its text, and to its piece once at the end: in between it touches no shared cache line.
template<class WriteObject>
inline void paged_writer::write_page(std::size_t page, std::size_t objects, const WriteObject& write_object) {
    if (!begin_page(page, objects)) return;
    text_writer to(page_at(page), page_bytes());
    const std::size_t bound = shape_.bytes_per_object;
    for (std::size_t object = 0; object < objects; ++object) {
        const std::size_t before = to.needed_bytes();
        write_object(to, page, object);
        const std::size_t needed = to.needed_bytes() - before;
        // As long as every record keeps its bound, the page has room for all of them.
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
    const std::size_t each = shape_.objects_per_page;
    // Pages of zero objects have no room: asking for one page too many makes the call fail.
    const std::size_t pages = each != 0 ? objects / each + (objects % each != 0) : objects != 0 ? shape_.pages + 1 : 0;
    const auto objects_of = [&](std::size_t page) { return page * each + each <= objects ? each : objects % each; };
    return write_pages(pages, objects_of, executor, write_object);
}

}
