// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The shape of a loop over vectors: each element once, no access outside the operands, also in place.
///
/// Included once for each instruction set, and therefore without the usual include guard.

#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include <tenure/buffer/detail/vector_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace tenure::vector_kernels::inline v0_1 {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// At most 32 bytes: on Cascade Lake, stores of whole 64-byte lines that were not read before bypass the caches.
/// Filling 16 MiB then runs at 2.6 GB/s instead of 9, and 128 MiB at 2.8 instead of 3.9. Data in the first cache is
/// filled twice as fast with 64 bytes, but that rarely matters.
template<class T>
using vector_of = hn::CappedTag<T, 32 / sizeof(T)>;

constexpr std::size_t strides = 4; ///< vectors that a loop processes at a time
static_assert(strides * HWY_MAX_BYTES <= repeated_bytes);

/// Number of elements until `to` is aligned to a vector of `lanes`; fewer than a vector has.
template<class T>
HWY_INLINE std::size_t until_aligned(const T* to, std::size_t lanes) noexcept {
    return (0 - reinterpret_cast<std::uintptr_t>(to)) / sizeof(T) % lanes;
}

/// Loads less than a vector and fills the rest with zeros.
template<class D, class T>
HWY_INLINE hn::Vec<D> load_few(D d, const T* from, std::size_t count) noexcept {
    HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)] = {};
    std::memcpy(lanes, from, count * sizeof(T));
    return hn::Load(d, lanes);
}

template<class D, class T>
HWY_INLINE hn::Vec<D> load_few(D d, operand<T> from, std::size_t count) noexcept {
    return from.step == 0 ? hn::LoadU(d, from.at) : load_few(d, from.at, count);
}

template<class D, class T>
HWY_INLINE hn::Vec<D> load_at(D d, operand<T> from, std::size_t i) noexcept {
    return hn::LoadU(d, from.at + (i & from.step));
}

/// to[i] = operation(left[i], right[i]). The operation returns as many elements of To as it gets of T.
///
/// The first and last vectors may overlap the ones between. Their results are computed before anything is written and
/// stored after everything else, so that in place no element is read after it was written.
template<class To, class T, class Operation>
HWY_INLINE void for_each_vector(To* to, std::size_t count, operand<T> left, operand<T> right,
                                Operation operation) noexcept {
    const vector_of<T> d;
    const hn::Rebind<To, vector_of<T>> d_to;
    const std::size_t n = hn::Lanes(d);
    if (count < n) {
        if (count == 0) return;
        HWY_ALIGN To lanes[HWY_MAX_BYTES / sizeof(To)];
        hn::Store(operation(d, load_few(d, left, count), load_few(d, right, count)), d_to, lanes);
        std::memcpy(to, lanes, count * sizeof(To));
        return;
    }
    const auto first = operation(d, load_at(d, left, 0), load_at(d, right, 0));
    const std::size_t last_at = count - n;
    const auto last = operation(d, load_at(d, left, last_at), load_at(d, right, last_at));
    std::size_t i = until_aligned(to, n);
    for (; i + strides * n <= count; i += strides * n) {
        const T* const lefts = left.at + (i & left.step);
        const T* const rights = right.at + (i & right.step);
        for (std::size_t k = 0; k < strides; ++k)
            hn::StoreU(operation(d, hn::LoadU(d, lefts + k * n), hn::LoadU(d, rights + k * n)), d_to, to + i + k * n);
    }
    for (; i < last_at; i += n) hn::StoreU(operation(d, load_at(d, left, i), load_at(d, right, i)), d_to, to + i);
    hn::StoreU(first, d_to, to);
    hn::StoreU(last, d_to, to + last_at);
}

}
}
HWY_AFTER_NAMESPACE();
