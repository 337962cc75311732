// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/process.hpp>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/linux/system_file.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::platform {

const char* const mappings_file = "/proc/self/maps";
const char* const memory_file = "/proc/self/smaps";
const char* const arguments_file = "/proc/self/cmdline";

bool are_addresses_limited() noexcept {
    enum : std::uint8_t { unknown, overcommits, never };
    static constinit std::atomic<std::uint8_t> known{unknown}; // relaxed: every thread finds the same
    if (address_limit_bytes() != SIZE_MAX) return true;
    if (known.load(std::memory_order_relaxed) == unknown) {
        char buffer[16];
        const bool is_strict =
            number_after(read_system_file("/proc/sys/vm/overcommit_memory", buffer, sizeof buffer), 0) == 2;
        known.store(is_strict ? never : overcommits, std::memory_order_relaxed);
    }
    return known.load(std::memory_order_relaxed) == never;
}

std::size_t resident_bytes() noexcept {
    char buffer[256];
    const std::string_view text = read_system_file("/proc/self/statm", buffer, sizeof buffer);
    const std::size_t second = text.find(' ');
    return second == std::string_view::npos ? 0 : number_after(text, second) * page_bytes();
}

std::size_t peak_resident_bytes() noexcept {
    constexpr std::string_view field = "VmHWM:";
    char buffer[4096];
    const std::string_view text = read_system_file("/proc/self/status", buffer, sizeof buffer);
    const std::size_t found = text.find(field);
    return found == std::string_view::npos ? 0 : number_after(text, found + field.size()) * 1024;
}

bool has_children() noexcept {
    const no_cancel_scope scope;
    const int saved = errno;
    siginfo_t ignored{};
    const bool has = ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
    errno = saved;
    return has;
}

std::uint64_t page_faults_of_children() noexcept {
    rusage ended{};
    return ::getrusage(RUSAGE_CHILDREN, &ended) == 0 ? static_cast<std::uint64_t>(ended.ru_minflt) : 0;
}

bool reset_peak_resident() noexcept {
    const no_cancel_scope scope;
    const int file = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool done = ::write(file, "5", 1) == 1;
    ::close(file);
    return done;
}

std::size_t resident_bytes_in(const void* range, std::size_t bytes) noexcept {
    const std::size_t page = page_bytes();
    unsigned char states[1024]; // small: threads may have 16 KiB of stack
    std::size_t count = 0;
    const std::uintptr_t first = align_down(address_of(range), page);
    const std::uintptr_t last = align_up(address_of(range) + bytes, page);
    for (std::uintptr_t at = first; at < last; at += sizeof states * page) {
        const std::size_t pages = std::min((last - at) / page, sizeof states);
        if (::mincore(pointer_at(at), pages * page, states) != 0) continue;
        for (std::size_t each = 0; each < pages; ++each) count += states[each] & 1u;
    }
    return count * page;
}

namespace {

/// SipHash-2-4 of one word (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): without the key, its
/// values for some words say nothing about the key or its values for others.
[[nodiscard]] std::uint64_t sip_hash(const std::uint64_t (&key)[2], std::uint64_t word) noexcept {
    std::uint64_t a = key[0] ^ 0x736F'6D65'7073'6575, b = key[1] ^ 0x646F'7261'6E64'6F6D;
    std::uint64_t c = key[0] ^ 0x6C79'6765'6E65'7261, d = key[1] ^ 0x7465'6462'7974'6573;
    const auto mix = [&](int rounds) {
        for (; rounds != 0; --rounds) {
            a += b;
            b = std::rotl(b, 13) ^ a;
            a = std::rotl(a, 32);
            c += d;
            d = std::rotl(d, 16) ^ c;
            a += d;
            d = std::rotl(d, 21) ^ a;
            c += b;
            b = std::rotl(b, 17) ^ c;
            c = std::rotl(c, 32);
        }
    };
    const auto add = [&](std::uint64_t part) {
        d ^= part;
        mix(2);
        a ^= part;
    };
    add(word);
    add(std::uint64_t{sizeof word} << 56); // the last part: the length
    c ^= 0xFF;
    mix(4);
    return a ^ b ^ c ^ d;
}

/// Draws from the kernel, without waiting for its generator early after the start of the system.
[[nodiscard]] bool draw(std::uint64_t (&words)[2]) noexcept {
    constexpr unsigned insecure = 4; // GRND_INSECURE of Linux 5.6; older headers lack the name
    const int saved = errno;
    bool is_drawn = false;
    for (const unsigned flags : {unsigned{GRND_NONBLOCK}, insecure}) {
        is_drawn = is_drawn || ::syscall(SYS_getrandom, words, sizeof words, flags) == long{sizeof words};
    }
    errno = saved;
    return is_drawn;
}

[[nodiscard]] random_words derive(const std::uint64_t (&key)[2], std::uint64_t what) noexcept {
    random_words derived{};
    for (std::uint64_t& each : derived.words) each = sip_hash(key, what++);
    return derived;
}

/// The key of everything random in this process: a draw, and the sixteen random bytes that the kernel provides at exec.
/// glibc makes the stack protector's canary of the first eight, so they are used as a key and never as a value.
void read_key(std::uint64_t (&key)[2]) noexcept {
    // Relaxed: a compare-exchange decides each word once, and each is read after it.
    static constinit std::atomic<std::uint64_t> drawn[2]{}; // zero: not yet
    if (drawn[0].load(std::memory_order_relaxed) == 0 || drawn[1].load(std::memory_order_relaxed) == 0) {
        std::uint64_t words[2]{};
        (void)draw(words);                     // if it fails, the bytes at exec are the key
        for (int each = 0; each < 2; ++each) { // of several threads, one sets each word
            std::uint64_t none = 0;
            drawn[each].compare_exchange_strong(none, words[each] != 0 ? words[each] : 1, std::memory_order_relaxed);
        }
    }
    const auto* const at_exec = static_cast<const void*>(pointer_at(::getauxval(AT_RANDOM)));
    if (at_exec != nullptr) std::memcpy(key, at_exec, sizeof key);
    for (int each = 0; each < 2; ++each) key[each] ^= drawn[each].load(std::memory_order_relaxed);
}

constexpr std::uint64_t words_per_use = 4;

}

random_words random_of_process(random_use use) noexcept {
    std::uint64_t key[2]{};
    read_key(key);
    return derive(key, static_cast<std::uint64_t>(use) * words_per_use);
}

std::uint64_t random_of_process() noexcept {
    static constinit std::atomic<std::uint64_t> known{0}; // relaxed: every thread finds the same
    std::uint64_t number = known.load(std::memory_order_relaxed);
    if (number != 0) [[likely]]
        return number;
    number = random_of_process(random_use::general).words[0] | 1;
    known.store(number, std::memory_order_relaxed);
    return number;
}

random_words fresh_random() noexcept {
    static constinit std::atomic<std::uint64_t> calls{0}; // relaxed: each call gets another number
    std::uint64_t key[2]{}, words[2]{};
    read_key(key);
    if (!draw(words)) { // a sandbox: as different as a process can be without the kernel
        words[0] = process_id();
        words[1] = monotonic_ns();
    }
    for (int each = 0; each < 2; ++each) key[each] ^= words[each];
    constexpr std::uint64_t behind_uses = std::uint64_t{1} << 32;
    return derive(key, behind_uses + words_per_use * calls.fetch_add(1, std::memory_order_relaxed));
}

}
