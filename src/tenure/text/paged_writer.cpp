// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/paged_writer.hpp>

#include <atomic>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/compiler.hpp>

namespace tenure::inline TENURE_ABI {

// Layout of the block:
//
//   | page 0         | page 1         | ...   | pieces, one per page | states, one per page |
//   | text, not used | text, not used |
//
// A page is exactly its objects times their bound: records of a fixed width are adjacent, and joining them moves
// nothing. Memory after a page's text is touched only where text was written before.

namespace {

/// States of a page that has not run, and of one that has run without failing.
constexpr std::size_t not_run = SIZE_MAX, has_run = SIZE_MAX - 1;

/// Size of the block; zero when it exceeds the maximum object size.
std::size_t bytes_of(const page_shape& shape, std::size_t page_overhead, std::size_t& pages_bytes) noexcept {
    using detail::multiply_overflows, detail::add_overflows;
    std::size_t page = 0, overhead = 0, whole = 0;
    const bool is_too_large = multiply_overflows(shape.objects_per_page, shape.bytes_per_object, page) ||
                              multiply_overflows(shape.pages, page, pages_bytes) || pages_bytes > max_object_bytes ||
                              multiply_overflows(shape.pages, page_overhead, overhead) ||
                              add_overflows(align_up(pages_bytes, cache_line_bytes), overhead, whole);
    return is_too_large || whole > max_object_bytes ? 0 : whole + (whole == 0);
}

}

std::size_t page_error::describe(std::span<char> room) const noexcept {
    text_writer to(room);
    if (!*this) return to.append("no record is longer than its bound").needed_bytes();
    to.append("object ").append(object).append(" of page ").append(page).append(" needs ").append(needed_bytes);
    return to.append(" bytes, more than the bound of ").append(bound_bytes).append(" bytes").needed_bytes();
}

bool paged_writer::reserve(const page_shape& shape) noexcept {
    std::size_t pages_bytes = 0;
    const std::size_t bytes = bytes_of(shape, sizeof(text_piece) + sizeof(page_state), pages_bytes);
    if (bytes == 0) return false;
    detail::allocation_attempt attempt;
    if (block_bytes_ != 0 && bytes > block_bytes_ && source_.extend(first_, block_bytes_, bytes)) block_bytes_ = bytes;
    if (bytes > block_bytes_) {
        void* const block = detail::acquire_aligned(source_, bytes, cache_line_bytes);
        if (block == nullptr) return false;
        trim();
        first_ = static_cast<char*>(block);
        block_bytes_ = bytes;
    }
    attempt.succeeded();
    shape_ = shape;
    const auto behind = align_up(address_of(first_) + pages_bytes, cache_line_bytes);
    pieces_ = static_cast<text_piece*>(pointer_at(behind));
    states_ = static_cast<page_state*>(pointer_at(behind + shape.pages * sizeof(text_piece)));
    piece_count_ = 0;
    error_ = {};
    return true;
}

std::size_t paged_writer::trim() noexcept {
    if constexpr (checks::structures) check_invariant(valid(), "paged_writer", this);
    const std::size_t bytes = block_bytes_;
    if (bytes != 0) source_.release(first_, bytes);
    first_ = nullptr;
    pieces_ = nullptr;
    states_ = nullptr;
    block_bytes_ = piece_count_ = 0;
    shape_ = {};
    error_ = {};
    return bytes;
}

bool paged_writer::begin_round(std::size_t pages) noexcept {
    piece_count_ = 0;
    error_ = {};
    running_pages_ = 0;
    if (pages > shape_.pages) {
        if constexpr (checks::caller)
            report_misuse("paged_writer was given more pages than it has room for", this,
                          "Call reserve() with the pages, objects and bytes of the largest round.");
        return false;
    }
    running_pages_ = pages;
    for (std::size_t page = 0; page < pages; ++page) {
        pieces_[page] = {};
        states_[page] = {not_run, 0};
    }
    return true;
}

bool paged_writer::begin_page(std::size_t page, std::size_t objects) noexcept {
    if (page >= running_pages_) [[unlikely]] {
        if constexpr (checks::caller)
            report_misuse("an executor of a paged_writer ran a page that does not exist", this,
                          "The executor must call the body with the numbers below the count that it was given.");
        return false;
    }
    if constexpr (checks::caller) {
        if (std::atomic_ref(states_[page].object).exchange(has_run) != not_run) {
            report_misuse("an executor of a paged_writer ran a page twice", this,
                          "The executor must call the body once for each number.");
            return false;
        }
    }
    if (objects > shape_.objects_per_page) [[unlikely]] {
        if constexpr (checks::caller)
            report_misuse("a page of a paged_writer has more objects than it has room for", this,
                          "Call reserve() with the number of objects of the largest page.");
        return false;
    }
    return true;
}

void paged_writer::fail_page(std::size_t page, std::size_t object, std::size_t needed_bytes) noexcept {
    states_[page] = {object, needed_bytes};
}

bool paged_writer::end_round() noexcept {
    const std::size_t pages = running_pages_;
    running_pages_ = 0;
    bool all_written = true;
    for (std::size_t page = 0; page < pages; ++page) {
        if (pieces_[page].data != nullptr) continue;
        all_written = false;
        if (const page_state& failed = states_[page]; failed.needed_bytes != 0) {
            error_ = {page, failed.object, failed.needed_bytes, shape_.bytes_per_object};
            return false;
        }
        if constexpr (checks::caller) {
            if (states_[page].object == not_run)
                report_misuse("an executor of a paged_writer left a page out", this,
                              "The executor must call the body once for each number, and wait for all calls.");
        }
    }
    if (all_written) piece_count_ = pages;
    if constexpr (checks::structures) check_invariant(valid(), "paged_writer", this);
    return all_written;
}

std::string_view paged_writer::join() noexcept {
    if (piece_count_ == 0) return {};
    text_piece& joined = pieces_[0];
    char* end = joined.data + joined.size_bytes;
    for (std::size_t page = 1; page < piece_count_; ++page) {
        const text_piece& next = pieces_[page];
        if (next.data != end) std::memmove(end, next.data, next.size_bytes);
        end += next.size_bytes;
    }
    joined.size_bytes = static_cast<std::size_t>(end - joined.data);
    piece_count_ = 1;
    return {joined.data, joined.size_bytes};
}

std::size_t paged_writer::size_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const text_piece& each : pieces()) bytes += each.size_bytes;
    return bytes;
}

bool paged_writer::valid() const noexcept {
    if (first_ == nullptr) return block_bytes_ == 0 && piece_count_ == 0 && shape_.pages == 0;
    if (piece_count_ > shape_.pages) return false;
    const char* end = first_;
    for (const text_piece& each : pieces()) {
        if (each.data < end) return false;
        end = each.data + each.size_bytes;
    }
    return address_of(end) <= address_of(pieces_) &&
           address_of(states_ + shape_.pages) <= address_of(first_) + block_bytes_;
}

}
