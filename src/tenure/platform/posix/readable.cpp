// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/readable.hpp>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::uintptr_t smallest_page = 4096; // of any system
constexpr std::size_t set_bytes = 8;           // of a signal set, as the system knows it

/// The system reads the set of signals first, and then refuses the operation. No byte is written, and few filters of
/// system calls forbid this one. Requires  the address is a multiple of 8, so that the set lies in one page.
[[nodiscard]] bool is_word_readable(std::uintptr_t address) noexcept {
    constexpr int no_operation = -1;
    const auto answer = ::syscall(SYS_rt_sigprocmask, no_operation, pointer_at(address), nullptr, set_bytes);
    return answer == -1 && errno == EINVAL;
}

}

bool is_readable(const void* bytes, std::size_t count) noexcept {
    if (count == 0) return true;
    const int saved = errno;
    const std::uintptr_t last = address_of(bytes) + (count - 1);
    bool is_whole = last >= address_of(bytes);
    for (std::uintptr_t at = align_down(address_of(bytes), set_bytes); is_whole && at <= last;
         at = align_down(at, smallest_page) + smallest_page)
        is_whole = is_word_readable(at);
    errno = saved;
    return is_whole;
}

bool is_object_readable(const void* object, std::size_t bytes) noexcept {
    return is_readable(object, bytes) && !is_poisoned(object, bytes);
}

std::string_view text_or(const char* text, std::string_view instead) noexcept {
    for (std::uintptr_t at = address_of(text);;) {
        const std::size_t count = align_down(at, smallest_page) + smallest_page - at;
        if (!is_readable(pointer_at(at), count)) return instead;
        if (const void* const end = std::memchr(pointer_at(at), '\0', count); end != nullptr)
            return {text, address_of(end) - address_of(text)};
        at += count;
    }
}

std::string_view text_or(std::string_view text, std::string_view instead) noexcept {
    return is_readable(text.data(), text.size()) ? text : instead;
}

}
