// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// frame_memory: memory that frees itself a fixed number of frames later.
///
/// Use it for     what a frame produces and a later frame, another thread or the GPU reads: command lists, visible
///                objects, events, upload data. Two frames are double buffering, three triple buffering.
/// Not for        blocks that live for a varying number of frames: lifetime/temp_job.hpp. Scratch memory:
///                lifetime/temp.hpp. One object per frame: frame_buffered, below.
/// Memory from    a block source, in chunks that are used again `frames` frames later.
/// Cost           allocate O(1), about 8 ns: the frame count, and an atomic compare-exchange in a line that an
///                eighth of the threads share. The first allocation of a frame, and a full chunk, take a lock.
/// Overhead       64 bytes per chunk; sizes are rounded up to 16 bytes. Up to eight chunks per frame are filled at the
///                same time. A size or an alignment above a quarter of a chunk takes a chunk of its own. Checked
///                builds: 32 bytes around each block, and every allocation takes the lock. Writes outside a block are
///                reported when its memory is used again, by trim() and by the destructor.
/// Threads        any thread allocates. Nobody frees.
/// Fork           usable in the child, unless another thread was allocating at the time of the fork.
/// When full      acquires another chunk; returns nullptr if that fails and changes nothing.
/// Example        examples/frame_memory.cpp

#include <array>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
struct holder_kind;
}

class TENURE_API frame_memory {
public:
    static constexpr std::size_t max_frames = 8;
    /// Around each block, in checked builds: 16 bytes in front and at least 16 behind it. They count as used.
    static constexpr std::size_t guard_bytes = checks::caller ? 32 : 0;

    /// A block that is allocated in one frame is valid in this frame and in `frames` - 1 further ones: until
    /// next_frame() has been called `frames` times. Acquires nothing until the first allocation.
    /// If `frames` is not 1 to max_frames, every allocation fails; checked builds report it. `chunk_bytes` below 4 KiB
    /// count as 4 KiB.
    /// Requires  the source serves any thread and outlives this object.
    [[nodiscard]] explicit frame_memory(std::size_t frames = 2, block_source& source = page_source::process(),
                                        std::size_t chunk_bytes = 256 * 1024) noexcept;
    /// Releases all memory, at whatever age. Requires  no thread allocates.
    ~frame_memory();
    frame_memory(const frame_memory&) = delete;
    frame_memory& operator=(const frame_memory&) = delete;

    /// Zero bytes count as one.
    /// Requires  `alignment` is a power of two.
    /// Returns   memory that frees itself; nullptr when out of memory.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept;
    /// Does nothing: the form of the allocator concept.
    void deallocate(void*, std::size_t, std::size_t = default_alignment) noexcept {}

    /// Releases the chunks that no frame uses. Requires  no other thread allocates during the call.
    /// Returns   the bytes released.
    std::size_t trim() noexcept;

    /// Whether the pointer is inside a chunk, freed or not. Cost      O(chunks), with a lock.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;
    /// Zero if the constructor's argument was out of range.
    [[nodiscard]] std::size_t frames() const noexcept { return is_possible_ ? frames_ : 0; }
    /// live_bytes are those of the frames that are still valid, with roundings; live_count is not counted. Cost
    /// O(chunks), with a lock.
    [[nodiscard]] allocator_stats stats() const noexcept;

private:
    struct chunk;
    static constexpr std::size_t stripe_count = 8;
    static constexpr std::uint64_t no_frame = UINT64_MAX;

    /// What one frame allocates.
    struct buffer {
        // Released after the buffer is recycled; the current chunks are released with their sizes. allocate() acquires
        // both.
        detail::atomic<std::uint64_t> frame{no_frame};
        std::array<detail::atomic<chunk*>, stripe_count> current{}; ///< by thread
        chunk* first = nullptr;                                     ///< all chunks of the frame
    };

    [[nodiscard]] static std::size_t stripe_of_this_thread() noexcept;
    [[nodiscard]] bool is_large(std::size_t bytes, std::size_t alignment) const noexcept {
        return (bytes > alignment ? bytes : alignment) > chunk_bytes_ / 4;
    }
    [[nodiscard]] static void* bump(chunk& from, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    void recycle(buffer& which) noexcept;
    [[nodiscard]] chunk* take_chunk(std::size_t bytes) noexcept;
    std::size_t release_list(chunk*& first) noexcept;
    [[nodiscard]] bool is_valid_still(const buffer& each) const noexcept;
    static const detail::holder_kind as_holder;

    std::size_t frames_; ///< 1 to max_frames
    bool is_possible_;   ///< whether the constructor's argument was
    std::size_t chunk_bytes_;
    block_source& source_;
    std::array<buffer, max_frames> buffers_{};
    mutable platform::mutex mutex_;
    chunk* free_ = nullptr;
    std::size_t held_bytes_ = 0;
    std::size_t peak_bytes_ = 0;
    std::size_t chunk_count_ = 0;
};

/// One object per frame, used in turn: double buffering with two copies, triple buffering with three. In each frame one
/// side writes current() while the other reads previous().
/// Threads   as T: each copy is written by whoever uses current() in its frame, and read later.
template<class T, std::size_t Copies = 2>
class frame_buffered {
    static_assert(Copies >= 2);

public:
    [[nodiscard]] frame_buffered() = default;

    /// The copy of the present frame: what it held `Copies` frames ago, until it is overwritten.
    [[nodiscard]] T& current() noexcept { return copies_[frame_clock::now() % Copies]; }
    /// The copy of an earlier frame. Requires  `age` is 1 to `Copies` - 1.
    [[nodiscard]] const T& previous(std::size_t age = 1) const noexcept {
        return copies_[(frame_clock::now() + Copies - age % Copies) % Copies];
    }

private:
    std::array<T, Copies> copies_{};
};

}
