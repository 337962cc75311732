// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layer between the functions of vector_maths.hpp and the loops: caller checks, types, operands.
///
///

#include <cstdint>

#include <tenure/base/check.hpp>
#include <tenure/buffer/detail/vector_kernels.hpp>
#include <tenure/buffer/vector_maths.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors::detail {

/// Whether a written and a read buffer start at the same element or do not overlap; reports an overlap.
template<class To, class From>
[[nodiscard]] bool check_apart([[maybe_unused]] const To* to, [[maybe_unused]] const From* from,
                               [[maybe_unused]] std::size_t count) noexcept {
    if constexpr (checks::caller) {
        const auto written = reinterpret_cast<std::uintptr_t>(to), read = reinterpret_cast<std::uintptr_t>(from);
        const bool is_in_place = sizeof(To) == sizeof(From) && written == read;
        if (!is_in_place && written < read + count * sizeof(From) && read < written + count * sizeof(To)) {
            report_misuse("vectors: a buffer that is written overlaps one that is read", to,
                          "Use the same first element for both, or buffers that do not overlap.");
            return false;
        }
    }
    return true;
}

/// Unsigned integers of the same width, where the sign makes no difference; floating-point types stay as they are.
template<class T>
struct without_sign {
    using type = std::make_unsigned_t<T>;
};
template<floating T>
struct without_sign<T> {
    using type = T;
};
template<class T>
using unsigned_of = typename without_sign<T>::type;

/// The unsigned integer with the same number of bits, also for floating-point types.
template<class T>
using bits_of =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// A value that loops read like a buffer.
template<class T>
class repeated_value {
public:
    explicit repeated_value(T value) noexcept {
        for (T& each : lanes_) each = value;
    }
    [[nodiscard]] vector_kernels::operand<T> operand() const noexcept { return {lanes_, 0}; }

private:
    alignas(64) T lanes_[vector_kernels::repeated_bytes / sizeof(T)];
};

template<class T>
[[nodiscard]] vector_kernels::operand<T> buffer_operand(const T* from) noexcept {
    return {from, ~std::size_t{0}};
}

}
}
