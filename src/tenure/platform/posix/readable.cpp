// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/readable.hpp>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::uintptr_t smallest_page = 4096; // of any system
constexpr std::size_t set_bytes = 8;           // of a signal set, as the system knows it

enum class finding { readable, faults, unknown };

/// The system reads the set of signals first, and then refuses the operation. No byte is written. A filter of system
/// calls (seccomp) may refuse the call with any other answer. Requires  the address is a multiple of 8, so that the set
/// lies in one page.
[[nodiscard]] finding look_at_word(std::uintptr_t address) noexcept {
    constexpr int no_operation = -1;
    const auto answer = ::syscall(SYS_rt_sigprocmask, no_operation, pointer_at(address), nullptr, set_bytes);
    if (answer != -1) return finding::unknown;
    return errno == EINVAL ? finding::readable : errno == EFAULT ? finding::faults : finding::unknown;
}

/// Whether the system says that a word faults, and does not say so of every word. A filter may be installed at any
/// time, so the answer is not remembered. The first page is never there, whatever the system answers.
[[nodiscard]] bool does_word_fault(std::uintptr_t address) noexcept {
    if (address < smallest_page) return true;
    if (look_at_word(address) != finding::faults) return false;
    const std::uint64_t known = 0;
    return look_at_word(address_of(&known)) == finding::readable;
}

}

bool is_readable(const void* bytes, std::size_t count) noexcept {
    if (count == 0) return true;
    const int saved = errno;
    const std::uintptr_t last = address_of(bytes) + (count - 1);
    bool is_whole = last >= address_of(bytes);
    for (std::uintptr_t at = align_down(address_of(bytes), set_bytes); is_whole && at <= last;
         at = align_down(at, smallest_page) + smallest_page)
        is_whole = !does_word_fault(at);
    errno = saved;
    return is_whole;
}

bool is_object_readable(const void* object, std::size_t bytes) noexcept {
    return is_readable(object, bytes) && !is_poisoned(object, bytes);
}

}
