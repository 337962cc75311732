// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Finds other copies of the library in the process: each has a note in its file, which the loader shows whatever is
/// exported. The drop-in is meant to be a copy of its own and has none.

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>

// The name of a symbol of each copy must differ where copies of two levels are linked into one program.
#define TENURE_COPY_KNOWN "tenure_copy_is_known_" TENURE_TEXT(TENURE_ABI)

extern "C" {
/// Nonzero once a report has named this copy: then the other one need not repeat it.
extern __attribute__((visibility("hidden"))) unsigned char tenure_copy_is_known __asm__(TENURE_COPY_KNOWN);
__attribute__((used)) unsigned char tenure_copy_is_known = 0;
}

// name bytes, description bytes, kind | name | check level, version, distance from here to the byte above
__asm__(".pushsection .note.tenure,\"a\",%note\n"
        ".balign 4\n"
        ".long 7, 20, 1\n"
        ".asciz \"Tenure\"\n"
        ".balign 4\n"
        ".long " TENURE_TEXT(TENURE_CHECKS) ", " TENURE_TEXT(TENURE_VERSION_MAJOR) ", " TENURE_TEXT(
            TENURE_VERSION_MINOR) ", " TENURE_TEXT(TENURE_VERSION_PATCH) "\n"
                                                                         ".long " TENURE_COPY_KNOWN " - .\n"
                                                                         ".balign 4\n"
                                                                         ".popsection\n");

namespace tenure::inline TENURE_ABI::host {

namespace {

struct copy_note {
    std::uint32_t level, major, minor, patch;
    std::int32_t distance;
};
static_assert(sizeof(copy_note) == 20);

struct found_copy {
    copy_note note;
    unsigned char* is_known;
    const char* file; ///< its name, while it is loaded; empty: the program
};

struct found_copies {
    found_copy own, other;
    bool has_own = false, has_other = false;
};

/// The path of a copy's file. Only the rare process with two copies asks for it: the program's takes a system call.
std::string_view path_of(const found_copy& copy, char* buffer, std::size_t capacity) noexcept {
    std::size_t bytes = std::min(std::strlen(copy.file), capacity);
    if (bytes != 0) {
        std::memcpy(buffer, copy.file, bytes);
    } else {
        const ssize_t read = ::readlink("/proc/self/exe", buffer, capacity);
        bytes = read > 0 ? static_cast<std::size_t>(read) : 0;
    }
    return {buffer, bytes};
}

void look_at_notes(const dl_phdr_info& info, const ElfW(Phdr) & part, found_copies& found) noexcept {
    const std::uintptr_t end = info.dlpi_addr + part.p_vaddr + part.p_memsz;
    const std::size_t padding = part.p_align == 8 ? 8 : 4;
    for (std::uintptr_t at = info.dlpi_addr + part.p_vaddr; at + sizeof(ElfW(Nhdr)) <= end;) {
        const auto& head = *static_cast<const ElfW(Nhdr)*>(pointer_at(at));
        const std::uintptr_t name = at + sizeof head, description = align_up(name + head.n_namesz, padding);
        at = align_up(description + head.n_descsz, padding);
        if (at > end || head.n_namesz != sizeof "Tenure" || head.n_descsz != sizeof(copy_note)) continue;
        if (std::memcmp(pointer_at(name), "Tenure", sizeof "Tenure") != 0) continue;
        found_copy copy;
        std::memcpy(&copy.note, pointer_at(description), sizeof copy.note);
        const std::uintptr_t from = description + offsetof(copy_note, distance);
        copy.is_known = static_cast<unsigned char*>(
            pointer_at(from + static_cast<std::uintptr_t>(std::intptr_t{copy.note.distance})));
        const bool is_own = copy.is_known == &tenure_copy_is_known;
        if (is_own ? found.has_own : found.has_other) continue;
        copy.file = info.dlpi_name == nullptr ? "" : info.dlpi_name;
        (is_own ? found.own : found.other) = copy;
        (is_own ? found.has_own : found.has_other) = true;
    }
}

int note_copies_in(dl_phdr_info* info, std::size_t, void* context) noexcept {
    for (std::size_t index = 0; index < info->dlpi_phnum; ++index) {
        if (info->dlpi_phdr[index].p_type == PT_NOTE)
            look_at_notes(*info, info->dlpi_phdr[index], *static_cast<found_copies*>(context));
    }
    return 0;
}

void say(report_text& text, const found_copy& copy) noexcept {
    text.text("version ").number(copy.note.major).text(".").number(copy.note.minor).text(".").number(copy.note.patch);
    char path[512];
    text.text(" with check level ").number(copy.note.level).text(" in ").text(path_of(copy, path, sizeof path));
}

/// A function of its own, so that the first use of the library needs little stack.
__attribute__((noinline)) void write_copies(const found_copies& found) noexcept {
    report_text text;
    text.text("two copies of the library are in this process: ");
    say(text, found.other);
    text.text(", and ");
    say(text, found.own);
    text.text(". A block of one must not be freed by the other. Link the same shared library into both. If nothing is "
              "passed between them, TENURE_REPORT_COPIES=0 turns this line off.");
    report(report_kind::notice, text.view());
}

}

void report_other_copies() noexcept {
    if (__atomic_load_n(&tenure_copy_is_known, __ATOMIC_RELAXED) != 0) return;
    found_copies found;
    ::dl_iterate_phdr(&note_copies_in, &found);
    if (!found.has_own || !found.has_other) return;
    __atomic_store_n(&tenure_copy_is_known, 1, __ATOMIC_RELAXED);
    __atomic_store_n(found.other.is_known, 1, __ATOMIC_RELAXED);
    write_copies(found);
}

std::string_view other_copy(char* buffer, std::size_t capacity) noexcept {
    found_copies found;
    ::dl_iterate_phdr(&note_copies_in, &found);
    if (!found.has_own || !found.has_other) return {};
    return path_of(found.other, buffer, capacity);
}

}
