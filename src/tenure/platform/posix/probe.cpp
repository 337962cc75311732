// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The notes are those that SystemTap's sys/sdt.h writes, after its description of the format: name "stapsdt", type 3,
// and in it the addresses of the probe, of .stapsdt.base and of the semaphore, then provider, probe and arguments. They
// are written here because the library is built without SystemTap's headers.

#include <tenure/platform/probe.hpp>

[[gnu::section(".probes"), gnu::used]] volatile std::uint16_t tenure_probe_alloc_listeners = 0;
[[gnu::section(".probes"), gnu::used]] volatile std::uint16_t tenure_probe_free_listeners = 0;
[[gnu::section(".probes"), gnu::used]] std::uint16_t tenure_requests = 0;

// .stapsdt.base tells a tracer how far a tool has moved the file's sections. "R": the linker keeps it though no code
// refers to it.
__asm__(".pushsection .stapsdt.base,\"aR\",%progbits\n"
        ".weak _.stapsdt.base\n"
        ".hidden _.stapsdt.base\n"
        "_.stapsdt.base: .space 1\n"
        ".size _.stapsdt.base, 1\n"
        ".popsection\n");

#define TENURE_PROBE(name, arguments)                                                                                  \
    "990: nop\n"                                                                                                       \
    ".pushsection .note.stapsdt,\"\",%%note\n"                                                                         \
    ".balign 4\n"                                                                                                      \
    ".4byte 992f - 991f, 994f - 993f, 3\n"                                                                             \
    "991: .asciz \"stapsdt\"\n"                                                                                        \
    "992: .balign 4\n"                                                                                                 \
    "993: .8byte 990b\n"                                                                                               \
    ".8byte _.stapsdt.base\n"                                                                                          \
    ".8byte tenure_probe_" name "_listeners\n"                                                                         \
    ".asciz \"otel_memory\"\n"                                                                                         \
    ".asciz \"" name "\"\n"                                                                                            \
    ".asciz \"" arguments "\"\n"                                                                                       \
    "994: .balign 4\n"                                                                                                 \
    ".popsection\n"

// The requests have no instruction: the semaphore stands in its place.
__asm__(".pushsection .note.stapsdt,\"\",%note\n"
        ".balign 4\n"
        ".4byte 992f - 991f, 994f - 993f, 3\n"
        "991: .asciz \"stapsdt\"\n"
        "992: .balign 4\n"
        "993: .8byte tenure_requests, _.stapsdt.base, tenure_requests\n"
        ".asciz \"tenure\"\n"
        ".asciz \"requests\"\n"
        ".asciz \"\"\n"
        "994: .balign 4\n"
        ".popsection\n");

namespace tenure::inline TENURE_ABI::platform {

[[gnu::noinline]] void probe_alloc(const void* block, std::uint64_t bytes, std::uint64_t weighted_bytes) noexcept {
    __asm__ volatile(TENURE_PROBE("alloc", "8@%0 8@%1 8@%2")::"r"(block), "r"(bytes), "r"(weighted_bytes));
}

[[gnu::noinline]] void probe_free(const void* block) noexcept {
    __asm__ volatile(TENURE_PROBE("free", "8@%0")::"r"(block));
}

}
