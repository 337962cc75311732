// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/process.hpp>

#include <tenure/platform/windows/system.hpp>

#include <psapi.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/program.hpp>

// RtlGenRandom, by the name under which the system exports it.
extern "C" BOOLEAN __stdcall SystemFunction036(void* buffer, ULONG bytes);

namespace tenure::inline TENURE_ABI::platform {

namespace {

[[nodiscard]] PROCESS_MEMORY_COUNTERS counters() noexcept {
    PROCESS_MEMORY_COUNTERS found{};
    found.cb = sizeof found;
    if (::GetProcessMemoryInfo(::GetCurrentProcess(), &found, sizeof found) == 0) found = {};
    return found;
}

}

std::size_t resident_bytes() noexcept { return counters().WorkingSetSize; }
std::size_t peak_resident_bytes() noexcept { return counters().PeakWorkingSetSize; }
bool reset_peak_resident() noexcept { return false; }

std::size_t resident_bytes_in(const void* range, std::size_t bytes) noexcept {
    constexpr std::size_t at_a_time = 256;
    const std::size_t page = page_bytes();
    const std::uintptr_t begin = align_down(address_of(range), page), end = align_up(address_of(range) + bytes, page);
    PSAPI_WORKING_SET_EX_INFORMATION pages[at_a_time];
    std::size_t resident = 0;
    for (std::uintptr_t at = begin; at < end;) {
        const std::size_t count = std::min((end - at) / page, at_a_time);
        for (std::size_t each = 0; each < count; ++each) pages[each] = {pointer_at(at + each * page), {0}};
        const auto asked = static_cast<DWORD>(count * sizeof pages[0]);
        if (::QueryWorkingSetEx(::GetCurrentProcess(), pages, asked) == 0) return 0;
        for (std::size_t each = 0; each < count; ++each)
            resident += pages[each].VirtualAttributes.Valid != 0 ? page : 0;
        at += count * page;
    }
    return resident;
}

namespace {

/// Draws from the system. It cannot fail since Windows 7; if it does, the words differ as well as a clock's.
void draw(random_words& to) noexcept {
    const kept_error kept;
    if (SystemFunction036(to.words, sizeof to.words) != 0) return;
    for (std::uint64_t& each : to.words) each = (each + monotonic_ns() + process_id()) * 0x9E37'79B9'7F4A'7C15;
}

struct drawn_words {
    // A compare-exchange decides each word once. Readers acquire the last one, so they see the others.
    std::atomic<std::uint64_t> words[4]{}; ///< zero: not yet
};
constinit drawn_words drawn_for[4]{};

}

// The words of each use are drawn by themselves, so none says anything about others.
random_words random_of_process(random_use use) noexcept {
    drawn_words& known = drawn_for[static_cast<std::size_t>(use)];
    random_words answer{};
    if (known.words[3].load(std::memory_order_acquire) == 0) {
        draw(answer);
        for (std::size_t each = 0; each < std::size(answer.words); ++each) { // of several threads, one sets each word
            std::uint64_t none = 0;
            known.words[each].compare_exchange_strong(none, answer.words[each] != 0 ? answer.words[each] : 1);
        }
    }
    for (std::size_t each = 0; each < std::size(answer.words); ++each) answer.words[each] = known.words[each].load();
    return answer;
}

std::uint64_t random_of_process() noexcept { return random_of_process(random_use::general).words[0] | 1; }

random_words fresh_random() noexcept {
    random_words answer{};
    draw(answer);
    return answer;
}

}
