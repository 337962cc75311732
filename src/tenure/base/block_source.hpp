// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where big blocks come from and go back to: the one seam below every allocator.
///
/// Arenas, pools and lifetimes take a source by reference and ask it for a few large blocks. A test hands them one
/// that counts or fails, a program one that is a static buffer, huge pages or a file. Calls are rare, so they are
/// virtual. They may come while a lock of the allocator's is held: a source must not use the allocator that it serves,
/// and one behind Temp and TempJob neither of the two. Nor may it make a heap, a shared pool or a shared group in a
/// call: a fork waits for those locks while it holds the one that is needed for that. It makes them before.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Who may call a source.
enum class sharing : std::uint8_t {
    one_thread, ///< one thread at a time: the allocator above must not be shared either
    any_thread, ///< any number of threads at once
};

class TENURE_API block_source {
public:
    block_source(const block_source&) = delete;
    block_source& operator=(const block_source&) = delete;

    /// Requires  `bytes` is not zero; `alignment` is a power of two.
    /// Returns   memory of at least `bytes` at a multiple of `alignment`, not touched where that can be had; null when
    ///           refused, and nothing changes. Allocators give a block that is not so aligned back, as refused.
    [[nodiscard]] virtual void* acquire(std::size_t bytes, std::size_t alignment) noexcept = 0;

    /// Gives back a whole block, with the size it was acquired with (or extended to).
    virtual void release(void* block, std::size_t bytes) noexcept = 0;

    /// Makes a block larger where it is. Returns whether it did; the default refuses. A block that has the size already
    /// is left as it is, and counts as done where the source can extend at all; a smaller size is refused.
    [[nodiscard]] virtual bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept;

    /// Moves a block's pages to a larger or smaller range without copying bytes.
    /// Requires  `alignment` is a power of two.
    /// Returns   the new address, contents kept, at a multiple of `alignment`; null when refused, and nothing changes.
    ///           The default refuses.
    [[nodiscard]] virtual void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                                      std::size_t alignment) noexcept;

    /// Gives back the pages wholly inside a part of a block while its addresses stay: the contents are lost, the next
    /// touch finds some page again. Returns whether memory was given back; the default does nothing.
    virtual bool decommit(void* part, std::size_t bytes) noexcept;

    [[nodiscard]] virtual sharing threads() const noexcept = 0;

    /// Whether fresh and decommitted memory reads as zero. The default says no.
    [[nodiscard]] virtual bool is_zeroed() const noexcept;

    /// The largest block it could ever give, so that whoever wants naturally aligned segments asks for a size it has.
    /// The default says that there is no limit.
    [[nodiscard]] virtual std::size_t max_bytes() const noexcept;

protected:
    constexpr block_source() = default;
    ~block_source() = default;
};

namespace detail {

/// Whether a source has kept to the alignment that it was asked for; checked builds report it when it has not.
constexpr std::string_view ignored_alignment = "a block source ignored the alignment",
                           ignored_alignment_advice = "The block goes back. Make acquire() and remap() return a "
                                                      "multiple of the alignment that is asked for.";
[[nodiscard]] TENURE_API bool has_alignment(const void* block, std::size_t alignment) noexcept;

/// Acquires a block as allocators do: one that ignores the alignment goes back to its source, and counts as refused.
[[nodiscard]] TENURE_API void* acquire_aligned(block_source& source, std::size_t bytes, std::size_t alignment) noexcept;

/// The same under a lock, where nothing may be reported: whoever hears of it may use the allocator. It is noted, and
/// reported once, without the lock.
/// Threads   any.
class misaligned_block {
public:
    [[nodiscard]] TENURE_API void* acquire(block_source& source, std::size_t bytes, std::size_t alignment) noexcept;
    void report() noexcept {
        if (checks::caller && at_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            write();
    }

private:
    TENURE_API void write() noexcept;

    std::atomic<std::uintptr_t> at_{0};
    std::atomic<std::size_t> alignment_{0};
};

}

}
