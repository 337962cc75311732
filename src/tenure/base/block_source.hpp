// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where big blocks come from and go back to: the one seam below every allocator.
///
/// Arenas, pools and lifetimes take a source by reference and ask it for a few large blocks. A test hands them one
/// that counts or fails, a program one that is a static buffer, huge pages or a file. Calls are rare, so they are
/// virtual. They may come while a lock of the allocator's is held: a source must not use the allocator that it serves,
/// and one behind Temp and TempJob neither of the two.

#include <cstddef>
#include <cstdint>

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
    /// Returns   memory of at least `bytes`, not touched where that can be had; null when refused, and nothing changes.
    [[nodiscard]] virtual void* acquire(std::size_t bytes, std::size_t alignment) noexcept = 0;

    /// Gives back a whole block, with the size it was acquired with (or extended to).
    virtual void release(void* block, std::size_t bytes) noexcept = 0;

    /// Makes a block larger where it is. Returns whether it did; the default refuses.
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
    [[nodiscard]] virtual bool gives_zero() const noexcept;

    /// The largest block it could ever give, so that whoever wants naturally aligned segments asks for a size it has.
    /// The default says that there is no limit.
    [[nodiscard]] virtual std::size_t largest_bytes() const noexcept;

protected:
    constexpr block_source() = default;
    ~block_source() = default;
};

}
