// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads protobuf's wire format, of bytes that may be anything.

#include <cstdint>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// A field of a message: a number, or bytes.
struct wire_field {
    std::uint64_t number = 0; ///< of the field
    std::uint64_t value = 0;
    std::string_view bytes;
    bool has_bytes = false;
};

/// Reads protobuf's wire format.
class wire_reader {
public:
    explicit wire_reader(std::string_view message) : rest_(message) {}

    /// Returns   false at the end, and when the bytes are no message: is_sound() tells which.
    [[nodiscard]] bool next(wire_field& to) {
        if (rest_.empty() || !is_sound_) return false;
        const std::uint64_t head = varint();
        to = {};
        to.number = head >> 3U;
        switch (head & 7U) {
        case 0: to.value = varint(); break;
        case 1: is_sound_ = skip(8) && is_sound_; break;
        case 2: {
            const std::uint64_t length = varint();
            to.has_bytes = true;
            to.bytes = rest_.substr(0, length);
            is_sound_ = skip(length) && is_sound_;
            break;
        }
        case 5: is_sound_ = skip(4) && is_sound_; break;
        default: is_sound_ = false;
        }
        is_sound_ = is_sound_ && to.number != 0;
        return is_sound_;
    }
    [[nodiscard]] bool has_more() const { return is_sound_ && !rest_.empty(); }
    /// The next number of a packed field.
    [[nodiscard]] std::uint64_t varint() {
        constexpr unsigned bits_of_number = 64;
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < bits_of_number && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if ((byte & 0x80U) == 0) return value;
        }
        is_sound_ = false;
        return 0;
    }
    [[nodiscard]] bool is_sound() const { return is_sound_; }

private:
    [[nodiscard]] bool skip(std::uint64_t length) {
        if (length > rest_.size()) return false;
        rest_.remove_prefix(length);
        return true;
    }

    std::string_view rest_;
    bool is_sound_ = true;
};

/// Calls `visit(field)` for each field. Returns   whether the bytes are a message.
template<class Visit>
[[nodiscard]] bool for_each_field(std::string_view message, Visit&& visit) {
    wire_reader reader(message);
    wire_field found;
    while (reader.next(found)) visit(found);
    return reader.is_sound();
}

/// The numbers of a repeated field, packed or not, are appended. Returns   whether they are numbers.
[[nodiscard]] inline bool append_numbers(const wire_field& from, std::vector<std::uint64_t>& to) {
    if (!from.has_bytes) {
        to.push_back(from.value);
        return true;
    }
    wire_reader reader(from.bytes);
    while (reader.has_more()) to.push_back(reader.varint());
    return reader.is_sound();
}

}
