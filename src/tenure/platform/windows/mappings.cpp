// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/mappings.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/windows/modules.hpp>
#include <tenure/platform/windows/text.hpp>

namespace tenure::inline TENURE_ABI::platform {

const char* const mappings_file = "<mappings>";
const char* const memory_file = "<memory>"; // not described
const char* const arguments_file = "<arguments>";

namespace {

/// Collects text and passes it on in parts.
class part_writer {
public:
    part_writer(char* buffer, std::size_t capacity, void (*visit)(void*, std::string_view) noexcept, void* context,
                std::size_t max_bytes) noexcept
        : buffer_(buffer), capacity_(capacity), left_(max_bytes), visit_(visit), context_(context) {}

    void write(std::string_view text) noexcept {
        while (!text.empty()) {
            const std::size_t count = std::min(text.size(), capacity_ - used_);
            std::memcpy(buffer_ + used_, text.data(), count);
            used_ += count;
            text.remove_prefix(count);
            if (used_ == capacity_) flush();
        }
    }
    /// Returns   whether all was passed on.
    [[nodiscard]] bool finish() noexcept {
        flush();
        return is_whole_;
    }

private:
    void flush() noexcept {
        is_whole_ = is_whole_ && used_ <= left_;
        if (is_whole_ && used_ != 0) {
            left_ -= used_;
            visit_(context_, {buffer_, used_});
        }
        used_ = 0;
    }

    char* buffer_;
    std::size_t capacity_, left_;
    void (*visit_)(void*, std::string_view) noexcept;
    void* context_;
    std::size_t used_ = 0;
    bool is_whole_ = true;
};

/// A number of 16 digits without "0x", as in /proc/self/maps.
struct hex_digits {
    explicit hex_digits(std::uintptr_t number) noexcept {
        for (std::size_t each = sizeof text; each-- != 0; number >>= 4) text[each] = "0123456789abcdef"[number & 15];
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text, sizeof text}; }
    char text[16];
};

void write_sections(HMODULE module, part_writer& to) noexcept {
    const IMAGE_NT_HEADERS64* const headers = headers_of(module);
    if (headers == nullptr) return;
    char path[1024];
    const std::string_view name = path_of_module(module, path, sizeof path);
    const IMAGE_SECTION_HEADER* section = first_section(*headers);
    for (unsigned index = 0; index < headers->FileHeader.NumberOfSections; ++index, ++section) {
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(module) + section->VirtualAddress;
        const auto has = [&](DWORD right) { return (section->Characteristics & right) != 0; };
        const char rights[] = {' ',
                               has(IMAGE_SCN_MEM_READ) ? 'r' : '-',
                               has(IMAGE_SCN_MEM_WRITE) ? 'w' : '-',
                               has(IMAGE_SCN_MEM_EXECUTE) ? 'x' : '-',
                               'p',
                               ' '};
        to.write(hex_digits(begin).view());
        to.write("-");
        to.write(hex_digits(align_up(begin + section->Misc.VirtualSize, 4096)).view());
        to.write({rights, sizeof rights});
        to.write(hex_digits(section->PointerToRawData).view());
        to.write(" 00:00 0 ");
        to.write(name);
        to.write("\n");
    }
}

void write_arguments(part_writer& to) noexcept {
    const wchar_t* const line = ::GetCommandLineW();
    char text[4096];
    to.write(to_utf8(line, static_cast<std::size_t>(::lstrlenW(line)), text, sizeof text));
    to.write({"", 1}); // each argument ends with a zero; here all are one
}

}

bool is_made_file(const char* path) noexcept { return path[0] == '<'; }

bool read_made_file(const char* path, char* buffer, std::size_t capacity,
                    void (*visit)(void* context, std::string_view part) noexcept, void* context,
                    std::size_t max_bytes) noexcept {
    part_writer to(buffer, capacity, visit, context, max_bytes);
    if (std::strcmp(path, mappings_file) == 0) {
        for_each_module([&](HMODULE module) noexcept {
            write_sections(module, to);
            return true;
        });
    } else if (std::strcmp(path, arguments_file) == 0) {
        write_arguments(to);
    } else {
        return false;
    }
    return to.finish();
}

}
