// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads operations for a fuzzed allocator from the fuzzer's bytes, and checks results.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <tenure/base/report.hpp>

namespace fuzz {

/// Stops the fuzzer with a message when `holds` is false; in release builds too.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// Calls with mistakes, which checked builds report.
class expected_mistakes {
public:
    expected_mistakes() : before_(tenure::set_report_handler(&ignore)) {}
    ~expected_mistakes() { tenure::set_report_handler(before_); }
    expected_mistakes(const expected_mistakes&) = delete;
    expected_mistakes& operator=(const expected_mistakes&) = delete;

private:
    static void ignore(tenure::report_kind kind, std::string_view) noexcept {
        require(kind == tenure::report_kind::misuse, "only mistakes are reported");
    }
    tenure::report_handler before_;
};

/// The fuzzer's bytes as small numbers; zeros at the end.
class input {
public:
    input(const std::uint8_t* bytes, std::size_t count) : at_(bytes), end_(bytes + count) {}
    [[nodiscard]] bool empty() const { return at_ == end_; }
    [[nodiscard]] std::uint8_t byte() { return empty() ? std::uint8_t{0} : *at_++; }
    /// A size: usually small, sometimes anything up to `most`.
    [[nodiscard]] std::size_t size(std::size_t most) {
        const std::uint8_t kind = byte();
        const std::size_t value = byte() | std::size_t{byte()} << 8;
        if (kind < 160) return std::min(value % 600, most);
        if (kind < 230) return std::min(value, most);
        return (value << 8 | kind) * (most >> 24 | 1) % (most + 1);
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

/// A block, and its last requested size and alignment.
struct held {
    unsigned char* at;
    std::size_t bytes;
    std::size_t alignment;
    std::uint8_t stamp;       ///< selects the block's contents
    bool was_resized = false; ///< by resize(): then it is not freed with the requested size
};

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
constexpr std::size_t whole_up_to_bytes = 64 * kibibyte; ///< larger blocks are checked only in part, in every page
constexpr std::size_t page_bytes = 4 * kibibyte;

/// Random bytes, none of them zero. A block contains those that begin at its stamp, so that a block that was
/// overwritten by another or copied from the wrong place is detected.
inline const std::vector<unsigned char> noise = [] {
    std::vector<unsigned char> bytes(whole_up_to_bytes + page_bytes + 256);
    std::uint32_t draw = 1;
    for (unsigned char& byte : bytes) {
        draw = draw * 1'664'525 + 1'013'904'223; // the "quick and dirty" generator of Numerical Recipes
        byte = static_cast<unsigned char>(1 + (draw >> 16) % 255);
    }
    return bytes;
}();

/// Calls `visit(offset, bytes)` for the checked parts of a block of `bytes`, until it returns false: the whole block,
/// or a page at its begin, one at its end and a byte in every page between.
template<class Visit>
bool for_each_part(std::size_t bytes, Visit&& visit) {
    if (bytes <= whole_up_to_bytes) return visit(std::size_t{0}, bytes);
    const std::size_t end = bytes - page_bytes;
    if (!visit(std::size_t{0}, page_bytes) || !visit(end, page_bytes)) return false;
    for (std::size_t offset = page_bytes; offset < end; offset += page_bytes) {
        if (!visit(offset, std::size_t{1})) return false;
    }
    return true;
}

[[nodiscard]] inline const unsigned char* noise_at(const held& block, std::size_t offset) {
    return noise.data() + block.stamp + offset % whole_up_to_bytes;
}

inline void write(const held& block) {
    for_each_part(block.bytes, [&](std::size_t offset, std::size_t bytes) {
        std::memcpy(block.at + offset, noise_at(block, offset), bytes);
        return true;
    });
}

/// Whether the first `bytes` are as write() left them.
[[nodiscard]] inline bool holds(const held& block, std::size_t bytes) {
    return for_each_part(block.bytes, [&](std::size_t offset, std::size_t part) {
        if (offset >= bytes) return true;
        return std::memcmp(block.at + offset, noise_at(block, offset), std::min(part, bytes - offset)) == 0;
    });
}

[[nodiscard]] inline bool is_zero(const unsigned char* block, std::size_t bytes) {
    return bytes == 0 || (block[0] == 0 && std::memcmp(block, block + 1, bytes - 1) == 0);
}

/// Whether `bytes` more may be allocated: every page of a large block is touched, and the machine's memory is limited.
[[nodiscard]] inline bool may_hold(const std::vector<held>& blocks, std::size_t bytes) {
    constexpr std::size_t most = 256 * mebibyte;
    if (bytes <= whole_up_to_bytes) return true;
    for (const held& block : blocks) bytes += block.bytes;
    return bytes <= most;
}

/// Removes a block from a list and returns it; `choice` selects it.
[[nodiscard]] inline held take(std::vector<held>& blocks, std::size_t choice) {
    held& place = blocks[choice % blocks.size()];
    const held taken = place;
    place = blocks.back();
    blocks.pop_back();
    return taken;
}

}
