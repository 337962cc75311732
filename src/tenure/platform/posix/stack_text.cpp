// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/posix/elf_symbols.hpp>
#include <tenure/platform/short_name.hpp>

// Call stacks as text. Under a sanitizer its symboliser gives functions, files and lines. Elsewhere the names come from
// the loaded files, and a command that prints the lines is written below the stack. Libraries that read line tables
// (libdw, libbacktrace) allocate with malloc, which may be damaged, locked or ourselves when a report is written.

// Weak: defined only if the program was built with a sanitizer.
extern "C" __attribute__((weak)) void __sanitizer_symbolize_pc(void* position, const char* format, char* text,
                                                               std::size_t capacity);

namespace tenure::inline TENURE_ABI::host {

namespace {

/// The loaded file that contains an address. find_loaded_file() finds it.
struct loaded_file {
    std::uintptr_t address;  ///< looked for
    std::uintptr_t bias = 0; ///< from an address in the file to the one in memory
    char path[1024] = {};
};

int find_loaded_file(dl_phdr_info* info, std::size_t, void* context) noexcept {
    auto& wanted = *static_cast<loaded_file*>(context);
    for (std::size_t index = 0; index < info->dlpi_phnum; ++index) {
        const ElfW(Phdr)& part = info->dlpi_phdr[index];
        if (part.p_type != PT_LOAD || wanted.address - (info->dlpi_addr + part.p_vaddr) >= part.p_memsz) continue;
        wanted.bias = info->dlpi_addr;
        const std::string_view name{info->dlpi_name == nullptr ? "" : info->dlpi_name};
        // The program has no name in glibc. In musl it has the one that it was called by, which may be relative.
        if (name.empty() || address_of(info->dlpi_phdr) == ::getauxval(AT_PHDR)) {
            if (::readlink("/proc/self/exe", wanted.path, sizeof wanted.path - 1) < 0) wanted.path[0] = '\0';
        } else if (name.size() < sizeof wanted.path) {
            std::memcpy(wanted.path, name.data(), name.size());
        }
        return 1;
    }
    return 0;
}

[[nodiscard]] bool begins_with(std::string_view text, std::string_view prefix) noexcept {
    return text.size() >= prefix.size() && std::memcmp(text.data(), prefix.data(), prefix.size()) == 0;
}

/// Whether a file is one of the shared libraries of this project.
[[nodiscard]] bool is_own_library(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
    return begins_with(path, "libtenure");
}

/// Whether a file comes with the system: it has no line tables.
[[nodiscard]] bool is_of_system(std::string_view path) noexcept {
    return begins_with(path, "/lib") || begins_with(path, "/usr/lib");
}

/// An address within the call: a return address may belong to the next line, or to the next function.
[[nodiscard]] std::uintptr_t call_before(const void* frame) noexcept { return address_of(frame) - 1; }

/// The file and the function of a frame. The file that was looked at last stays mapped for the next frame.
class frame_reader {
public:
    void look(const void* frame) noexcept {
        const std::uintptr_t call = call_before(frame);
        loaded_file file{call};
        if (::dl_iterate_phdr(&find_loaded_file, &file) == 0) file.path[0] = '\0';
        if (std::strcmp(file.path, file_.path) != 0) symbols_.open(file.path);
        file_ = file;
        symbol_ = symbols_.find(call - file_.bias);
    }
    [[nodiscard]] std::string_view path() const noexcept { return file_.path; }
    [[nodiscard]] std::string_view function() const noexcept { return symbol_.name; }
    /// Of the return address.
    [[nodiscard]] std::uint64_t offset_in_function() const noexcept { return symbol_.offset + 1; }
    /// Of the call.
    [[nodiscard]] const void* offset_in_file() const noexcept { return pointer_at(file_.address - file_.bias); }

    [[nodiscard]] bool is_own() const noexcept { return is_own_library(path()) || platform::is_own_name(function()); }
    /// Whether the file has no names of functions, and this library is linked into it.
    [[nodiscard]] bool is_nameless_home() const noexcept {
        loaded_file home{address_of(reinterpret_cast<const void*>(&write_stack))};
        return !symbols_.has_all() && ::dl_iterate_phdr(&find_loaded_file, &home) != 0 &&
               std::strcmp(home.path, file_.path) == 0;
    }

private:
    loaded_file file_{0};
    platform::elf_symbols symbols_;
    platform::elf_symbols::symbol symbol_{};
};

/// What a sanitizer knows: functions and lines, those inlined at the address first.
class frame_lines {
public:
    [[nodiscard]] static bool exist() noexcept { return &__sanitizer_symbolize_pc != nullptr; }

    /// The function and its place, with a tabulator between them.
    explicit frame_lines(void* frame) noexcept { __sanitizer_symbolize_pc(frame, "%f\t%S", text_, sizeof text_ - 2); }

    /// The next line; empty behind the last.
    [[nodiscard]] std::string_view next() noexcept {
        const std::string_view line{at_};
        at_ += line.size() + (line.empty() ? 0 : 1);
        return line;
    }

private:
    char text_[1024] = {};
    const char* at_ = text_;
};

/// Whether a function is in the library's namespace. Its result may stand in front of it: "std::span<short> f(int)".
[[nodiscard]] bool is_own_function(std::string_view readable) noexcept {
    constexpr std::string_view own = "tenure::" TENURE_TEXT(TENURE_ABI);
    std::size_t depth = 0; // within template arguments
    std::string_view last = readable;
    for (; !readable.empty() && (depth != 0 || readable[0] != '('); readable.remove_prefix(1)) {
        if (readable[0] == '<') ++depth;
        if (readable[0] == '>' && depth != 0) --depth;
        if (readable[0] != ' ' || depth != 0) continue;
        last = readable;
        last.remove_prefix(1);
    }
    return begins_with(last, own);
}

/// Whether a source is in a room of the library: "/usr/include/tenure/pool/pool.hpp:105:17". Short debug information
/// (clang -g1) has only "destroy" as the name of an inlined function.
[[nodiscard]] bool is_own_source(std::string_view place) noexcept {
    constexpr std::string_view rooms[] = {"base/",   "platform/", "engine/", "adapt/",  "heap/", "arena/",    "pool/",
                                          "offset/", "affinity/", "handle/", "buffer/", "text/", "lifetime/", "capi/"};
    constexpr std::string_view parent = "/tenure/";
    const std::size_t found = place.rfind(parent);
    if (found == std::string_view::npos) return false;
    place.remove_prefix(found + parent.size());
    for (const std::string_view room : rooms) {
        if (begins_with(place, room)) return true;
    }
    return false;
}

/// Writes a frame and what is inlined there, without functions of the library that begin the stack: they are left out
/// if `has_caller`, that is, if others follow.
void write_lines(void* frame, std::size_t& number, bool has_caller) noexcept {
    frame_lines lines(frame);
    for (std::string_view each = lines.next(); !each.empty(); each = lines.next()) {
        const std::size_t tabulator = std::min(each.find('\t'), each.size());
        const std::string_view function{each.data(), tabulator};
        std::string_view place = each;
        place.remove_prefix(std::min(tabulator + 1, each.size()));
        const bool is_short = function.find('(') == std::string_view::npos;
        if (number == 0 && has_caller && (is_own_function(function) || (is_short && is_own_source(place)))) continue;
        report_text line;
        line.text("    #").number(number++).text(" ").address(frame).text(" in ").text(function).text(" ").text(place);
        write_report(line.text("\n").view());
    }
}

void write_frame(void* frame, std::size_t number, const frame_reader& found) noexcept {
    report_text line;
    line.text("    #").number(number).text(" ").address(frame);
    if (!found.function().empty()) {
        char buffer[256];
        line.text(" in ").text(platform::short_name(found.function(), buffer, sizeof buffer));
        line.text("+").number(found.offset_in_function());
    }
    if (!found.path().empty()) {
        line.text(" (").text(found.path()).text("+").address(found.offset_in_file()).text(")");
    }
    write_report(line.text("\n").view());
}

/// One command for each file with frames that may have lines: usually for the program alone.
void write_commands(void* const* frames, std::size_t count, frame_reader& reader) noexcept {
    constexpr std::size_t max_frames = 64;
    bool is_written[max_frames]{};
    count = count < max_frames ? count : max_frames;
    for (std::size_t first = 0; first < count; ++first) {
        if (is_written[first]) continue;
        reader.look(frames[first]);
        if (reader.path().empty() || is_of_system(reader.path())) continue;
        report_text line;
        line.text("    lines: addr2line -Cfpie ").text(reader.path());
        for (std::size_t index = first; index < count; ++index) {
            loaded_file file{call_before(frames[index])};
            if (::dl_iterate_phdr(&find_loaded_file, &file) == 0 || reader.path() != file.path) continue;
            line.text(" ").address(pointer_at(file.address - file.bias));
            is_written[index] = true;
        }
        write_report(line.text("\n").view());
    }
}

}

void write_stack(void* const* frames, std::size_t count) noexcept {
    frame_reader reader;
    std::size_t own = platform::own_frames(frames, count, reader);
    const bool has_caller = own != count;
    // The callers have no tables, as the code of a virtual machine: what they called is all that is known.
    if (!has_caller && own != 0) --own;
    std::size_t number = 0;
    bool is_nameless = false;
    for (std::size_t index = own; index < count; ++index) {
        reader.look(frames[index]);
        if (reader.function() == "main") count = index + 1; // its callers tell nothing
        if (index == own && !frame_lines::exist()) is_nameless = reader.is_nameless_home();
        frame_lines::exist() ? write_lines(frames[index], number, has_caller)
                             : write_frame(frames[index], number++, reader);
    }
    if (is_nameless) {
        write_report("    The file has no symbol table (strip, -s), so the first frames are the library's own.\n");
    }
    if (!frame_lines::exist()) write_commands(frames + own, count - own, reader);
}

}
