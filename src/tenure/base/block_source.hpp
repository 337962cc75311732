// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Block source: the interface through which every allocator acquires large blocks.
///
/// Arenas, pools and lifetimes take a source by reference and request a few large blocks. Tests pass a source that
/// counts or fails; programs pass a static buffer, huge pages or a file. Calls are rare, so they are virtual.
///
/// An allocator may call its source while it holds a lock. Therefore a source must not use the allocator that it
/// serves, and a source behind Temp or TempJob must use neither. Nor may it create a heap, a shared pool or a shared
/// group inside a call: creation needs a lock that a forking thread holds while it waits for the locks of allocators.
/// Create them beforehand.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Which threads may call a source.
enum class sharing : std::uint8_t {
    one_thread, ///< one thread at a time: the allocator on top must not be shared either
    any_thread, ///< any number of threads at once
};

class TENURE_API block_source {
public:
    block_source(const block_source&) = delete;
    block_source& operator=(const block_source&) = delete;

    /// Requires  `bytes` is not zero; `alignment` is a power of two.
    /// Returns   at least `bytes` of memory at a multiple of `alignment`, untouched where possible; nullptr when out of
    ///           memory, and nothing changes. Allocators release a misaligned block and treat the call as failed.
    [[nodiscard]] virtual void* acquire(std::size_t bytes, std::size_t alignment) noexcept = 0;

    /// Releases a whole block. Requires  `bytes` is the size it was acquired with (or extended to).
    virtual void release(void* block, std::size_t bytes) noexcept = 0;

    /// Extends a block in place. The default returns false. With the current size it changes nothing and returns
    /// whether the source can extend at all; with a smaller size it returns false.
    [[nodiscard]] virtual bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept;

    /// Moves a block's pages to a larger or smaller range without copying bytes.
    /// Requires  `alignment` is a power of two.
    /// Returns   the new address, contents preserved, at a multiple of `alignment`; nullptr on failure, and nothing
    ///           changes. The default returns nullptr.
    [[nodiscard]] virtual void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                                      std::size_t alignment) noexcept;

    /// Decommits the OS pages that are wholly inside a part of a block. The addresses stay valid, the contents are
    /// lost, and the next touch commits a page again. Returns whether memory was decommitted; the default does nothing.
    virtual bool decommit(void* part, std::size_t bytes) noexcept;

    [[nodiscard]] virtual sharing threads() const noexcept = 0;

    /// Whether fresh and decommitted memory reads as zero. The default returns false.
    [[nodiscard]] virtual bool is_zeroed() const noexcept;

    /// The largest block that this source can ever provide. Allocators that need naturally aligned segments use it to
    /// choose a segment size. The default is no limit.
    [[nodiscard]] virtual std::size_t max_bytes() const noexcept;

    /// Releases the end of a block, which keeps its address and its first `new_bytes`.
    /// Requires  `new_bytes` is less than `old_bytes`, not zero, and a multiple of the OS page.
    /// Returns   whether the end was released; the default releases nothing and returns false.
    virtual bool shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept;

protected:
    constexpr block_source() = default;
    ~block_source() = default;
};

namespace detail {

/// Whether a block has the alignment that was requested. Checked builds report a block without it.
constexpr std::string_view ignored_alignment = "a block source ignored the alignment",
                           ignored_alignment_advice = "The block is returned to its source. Make acquire() and remap() "
                                                      "return a multiple of the requested alignment.";
[[nodiscard]] TENURE_API bool has_alignment(const void* block, std::size_t alignment) noexcept;

/// Acquires a block. Releases a misaligned block, reports it in checked builds, and returns nullptr.
[[nodiscard]] TENURE_API void* acquire_aligned(block_source& source, std::size_t bytes, std::size_t alignment) noexcept;

/// The same for callers that hold a lock. Nothing may be reported under a lock, because the report handler may use the
/// allocator. acquire() records the misaligned block; report() reports it once, after the lock is released.
/// Threads   any.
class misaligned_block {
public:
    [[nodiscard]] TENURE_API void* acquire(block_source& source, std::size_t bytes, std::size_t alignment) noexcept;
    void report() noexcept {
        if (checks::caller && at_.load(memory_order::relaxed) != 0) [[unlikely]]
            write();
    }

private:
    TENURE_API void write() noexcept;

    // The address is released after the alignment: write() acquires both. Of two blocks at once, one is reported.
    atomic<std::uintptr_t> at_{0};
    atomic<std::size_t> alignment_{0};
};

}

}
