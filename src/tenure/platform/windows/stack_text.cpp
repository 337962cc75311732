// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/short_name.hpp>
#include <tenure/platform/windows/coff_symbols.hpp>
#include <tenure/platform/windows/text.hpp>

// Call stacks as text: functions of modules that carry a symbol table, as GCC and Clang write it for mingw. For others,
// and for the lines, a command is written below the stack. Libraries that read debug information (dbghelp) allocate
// with malloc, which may be damaged, locked or ourselves when a report is written.

namespace tenure::inline TENURE_ABI::host {

namespace {

/// An address within the call: a return address may belong to the next line, or to the next function.
[[nodiscard]] std::uintptr_t call_before(const void* frame) noexcept { return address_of(frame) - 1; }

/// The module and the function of a frame. The file that was looked at last stays mapped for the next frame.
class frame_reader {
public:
    void look(const void* frame) noexcept {
        call_ = call_before(frame);
        const HMODULE module = platform::module_of(pointer_at(call_));
        if (module != module_) open(module);
        module_ = module;
        symbol_ = module != nullptr ? symbols_.find(call_ - reinterpret_cast<std::uintptr_t>(module))
                                    : platform::coff_symbols::symbol{};
    }
    [[nodiscard]] std::string_view path() const noexcept { return path_; }
    [[nodiscard]] std::string_view function() const noexcept { return symbol_.name; }
    /// Of the return address.
    [[nodiscard]] std::uint64_t offset_in_function() const noexcept { return symbol_.offset + 1; }
    /// Of the call, as the file's linker has placed it.
    [[nodiscard]] const void* address_in_file() const noexcept {
        return pointer_at(call_ - reinterpret_cast<std::uintptr_t>(module_) + symbols_.preferred_begin());
    }
    [[nodiscard]] HMODULE module() const noexcept { return module_; }
    [[nodiscard]] bool has_names() const noexcept { return symbols_.has_any(); }
    [[nodiscard]] bool is_own() const noexcept {
        return platform::is_own_name(function()) || (is_own_library_ && !symbols_.has_any());
    }

private:
    void open(HMODULE module) noexcept {
        path_ = module != nullptr ? platform::path_of_module(module, place_, sizeof place_) : std::string_view{};
        symbols_.open(path_);
        const std::size_t slash = path_.rfind('\\');
        const std::string_view name = slash == std::string_view::npos ? path_ : path_.substr(slash + 1);
        is_own_library_ = name.substr(0, 6) == "tenure" || name.substr(0, 9) == "libtenure";
    }

    std::uintptr_t call_ = 0;
    HMODULE module_ = nullptr;
    char place_[1024];
    std::string_view path_;
    bool is_own_library_ = false;
    platform::coff_symbols symbols_;
    platform::coff_symbols::symbol symbol_{};
};

void write_frame(const void* frame, std::size_t number, const frame_reader& found) noexcept {
    report_text line;
    line.text("    #").number(number).text(" ").address(frame);
    if (!found.function().empty()) {
        char buffer[256];
        line.text(" in ").text(platform::short_name(found.function(), buffer, sizeof buffer));
        line.text("+").number(found.offset_in_function());
    }
    if (!found.path().empty()) line.text(" (").text(found.path()).text("+").address(found.address_in_file()).text(")");
    write_report(line.text("\n").view());
}

[[nodiscard]] bool is_of_system(std::string_view path) noexcept {
    constexpr std::string_view folder = "\\windows\\";
    for (std::size_t at = 0; at + folder.size() <= path.size() && at < 4; ++at) {
        std::size_t same = 0;
        while (same < folder.size() && (path[at + same] | 32) == (folder[same] | 32)) ++same;
        if (same == folder.size()) return true;
    }
    return false;
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
        const HMODULE module = reader.module();
        for (std::size_t index = first; index < count; ++index) {
            if (platform::module_of(pointer_at(call_before(frames[index]))) != module) continue;
            reader.look(frames[index]);
            line.text(" ").address(reader.address_in_file());
            is_written[index] = true;
        }
        write_report(line.text("\n").view());
    }
}

}

void write_stack(void* const* frames, std::size_t count) noexcept {
    const platform::kept_error kept;
    frame_reader reader;
    std::size_t own = platform::own_frames(frames, count, reader);
    // The callers have no tables, as the code of a virtual machine: what they called is all that is known.
    if (own == count && own != 0) --own;
    std::size_t number = 0;
    bool is_nameless = false;
    for (std::size_t index = own; index < count; ++index) {
        reader.look(frames[index]);
        if (reader.function() == "main") count = index + 1; // its callers tell nothing
        if (index == own)
            is_nameless = !reader.has_names() &&
                          reader.module() == platform::module_of(reinterpret_cast<const void*>(&write_stack));
        write_frame(frames[index], number++, reader);
    }
    if (is_nameless)
        write_report("    The file has no symbol table (strip, -s), so the first frames are the library's own.\n");
    write_commands(frames + own, count - own, reader);
}

}
