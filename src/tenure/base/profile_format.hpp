// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The file that a heap profile is saved in: `NAME.heapprofile`. The process that is profiled writes it without
/// allocating; `tenure profile` reads it, names the frames and converts it to other formats.
///
///   | file_header | section_header | payload | padding to 8 | section_header | payload | ... | the end section |
///
/// Numbers are little-endian. A section of text may occur several times; its parts then belong together in that order.
/// A reader skips sections that it does not know, and entries may grow at their end: `entry_bytes` is the distance.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::profile_format {

constexpr char magic[8] = {'T', 'N', 'H', 'E', 'A', 'P', 'P', 'R'};
constexpr std::uint32_t version = 1;

/// Why the file was written.
enum class occasion : std::uint32_t { asked, exit, interval, signal, peak };

struct file_header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t header_bytes; ///< offset of the first section
    std::uint64_t mean_bytes;   ///< an allocated byte is sampled once in so many, on average
    std::uint64_t started_ms;   ///< milliseconds since 1970 when the profile began
    std::uint64_t saved_ms;     ///< and when the file was written
    std::uint64_t peak_ms;      ///< and when the estimate of live bytes was highest; zero: nothing was live
    std::uint64_t process;      ///< its number
    occasion written_at;
    std::uint32_t reserved;     ///< zero
    std::uint64_t lost_samples; ///< without memory for their record: the estimates are too low by about this part
};
static_assert(sizeof(file_header) == 72);

enum class section : std::uint32_t {
    sites = 1,     ///< site: one for each stack and tag
    frames = 2,    ///< std::uint64_t: the return addresses of all stacks
    live = 3,      ///< live_sample: the sampled blocks that are in use
    mappings = 4,  ///< text: the process's mappings, one a line as in /proc/PID/maps
    tags = 5,      ///< text: "NUMBER NAME\n" for each owner tag
    cached = 6,    ///< cached_blocks: of each size, if the file has pages
    arguments = 7, ///< text: the command line, each argument ended by a zero
    classes = 8,   ///< size_class: what the heap itself counts
    pages = 9,     ///< page_run: the heap's OS pages that are in memory, if asked for; may occur several times
    memory = 10,   ///< text: the process's mappings with their resident bytes, as in /proc/PID/smaps; with pages
    before = 11,   ///< size_class: the same at the begin of the profile
    builds = 12,   ///< text: "ADDRESS ID\n" for each mapped file with code: where it begins, and its build ID, in hex
    // Of a program that keeps its own malloc, in place of `pages`. Readers of before skip them.
    malloc_file = 20,     ///< text: the file that this malloc is in
    pages_of_blocks = 21, ///< page_run: pages with recorded blocks, or that had some; may occur several times. Small
                          ///< blocks have `block_bytes` zero: a page may have blocks of any sizes
    end = 99, ///< one std::uint64_t: the checksum of all bytes before this section's header. Nothing follows
};

struct section_header {
    section kind;
    std::uint32_t entry_bytes; ///< 1 for text
    std::uint64_t count;       ///< of entries; of bytes for text
};
static_assert(sizeof(section_header) == 16);

// A block of s bytes is sampled with the probability p = 1 - exp(-s / mean_bytes), where s is the size of its class:
// what it takes from the heap. It stands for 1/p blocks and s/p bytes. The estimate of a sum is the sum over the
// samples, and the estimate of the estimate's variance is the sum of (s/p)^2 (1 - p), after Horvitz and Thompson
// (1952).

/// Estimates for all blocks of one stack and tag.
struct estimate {
    std::uint64_t samples;
    double blocks;
    double bytes;
    double variance; ///< of `bytes`
};

struct site {
    std::uint64_t first_frame; ///< index in the section of frames; the innermost caller comes first
    std::uint32_t frame_count;
    std::uint32_t tag;  ///< number of the owner tag; zero: none
    estimate allocated; ///< since the profile began
    estimate live;
    estimate at_peak; ///< live when the estimate of all live bytes was highest
};
static_assert(sizeof(site) == 112);

struct live_sample {
    std::uint64_t address;
    std::uint64_t asked_bytes;
    std::uint64_t block_bytes;  ///< s above
    std::uint64_t allocated_ms; ///< milliseconds since 1970
    std::uint64_t thread;       ///< the system's number of the thread that allocated
    std::uint32_t site;         ///< index
    std::uint32_t tag;
};
static_assert(sizeof(live_sample) == 48);

/// What the heap counts for one size when the file is written, or when the profile ended, exact as far as no thread is
/// at work meanwhile. Blocks of before the profile began are included.
///
/// In `section::before`: the blocks that no sample stands for, those that were live or in the caches of threads when
/// the profile began. The section is missing where the counts and the samples are not of the same blocks: in checked
/// builds.
struct size_class {
    std::uint64_t block_bytes; ///< zero: all blocks past the last class
    std::uint64_t live_blocks;
    std::uint64_t live_bytes;
};
static_assert(sizeof(size_class) == 24);

/// Free blocks of one size that threads keep. In the pages they count as in use, and nothing says which ones they are.
struct cached_blocks {
    std::uint64_t block_bytes;
    std::uint64_t count;
};
static_assert(sizeof(cached_blocks) == 16);

constexpr std::uint32_t page_bytes = 4096;

/// What an OS page of the heap is used for.
enum class page_use : std::uint32_t {
    records = 1,      ///< the heap's own
    small_blocks = 2, ///< blocks of one size, in use or free
    free = 3,         ///< no block: touched by an earlier one, and not returned yet
    large_block = 4,  ///< a part of one block
    slack = 5,        ///< behind a block: room to grow
};

/// OS pages that follow each other, are in memory and have the same figures.
struct page_run {
    std::uint64_t address;
    std::uint32_t pages;
    page_use use;
    std::uint16_t live_bytes;  ///< of blocks in each of these pages
    std::uint16_t blocks;      ///< in use that lie in each of them, at least in part
    std::uint32_t block_bytes; ///< of small_blocks: their size; zero: any
};
static_assert(sizeof(page_run) == 24);

/// Whether a run begins where another one ends and has its figures, so that both can be one run.
[[nodiscard]] constexpr bool continues(const page_run& run, const page_run& last) noexcept {
    const bool is_next = last.address + std::uint64_t{last.pages} * page_bytes == run.address;
    const bool is_alike = last.use == run.use && last.live_bytes == run.live_bytes && last.blocks == run.blocks &&
                          last.block_bytes == run.block_bytes;
    return is_next && is_alike && last.pages <= UINT32_MAX - run.pages;
}

/// The checksum: FNV-1a of 64 bits (Fowler, Noll and Vo), over eight bytes at a time as little-endian words; the file's
/// length up to the end section is a multiple of eight.
class checksum {
public:
    void add(const std::uint64_t* words, std::size_t count) noexcept {
        for (std::size_t each = 0; each < count; ++each) sum_ = (sum_ ^ words[each]) * 0x0000'0100'0000'01B3;
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return sum_; }

private:
    std::uint64_t sum_ = 0xCBF2'9CE4'8422'2325;
};

}
