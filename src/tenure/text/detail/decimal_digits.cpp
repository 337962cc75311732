// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/detail/decimal_digits.hpp>

#include <algorithm>

#include <tenure/text/detail/leading_digits.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A binary number becomes digits in chunks of nineteen. A whole number is divided by 10 ^ 19 until nothing is left: its
// remainders are the chunks, the last one first. A fraction is multiplied by 10 ^ 19: what leaves it at the top is the
// next chunk, and its lowest 19 bits become zero each time, so it shrinks. Both are exact. Common numbers have one or
// two words. Where a few digits of a huge or tiny number are wanted, leading_digits.hpp finds them alone.

namespace {

constexpr int chunk_digits = 19;
constexpr std::uint64_t chunk_base = power_of(10, chunk_digits);
static_assert(chunk_base >> 63 == 1, "the division below needs a divisor with its highest bit set");

/// floor((2 ^ 128 - 1) / chunk_base) - 2 ^ 64.
constexpr std::uint64_t reciprocal = static_cast<std::uint64_t>(~wide_word{0} / chunk_base);

/// Divides (high, low) by chunk_base (Möller and Granlund, "Improved division by invariant integers", 2011).
/// Requires  `high` is below chunk_base. Returns   the quotient; `high` becomes the remainder.
std::uint64_t divide(std::uint64_t& high, std::uint64_t low) noexcept {
    const wide_word estimate = static_cast<wide_word>(reciprocal) * high + (static_cast<wide_word>(high) << 64 | low);
    std::uint64_t quotient = static_cast<std::uint64_t>(estimate >> 64) + 1;
    std::uint64_t rest = low - quotient * chunk_base;
    if (rest > static_cast<std::uint64_t>(estimate)) {
        --quotient;
        rest += chunk_base;
    }
    if (rest >= chunk_base) [[unlikely]] {
        ++quotient;
        rest -= chunk_base;
    }
    high = rest;
    return quotient;
}

void put_chunk(char* to, std::uint64_t chunk) noexcept {
    if constexpr (stores_words) {
        constexpr std::uint64_t sixteen_digits = short_limit * short_limit;
        put_eight(to, chunk / sixteen_digits, 3);
        put_eight(to + 3, chunk % sixteen_digits / short_limit, 8);
        put_eight(to + 11, chunk % short_limit, 8);
    } else {
        for (int digit = chunk_digits; digit-- != 0; chunk /= 10) to[digit] = static_cast<char>('0' + chunk % 10);
    }
}

/// Stores a mantissa at a bit of a number whose words are zero. Returns   the end of the words that are not zero.
std::size_t place(std::uint64_t* words, wide_word mantissa, std::size_t bit) noexcept {
    const std::size_t word = bit / 64;
    const unsigned shift = bit % 64;
    const wide_word low = mantissa << shift;
    words[word] = static_cast<std::uint64_t>(low);
    words[word + 1] = static_cast<std::uint64_t>(low >> 64);
    words[word + 2] = shift == 0 ? 0 : static_cast<std::uint64_t>(mantissa >> (128 - shift));
    std::size_t end = word + 3;
    while (words[end - 1] == 0) --end;
    return end;
}

}

binary_value::binary_value(double value) noexcept { read(std::bit_cast<std::uint64_t>(value), 52, 11); }

binary_value::binary_value(long double value) noexcept {
    constexpr int digits = std::numeric_limits<long double>::digits;
    if constexpr (digits == 64) { // of x87: all bits are stored, in ten bytes
        std::uint16_t top = 0;
        std::memcpy(&top, reinterpret_cast<const char*>(&value) + 8, sizeof top);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        constexpr int highest = 0x7FFF, bias = 16383 + 63;
        const int stored = top & highest;
        is_negative = top >> 15 != 0;
        mantissa = bits;
        exponent = std::max(stored, 1) - bias;
        constexpr std::uint64_t one = std::uint64_t{1} << 63;
        // Numbers that no processor makes any more, whose first bit is missing, are no numbers.
        if (stored == highest && bits == one)
            what = kind::infinity;
        else if (stored == highest || (stored != 0 && bits < one))
            what = kind::nan;
    } else if constexpr (digits == 113) {
        wide_word bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        read(bits, 112, 15);
    } else {
        static_assert(digits == 64 || digits == 113 || digits == 53);
        read(std::bit_cast<std::uint64_t>(static_cast<double>(value)), 52, 11);
    }
}

void binary_value::read(wide_word bits, int stored_bits, int exponent_bits) noexcept {
    const int highest = (1 << exponent_bits) - 1, bias = highest / 2 + stored_bits;
    const wide_word one = wide_word{1} << stored_bits;
    const int stored = static_cast<int>(bits >> stored_bits) & highest;
    is_negative = (bits >> (stored_bits + exponent_bits) & 1) != 0;
    mantissa = (bits & (one - 1)) | (stored != 0 ? one : 0);
    exponent = std::max(stored, 1) - bias;
    if (stored == highest) what = mantissa == one ? kind::infinity : kind::nan;
}

void decimal_digits::expand_zero() noexcept {
    *first_ = '0';
    count_ = point_ = 1;
}

/// Requires  room for nineteen more digits.
void decimal_digits::append(std::uint64_t chunk) noexcept {
    if (count_ != 0) {
        put_chunk(first_ + count_, chunk);
        count_ += chunk_digits;
    } else if (chunk == 0) {
        point_ -= chunk_digits;
    } else {
        put_chunk(first_, chunk);
        int zeros = 0;
        for (; *first_ == '0'; ++first_) ++zeros;
        count_ = chunk_digits - zeros;
        point_ -= zeros;
    }
}

bool decimal_digits::expand_leading(const binary_value& value, std::int64_t wanted) noexcept {
    constexpr std::int64_t most = 17;       // one fewer than are found
    constexpr int large = 64, small = -128; // closer to one, all digits are found as fast
    if (wanted > most || (value.exponent < large && value.exponent > small)) return false;
    const leading_digits found = find_leading_digits(value.mantissa, value.exponent);
    if (found.whole < power_of(10, 17)) return false;
    point_ = chunk_digits + found.exponent;
    append(found.whole);
    has_more_ = true;
    return true;
}

void decimal_digits::expand_whole(const binary_value& value, std::uint64_t* words, char* end) noexcept {
    const auto shift = static_cast<std::size_t>(value.exponent);
    std::memset(words, 0, shift / 64 * sizeof *words);
    std::size_t count = place(words, value.mantissa, shift);
    char* first = end;
    while (count != 0) {
        std::uint64_t rest = 0;
        for (std::size_t word = count; word-- != 0;) words[word] = divide(rest, words[word]);
        while (count != 0 && words[count - 1] == 0) --count;
        first -= chunk_digits;
        put_chunk(first, rest);
    }
    while (*first == '0') ++first;
    first_ = first;
    count_ = point_ = end - first;
}

void decimal_digits::expand(const binary_value& value, std::uint64_t* words, counted what,
                            std::int64_t wanted) noexcept {
    const auto fraction_bits = static_cast<std::size_t>(-value.exponent);
    wide_word fraction = value.mantissa;
    if (fraction_bits < 128) {
        wide_word whole = value.mantissa >> fraction_bits;
        fraction -= whole << fraction_bits;
        if (whole != 0) { // at most 113 bits, so two chunks
            for (const wide_word chunk : {whole / chunk_base, whole % chunk_base}) {
                if (chunk == 0 && count_ == 0) continue;
                point_ += chunk_digits;
                append(static_cast<std::uint64_t>(chunk));
            }
        }
    }
    if (fraction == 0) return;
    // The fraction is words[low] to words[high - 1], and all others are zero; the point is in front of words[top - 1].
    const std::size_t top = (fraction_bits + 63) / 64;
    std::size_t high = std::min(place(words, fraction, top * 64 - fraction_bits), top);
    std::size_t low = 0;
    while (words[low] == 0) ++low;
    std::int64_t after_point = 0;
    while (low != high) {
        if (what == counted::after_point ? after_point > wanted : count_ > wanted) {
            has_more_ = true;
            return;
        }
        std::uint64_t carry = 0;
        for (std::size_t word = low; word != high; ++word) {
            const wide_word product = static_cast<wide_word>(words[word]) * chunk_base + carry;
            words[word] = static_cast<std::uint64_t>(product);
            carry = static_cast<std::uint64_t>(product >> 64);
        }
        if (high != top) {
            words[high] = carry;
            high += carry != 0;
            carry = 0;
        }
        while (low != high && words[low] == 0) ++low;
        append(carry);
        after_point += chunk_digits;
    }
}

/// Rounds to the first `kept` digits. Digits past the last one are zero, so there may be fewer.
void decimal_digits::round(std::int64_t kept) noexcept {
    if (kept >= count_) return; // what nobody wanted lies behind more digits than were wanted
    if (kept < 0) return expand_zero();
    const char next = first_[kept];
    bool is_up = next > '5';
    if (next == '5') {
        const bool is_odd = kept != 0 && (first_[kept - 1] - '0') % 2 != 0;
        is_up = is_odd || has_more_ ||
                std::any_of(first_ + kept + 1, first_ + count_, [](char digit) { return digit != '0'; });
    }
    count_ = kept;
    if (is_up) {
        while (count_ != 0 && first_[count_ - 1] == '9') --count_;
        if (count_ != 0) {
            ++first_[count_ - 1];
        } else { // all were nines
            *first_ = '1';
            count_ = 1;
            ++point_;
        }
    }
    if (count_ == 0) expand_zero();
}

std::int64_t decimal_digits::significant_count() const noexcept {
    std::int64_t count = count_;
    while (count > 1 && first_[count - 1] == '0') --count;
    return count;
}

}
