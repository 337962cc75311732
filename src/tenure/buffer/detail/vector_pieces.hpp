// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The operations of vector_maths.hpp in pieces, for programs that divide the work among their own threads.
///
/// Pieces start at fixed multiples, so results do not depend on the number or order of threads.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>

#include <tenure/buffer/vector_maths.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors {

/// Elements of a piece. If a sum would have more than max_sums pieces, its pieces are larger by a power of two.
constexpr std::size_t piece_count = std::size_t{1} << 16;
constexpr std::size_t max_sums = 256; ///< partial sums, which are on the caller's stack

/// An executor calls `piece(i)` once for each i below `count`, on any threads and in any order, and returns after the
/// last call: `run(count, piece)`. A plain loop is one.
template<class Run, class Piece>
concept runs_pieces = std::invocable<Run&, std::size_t, Piece&>;

/// Calls `work(begin, size)` for the pieces of `count` elements, through `run`. Operations that write buffers give the
/// same result in pieces, except that divide() looks for zeros only within one piece.
template<class Run, class Work>
void in_pieces(std::size_t count, Run&& run, Work&& work, std::size_t each = piece_count) {
    auto piece = [&](std::size_t index) {
        const std::size_t begin = index * each;
        work(begin, std::min(each, count - begin));
    };
    static_assert(runs_pieces<Run, decltype(piece)>);
    run(count / each + (count % each != 0), piece);
}

namespace detail {

/// Requires  `sum_of(begin, size)` is the sum of those elements in the stated order.
/// The pieces' sums add up to the sum of the whole, because a piece has a power of two of blocks.
template<element T, class Run, class SumOf>
[[nodiscard]] sum_type<T> sum_in_pieces(std::size_t count, Run&& run, const SumOf& sum_of) {
    const std::size_t each = std::max(piece_count, std::bit_ceil(count / max_sums + (count % max_sums != 0)));
    sum_type<T> sums[max_sums];
    in_pieces(
        count, run, [&](std::size_t begin, std::size_t size) { sums[begin / each] = sum_of(begin, size); }, each);
    return operations<T>::sum_pairwise(sums, count / each + (count % each != 0));
}

}

/// Same as sum() and dot(), bit for bit.
template<element T, class Run>
[[nodiscard]] sum_type<T> sum_in_pieces(const T* from, std::size_t count, Run&& run) {
    return detail::sum_in_pieces<T>(count, run,
                                    [from](std::size_t begin, std::size_t size) { return sum(from + begin, size); });
}
template<element T, class Run>
[[nodiscard]] sum_type<T> dot_in_pieces(const T* left, std::size_t count, const T* right, Run&& run) {
    return detail::sum_in_pieces<T>(count, run, [left, right](std::size_t begin, std::size_t size) {
        return dot(left + begin, size, right + begin);
    });
}

}
}
