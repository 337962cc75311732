// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Fills.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <cstring>

#include <tenure/buffer/detail/loops/vector_loops.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

/// Uses stores that keep the data in the caches. Non-temporal (streaming) stores are not faster at any size: 2.6 to 7
/// GB/s, compared to 40 in the second cache, 14 in the third and 4 to 7 in memory, measured in the same minutes
/// (Cascade Lake, pages of 2 MiB).
template<std::size_t VectorBytes, class T>
HWY_INLINE void fill_by(T* to, std::size_t count, T value) noexcept {
    const hn::CappedTag<T, VectorBytes / sizeof(T)> d;
    const std::size_t n = hn::Lanes(d);
    const auto all = hn::Set(d, value);
    if (count < n) {
        if (count == 0) return;
        HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
        hn::Store(all, d, lanes);
        std::memcpy(to, lanes, count * sizeof(T));
        return;
    }
    hn::StoreU(all, d, to);
    std::size_t i = until_aligned(to, n);
    for (; i + strides * n <= count; i += strides * n)
        for (std::size_t k = 0; k < strides; ++k) hn::Store(all, d, to + i + k * n);
    for (; i + n <= count; i += n) hn::Store(all, d, to + i);
    hn::StoreU(all, d, to + count - n);
}

/// From the third cache on, shorter stores are as fast or faster: 10.0 GB/s instead of 9.2, 4.3 instead of 3.9.
template<class T>
void fill(T* to, std::size_t count, T value) noexcept {
    constexpr std::size_t least_bytes = std::size_t{8} << 20;
    if (count < least_bytes / sizeof(T))
        fill_by<32>(to, count, value);
    else
        fill_by<16>(to, count, value);
}

template<class T>
constexpr fills<T> fills_of{fill<T>};

constexpr fill_loops fill_table{fills_of<std::uint8_t>, fills_of<std::uint16_t>, fills_of<std::uint32_t>,
                                fills_of<std::uint64_t>};

static const fill_loops& find_fills() { return fill_table; }

}
}
HWY_AFTER_NAMESPACE();
