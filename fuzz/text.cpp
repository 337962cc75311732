// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Numbers of any bits into buffers of any size: the same text as printf, the right needed size, and no write past the
// end.

#include <tenure/text/text_writer.hpp>

#include <array>
#include <bit>
#include <string_view>

#include "operations.hpp"

namespace {

constexpr char untouched = '#';

std::uint64_t word(fuzz::input& from) {
    std::uint64_t made = 0;
    for (int each = 0; each < 8; ++each) made = made << 8 | from.byte();
    return made;
}

/// Writes into a buffer of `room` bytes and compares with printf's text.
template<class Write>
void check(std::string_view right, std::size_t room, Write&& write) {
    std::array<char, 512> memory;
    memory.fill(untouched);
    tenure::text_writer to(memory.data(), room);
    write(to);
    fuzz::require(to.needed_bytes() == right.size(), "the size is that of printf's text");
    fuzz::require(to.fits() == (right.size() <= room), "what fits is written");
    fuzz::require(to.text() == (to.fits() ? right : std::string_view{}), "it is printf's text, or none");
    for (std::size_t byte = room; byte < memory.size(); ++byte)
        fuzz::require(memory[byte] == untouched, "nothing is written past the room");
}

template<class Float>
void check_float(Float value, unsigned precision, std::size_t room) {
    char text[512];
    const int size = std::snprintf(text, sizeof text, "%.*f", static_cast<int>(precision), static_cast<double>(value));
    const std::string_view right(text, static_cast<std::size_t>(size));
    check(right, room, [&](tenure::text_writer& to) { to.append_fixed(value, precision); });
    switch (precision) { // the form with a compile-time precision
    case 0: return check(right, room, [&](tenure::text_writer& to) { to.append_fixed<0>(value); });
    case 1: return check(right, room, [&](tenure::text_writer& to) { to.append_fixed<1>(value); });
    case 2: return check(right, room, [&](tenure::text_writer& to) { to.append_fixed<2>(value); });
    case 3: return check(right, room, [&](tenure::text_writer& to) { to.append_fixed<3>(value); });
    case 5: return check(right, room, [&](tenure::text_writer& to) { to.append_fixed<5>(value); });
    case 7: return check(right, room, [&](tenure::text_writer& to) { to.append_fixed<7>(value); });
    default: break;
    }
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    fuzz::input from(bytes, count);
    while (!from.empty()) {
        const std::uint8_t kind = from.byte();
        const unsigned precision = kind < 192 ? kind % 8 : from.byte() % (tenure::max_precision + 1);
        const std::size_t room = kind % 2 == 0 ? 32 : from.byte() * std::size_t{2} % 400;
        const std::uint64_t bits = word(from);
        check_float(std::bit_cast<double>(bits), precision, room);
        check_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32)), precision, room);
        // Most bit patterns are huge or tiny numbers; this one has a common size.
        check_float(static_cast<double>(static_cast<std::int64_t>(bits) >> kind % 64) / (1 << kind % 20), precision,
                    room);
        char text[32];
        const int size = std::snprintf(text, sizeof text, "%lld", static_cast<long long>(bits));
        check({text, static_cast<std::size_t>(size)}, room,
              [&](tenure::text_writer& to) { to.append(static_cast<std::int64_t>(bits)); });
    }
    return 0;
}
