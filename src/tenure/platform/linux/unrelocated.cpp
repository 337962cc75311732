// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/unrelocated.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdint>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// Equal only after the loader has added the library's load address. Volatile, because the compiler could fold the
// compare.
const volatile void* volatile own_address = &own_address;

}

bool is_relocated() noexcept { return own_address == &own_address; }

void* map_unrelocated(std::size_t bytes) noexcept {
    constexpr long protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    long result = -1;
#if defined(__x86_64__)
    register long fourth __asm__("r10") = flags;
    register long fifth __asm__("r8") = -1;
    register long sixth __asm__("r9") = 0;
    __asm__ __volatile__("syscall"
                         : "=a"(result)
                         : "a"(static_cast<long>(SYS_mmap)), "D"(0L), "S"(bytes), "d"(protection), "r"(fourth),
                           "r"(fifth), "r"(sixth)
                         : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_mmap;
    register long first __asm__("x0") = 0;
    register std::size_t second __asm__("x1") = bytes;
    register long third __asm__("x2") = protection;
    register long fourth __asm__("x3") = flags;
    register long fifth __asm__("x4") = -1;
    register long sixth __asm__("x5") = 0;
    __asm__ __volatile__("svc 0"
                         : "+r"(first)
                         : "r"(number), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                         : "memory");
    result = first;
#else
    (void)bytes, (void)protection, (void)flags;
#endif
    constexpr long max_error = 4095;
    return result < 0 && result >= -max_error ? nullptr : pointer_at(static_cast<std::uintptr_t>(result));
}

}
