// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Finds other copies of the library in the process: each has a note in a section of its own.

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/windows/modules.hpp>
#include <tenure/platform/windows/text.hpp>

namespace tenure::inline TENURE_ABI::host {

namespace {

constexpr char section_name[IMAGE_SIZEOF_SHORT_NAME + 1] = ".tncopy";

struct copy_note {
    char mark[8];
    std::uint32_t level, major, minor, patch;
    unsigned char* is_known; ///< nonzero once a report has named this copy: then the other one need not repeat it
};

constinit unsigned char is_copy_known = 0;

TENURE_IN_SECTION(".tncopy")
constinit copy_note own_note{{'T', 'e', 'n', 'u', 'r', 'e', 0, 0},
                             TENURE_CHECKS,
                             TENURE_VERSION_MAJOR,
                             TENURE_VERSION_MINOR,
                             TENURE_VERSION_PATCH,
                             &is_copy_known};

/// Another note than this copy's in a module; nullptr if there is none.
[[nodiscard]] const copy_note* other_in(HMODULE module) noexcept {
    const IMAGE_NT_HEADERS64* const headers = platform::headers_of(module);
    if (headers == nullptr) return nullptr;
    const IMAGE_SECTION_HEADER* section = platform::first_section(*headers);
    for (unsigned index = 0; index < headers->FileHeader.NumberOfSections; ++index, ++section) {
        if (std::memcmp(section->Name, section_name, IMAGE_SIZEOF_SHORT_NAME) != 0) continue;
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(module) + section->VirtualAddress;
        const std::uintptr_t end = begin + section->Misc.VirtualSize;
        for (std::uintptr_t at = begin; at + sizeof(copy_note) <= end; at += alignof(copy_note)) {
            const auto* const note = static_cast<const copy_note*>(pointer_at(at));
            const bool is_note = std::memcmp(note->mark, own_note.mark, sizeof note->mark) == 0;
            if (is_note && note->is_known != &is_copy_known) return note;
        }
    }
    return nullptr;
}

struct found_copy {
    const copy_note* note = nullptr;
    HMODULE module = nullptr;
};

[[nodiscard]] found_copy find_other() noexcept {
    found_copy found;
    platform::for_each_module([&](HMODULE module) noexcept {
        found = {other_in(module), module};
        return found.note == nullptr;
    });
    return found;
}

void say(report_text& text, const found_copy& copy) noexcept {
    const copy_note& note = *copy.note;
    text.text("version ").number(note.major).text(".").number(note.minor).text(".").number(note.patch);
    char path[512];
    text.text(" with check level ").number(note.level).text(" in ");
    text.text(platform::path_of_module(copy.module, path, sizeof path));
}

/// A function of its own, so that the first use of the library needs little stack.
TENURE_NOINLINE void write_copies(const found_copy& other) noexcept {
    report_text text;
    text.text("two copies of the library are in this process: ");
    say(text, other);
    text.text(", and ");
    say(text, {&own_note, platform::module_of(&own_note)});
    text.text(". A block of one must not be freed by the other. Link the same shared library into both. If nothing is "
              "passed between them, TENURE_REPORT_COPIES=0 turns this line off.");
    report(report_kind::notice, text.view());
}

}

void report_other_copies() noexcept {
    using detail::memory_order;
    if (detail::load_atomically(is_copy_known, memory_order::relaxed) != 0) return;
    const found_copy other = find_other();
    if (other.note == nullptr) return;
    detail::store_atomically(is_copy_known, static_cast<unsigned char>(1), memory_order::relaxed);
    detail::store_atomically(*other.note->is_known, static_cast<unsigned char>(1), memory_order::relaxed);
    write_copies(other);
}

std::string_view other_copy(char* buffer, std::size_t capacity) noexcept {
    const found_copy other = find_other();
    return other.note != nullptr ? platform::path_of_module(other.module, buffer, capacity) : std::string_view{};
}

}
