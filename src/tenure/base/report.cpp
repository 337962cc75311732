// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/report.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI {

report_text& report_text::text(std::string_view part) noexcept {
    constexpr std::string_view cut = "...";
    const std::size_t room = capacity - length_;
    const std::size_t taken = std::min(part.size(), room);
    if (taken != 0) std::memcpy(buffer_ + length_, part.data(), taken); // an empty view may have a null data()
    length_ += taken;
    if (taken < part.size()) std::memcpy(buffer_ + capacity - cut.size(), cut.data(), cut.size());
    return *this;
}

report_text& report_text::number(std::uint64_t value) noexcept {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
        digits[--first] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return text({digits + first, sizeof digits - first});
}

report_text& report_text::address(const void* pointer) noexcept {
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    char digits[18] = {'0', 'x'};
    std::size_t count = 2;
    const std::uintptr_t value = address_of(pointer);
    for (int shift = 60; shift >= 0; shift -= 4) {
        const std::uintptr_t digit = (value >> shift) & 15;
        if (digit != 0 || count > 2 || shift == 0) digits[count++] = hexadecimal[digit];
    }
    return text({digits, count});
}

namespace {

std::atomic<report_handler> installed_handler{nullptr}; // released and acquired with what the handler reads

constexpr bool is_fatal(report_kind kind) noexcept {
    return kind == report_kind::misuse || kind == report_kind::invariant;
}

void default_handler(report_kind kind, std::string_view message) noexcept {
    host::write_report("tenure: ");
    host::write_report(message);
    host::write_report("\n");
    if (!is_fatal(kind)) return;
    void* frames[32];
    host::write_stack(frames, host::walk_stack(frames, 32));
    std::abort();
}

}

report_handler set_report_handler(report_handler handler) noexcept {
    return installed_handler.exchange(handler, std::memory_order_acq_rel);
}

void report(report_kind kind, std::string_view message) noexcept {
    const report_handler handler = installed_handler.load(std::memory_order_acquire);
    if (handler != nullptr) return handler(kind, message);
    default_handler(kind, message);
}

}
