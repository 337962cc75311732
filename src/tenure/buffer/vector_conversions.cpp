// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A hundred conversions from the loops that exist: the others are copies, or ignore the sign.

#include <concepts>

#include <tenure/buffer/detail/vector_dispatch.hpp>
#include <tenure/buffer/detail/vector_operations.hpp>

namespace tenure::inline TENURE_ABI {
namespace vectors::detail {

namespace {

namespace kernels = vector_kernels;

template<class To, class From>
void convert_to(void* to, std::size_t count, const void* from) noexcept {
    auto* const typed_to = static_cast<To*>(to);
    const auto* const typed_from = static_cast<const From*>(from);
    if (!check_apart(typed_to, typed_from, count)) return;
    if constexpr (std::same_as<To, From>) {
        operations<To>::copy(typed_to, count, typed_from);
    } else if constexpr (std::integral<To> && std::integral<From> && sizeof(To) <= sizeof(From)) {
        if constexpr (std::is_signed_v<To> || std::is_signed_v<From>) {
            convert_to<std::make_unsigned_t<To>, std::make_unsigned_t<From>>(to, count, from);
        } else {
            const kernels::conversion<To, From>& loop =
                static_cast<const kernels::conversions<From>&>(kernels::converting_integers());
            loop.convert(typed_to, count, typed_from);
        }
    } else if constexpr (std::integral<From>) {
        const kernels::conversion<To, From>& loop =
            static_cast<const kernels::conversions<From>&>(kernels::converting_integers());
        loop.convert(typed_to, count, typed_from);
    } else {
        const kernels::conversion<To, From>& loop =
            static_cast<const kernels::conversions<From>&>(kernels::converting_floating());
        loop.convert(typed_to, count, typed_from);
    }
}

template<class From>
void convert_from(void* to, element_type to_type, std::size_t count, const void* from) noexcept {
    switch (to_type) {
    case type_of<std::int8_t>: return convert_to<std::int8_t, From>(to, count, from);
    case type_of<std::int16_t>: return convert_to<std::int16_t, From>(to, count, from);
    case type_of<std::int32_t>: return convert_to<std::int32_t, From>(to, count, from);
    case type_of<std::int64_t>: return convert_to<std::int64_t, From>(to, count, from);
    case type_of<std::uint8_t>: return convert_to<std::uint8_t, From>(to, count, from);
    case type_of<std::uint16_t>: return convert_to<std::uint16_t, From>(to, count, from);
    case type_of<std::uint32_t>: return convert_to<std::uint32_t, From>(to, count, from);
    case type_of<std::uint64_t>: return convert_to<std::uint64_t, From>(to, count, from);
    case type_of<float>: return convert_to<float, From>(to, count, from);
    case type_of<double>: return convert_to<double, From>(to, count, from);
    }
}

}

void convert(void* to, element_type to_type, std::size_t count, const void* from, element_type from_type) noexcept {
    switch (from_type) {
    case type_of<std::int8_t>: return convert_from<std::int8_t>(to, to_type, count, from);
    case type_of<std::int16_t>: return convert_from<std::int16_t>(to, to_type, count, from);
    case type_of<std::int32_t>: return convert_from<std::int32_t>(to, to_type, count, from);
    case type_of<std::int64_t>: return convert_from<std::int64_t>(to, to_type, count, from);
    case type_of<std::uint8_t>: return convert_from<std::uint8_t>(to, to_type, count, from);
    case type_of<std::uint16_t>: return convert_from<std::uint16_t>(to, to_type, count, from);
    case type_of<std::uint32_t>: return convert_from<std::uint32_t>(to, to_type, count, from);
    case type_of<std::uint64_t>: return convert_from<std::uint64_t>(to, to_type, count, from);
    case type_of<float>: return convert_from<float>(to, to_type, count, from);
    case type_of<double>: return convert_from<double>(to, to_type, count, from);
    }
}

}
}
