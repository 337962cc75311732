// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The file in which `tenure record` keeps the allocations of a program. docs/design/trace-format.md describes it for
/// readers in other languages.
///
///   | file_header, padded to 4096 bytes | chunk | chunk | ... | the index, if there is one |
///   chunk: | chunk_header | payload |
///
/// The program writes a raw file: its chunks begin at multiples of 4096 bytes, have room behind their payload, and no
/// checksum. Each belongs to one thread, which stores `used` after each event, so nothing is lost when the process is
/// killed. Ranges without a chunk are zero. `tenure record` then writes the packed file: chunks compressed, with
/// checksums, one after another, and the index. Numbers are little-endian; a reader skips kinds of chunks that it does
/// not know.

#include <cstddef>
#include <cstdint>

namespace tenure::lab::trace_format {

constexpr char magic[8] = {'T', 'N', 'T', 'R', 'A', 'C', 'E', '\n'};
constexpr std::uint32_t version = 3; ///< version 2 is read too: it ends before file_header::free_stacks
constexpr std::uint32_t oldest_version = 2;
constexpr std::uint32_t page_bytes = 4096;

enum class form : std::uint32_t { raw = 0, packed = 1 };

struct file_header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t header_bytes; ///< offset of the first chunk
    form is;
    std::uint32_t process; ///< its number
    std::uint32_t parent;  ///< number of its parent process
    std::uint32_t is_fork; ///< 1: the child of a fork, which has its parent's blocks and has executed nothing since
    std::uint32_t stack_frames; ///< most frames of a stack; zero: events have no stacks
    std::uint32_t tick_shift;   ///< time in events is counted in units of 2^tick_shift ticks
    std::uint64_t sample_bytes; ///< of the bytes allocated, one in so many is recorded, with its block; zero: all are
    std::uint64_t started_ms;   ///< milliseconds since 1970 when the recording began
    std::uint64_t first_ticks;  ///< the processor's counter then
    std::uint64_t first_ns;     ///< and the monotonic clock
    // Of these the program changes what it has to while it runs.
    std::uint64_t file_bytes; ///< where the next chunk begins, in a raw file
    std::uint32_t threads;    ///< number of threads that have begun
    std::uint32_t stacks;     ///< number of stacks that have been numbered, from 1
    std::uint64_t last_ticks; ///< at exit; zero: no exit was seen
    std::uint64_t last_ns;
    std::uint64_t lost_events;  ///< for which the file could not grow
    std::uint32_t refusal;      ///< why the recording has ended early: the system's error number; zero: it has not
    std::uint32_t last_error;   ///< why events were lost, and the recording went on: the system's error number
    std::uint64_t index_offset; ///< of a packed file; zero: it has none
    std::uint64_t recording;    ///< drawn by `tenure record`: all files of one recording have it; zero: none was drawn
    std::uint32_t free_stacks;  ///< 1: frees have stacks too
    std::uint32_t unused;       ///< zero
};
static_assert(sizeof(file_header) == 144);
constexpr std::size_t header_bytes_2 = 136; ///< of version 2

constexpr std::uint32_t chunk_magic = 0x4B43'4E54; // "TNCK"

enum class chunk_kind : std::uint8_t {
    events = 1,
    mappings = 2,    ///< text: the process's mappings, one a line as in /proc/PID/maps. It may be written several times
    builds = 3,      ///< text: "ADDRESS ID\n" for each mapped file with code: where it begins, and its build ID, in hex
    arguments = 4,   ///< text: the command line, each argument ended by a zero
    index = 5,       ///< index_entry for each other chunk, by time; the last chunk
    damage = 6,      ///< text: a sentence that says what of the raw file could not be read when it was packed
    accesses = 7,    ///< windows in which blocks had watchpoints: access/access_chunks.hpp. Only in packed files
    live_blocks = 8, ///< blocks in use, with addresses: access/live_blocks.hpp. Only in raw files: packing drops it
    part = 9,        ///< text of a file of `tenure trace cut`: "FROM TO WHOLE OLDER\n", see trace_part
};

/// How a payload is stored.
enum class codec : std::uint8_t { plain = 0, deflate = 1, zstd = 2 };

// Flags of a chunk.
constexpr std::uint16_t has_checksum = 1;
constexpr std::uint16_t is_last_part = 2; ///< of a text; one without its last part is cut off

struct chunk_header {
    std::uint32_t magic;
    chunk_kind kind;
    codec stored_as;
    std::uint16_t flags;
    std::uint32_t bytes;    ///< of the whole chunk: distance of the next
    std::uint32_t used;     ///< bytes of the payload
    std::uint32_t stored;   ///< bytes that the payload takes in a packed file
    std::uint32_t checksum; ///< CRC-32 (that of zlib) of this header, with zero here, and the payload as stored
    std::uint32_t thread;   ///< threads are numbered in the order of their first chunk
    std::uint32_t sequence; ///< counts the chunks of a thread, or the times that a text was written
    std::uint64_t number;   ///< running number of the first block that the events allocate; of a text: of this part
    std::uint64_t ticks;    ///< time of the first event
    // A later moment by both clocks. In a raw file the pair may be of any event in the chunk.
    std::uint64_t pair_ticks, pair_ns;
};
static_assert(sizeof(chunk_header) == 64);

struct index_entry {
    std::uint64_t offset; ///< of the chunk
    std::uint64_t ticks;
    std::uint32_t thread;
    std::uint32_t sequence;
};
static_assert(sizeof(index_entry) == 24);

// An event begins with a byte: | payload: 5 bits | kind: 3 |. A payload below 28 is the value itself. 28, 29, 30 and 31
// say that the value follows in 1, 2, 4 or 8 bytes, little-endian; the one of 1 byte has 28 subtracted. A number is a
// varint: 7 bits a byte, the lowest first, the highest bit of each byte but the last set; a signed one is folded, 0,
// -1, 1, -2 ... to 0, 1, 2, 3 ....
//
// A block is named by the thread that allocated it and a running number of that thread. Each allocation and each resize
// takes the next number of its thread; a resize gives the block a new name, so that every event names what it depends
// on. If the header has `stack_frames`, each allocation and each resize ends with a number: its stack, or zero. If it
// has `free_stacks` as well, so does each free of kind 4 or 5.
enum class event_kind : std::uint8_t {
    malloc = 0,       ///< value: bytes
    operator_new = 1, ///< value: bytes
    zeroed = 2,       ///< value: bytes
    aligned = 3,      ///< value: bytes; a byte: log2 of the alignment, with 128 if it is operator new
    free_own = 4,     ///< value: next number of the thread, minus one, minus the block's number
    free_other = 5,   ///< value: the other thread; the block's number, signed, as difference to the last here
    resize = 6,       ///< value: bytes now; the old name, as for `unseen_free`
    other = 7,        ///< value: other_event
};

enum class other_event : std::uint8_t {
    time = 1,         ///< a number: units of time since the last such event, or since the chunk began
    unknown_free = 2, ///< of a block that was not seen allocated
    stack = 3,        ///< a number: the stack's; a number: of frames; for each its signed difference to the one before
    frame = 4,        ///< the program's frame ended
    mark = 5,         ///< a number of bytes; a name in UTF-8
    unseen_free = 6,  ///< a block's address was allocated again. Its name: a number n; n odd: own, free_own's value is
                      ///< n / 2; else the thread is n / 2 and the block's number follows as in free_other
};

constexpr unsigned kind_bits = 3;
constexpr unsigned direct_values = 28;
constexpr std::uint8_t aligned_is_new = 128;

}
