// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/symbols/symbols.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <unordered_map>

#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace {

std::string demangled(const char* name) {
    if (name == nullptr) return {};
    if (std::strncmp(name, "_Z", 2) != 0) return name; // a C function called f must not become "float"
    int status = 0;
    char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string answer = status == 0 && plain != nullptr ? plain : name;
    std::free(plain);
    return answer;
}

/// Debug files are searched beside the program and in the system's folder, not over the network.
char no_folder[] = "";
char* debug_folder = no_folder;

const Dwfl_Callbacks& callbacks() {
    static const Dwfl_Callbacks found{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                      dwfl_offline_section_address, &debug_folder};
    return found;
}

struct opened_module {
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
    GElf_Addr bias = 0;
};

const char* name_of(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
        if (const char* const name = dwarf_formstring(dwarf_attr_integrate(die, kind, &attribute))) return name;
    }
    return nullptr;
}

/// The full name of a function for which the debug information has only the last part, such as a class inside a
/// function. Returns   nullptr when the debug information has the full name, or the symbol table has no better one.
const char* whole_name_of(const opened_module& in, GElf_Addr address, Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        if (dwarf_attr_integrate(die, kind, &attribute) != nullptr) return nullptr;
    }
    const char* const symbol = dwfl_module_addrname(in.module, address);
    if (symbol == nullptr || std::strncmp(symbol, "_Z", 2) != 0 || std::strstr(symbol, ".cold") != nullptr)
        return nullptr;
    return symbol;
}

/// Sets the place where an inlined function was called.
void place_of_call(Dwarf_Die* die, Dwarf_Die* unit, named_frame& frame) {
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0, file = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0) frame.line = static_cast<int>(line);
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
        if (const char* const name = dwarf_filesrc(files, file, nullptr, nullptr)) frame.file = name;
    }
}

/// The inlined functions at an address, innermost first, and the function that contains them.
std::vector<named_frame> by_debug_information(const opened_module& in, GElf_Addr address) {
    std::vector<named_frame> found;
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = dwfl_module_addrdie(in.module, address, &bias);
    // Code without a unit, as _start, is taken for a part of the one before it.
    if (unit == nullptr || dwarf_haspc(unit, address - bias) == 0) return found;
    named_frame here;
    if (Dwfl_Line* const line = dwfl_module_getsrc(in.module, address)) {
        int number = 0;
        if (const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr)) {
            here.file = file;
            here.line = number;
        }
    }
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(unit, address - bias, &scopes);
    if (count <= 0) { // a part of a function that the compiler has split off
        if (here.line != 0) found.push_back(here);
        return found;
    }
    Dwarf_Die* chain = nullptr;
    const int chained = dwarf_getscopes_die(&scopes[0], &chain);
    for (int index = 0; index < chained; ++index) {
        const int kind = dwarf_tag(&chain[index]);
        if (kind != DW_TAG_inlined_subroutine && kind != DW_TAG_subprogram) continue;
        const char* const whole = kind == DW_TAG_subprogram ? whole_name_of(in, address, &chain[index]) : nullptr;
        here.function = demangled(whole != nullptr ? whole : name_of(&chain[index]));
        here.is_inlined = kind == DW_TAG_inlined_subroutine;
        found.push_back(here);
        if (kind == DW_TAG_subprogram) break;
        here = {};
        place_of_call(&chain[index], unit, here);
    }
    std::free(chain);
    std::free(scopes);
    if (found.empty() && here.line != 0) found.push_back(here);
    return found;
}

/// Where the function at an address begins, or the part of it that the compiler has split off; 0: not known.
GElf_Addr start_of_function(const opened_module& in, GElf_Addr address) {
    GElf_Off into = 0;
    GElf_Sym symbol{};
    const char* const name = dwfl_module_addrinfo(in.module, address, &into, &symbol, nullptr, nullptr, nullptr);
    if (name != nullptr && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && into < symbol.st_size) return address - into;
    Dwarf_Addr bias = 0, start = 0, end = 0;
    if (Dwarf_Die* const unit = dwfl_module_addrdie(in.module, address, &bias)) {
        Dwarf_Die* scopes = nullptr;
        const int count = dwarf_getscopes(unit, address - bias, &scopes);
        bool is_found = false;
        for (int index = 0; index < count && !is_found; ++index)
            is_found = dwarf_tag(&scopes[index]) == DW_TAG_subprogram && dwarf_entrypc(&scopes[index], &start) == 0;
        std::free(scopes);
        if (is_found) return start + bias;
    }
    Dwarf_Frame* frame = nullptr; // the unwind tables, which programs without symbols have too
    Dwarf_CFI* const rules = dwfl_module_eh_cfi(in.module, &bias);
    if (rules == nullptr || dwarf_cfi_addrframe(rules, address - bias, &frame) != 0) return 0;
    const bool is_found = dwarf_frame_info(frame, &start, &end, nullptr) >= 0;
    std::free(frame);
    return is_found ? start + bias : 0;
}

struct jitted {
    std::uint64_t first = 0, last = 0;
    std::string name;
};

std::vector<jitted> read_perf_map(std::uint32_t process) {
    constexpr std::uint64_t max_map_bytes = std::uint64_t{256} << 20U;
    std::vector<jitted> found;
    std::istringstream file(read_file(fmt::format("/tmp/perf-{}.map", process), max_map_bytes).text);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        jitted each;
        std::uint64_t bytes = 0;
        words >> std::hex >> each.first >> bytes >> std::ws;
        if (!words || !std::getline(words, each.name)) continue;
        each.last = each.first + bytes;
        found.push_back(std::move(each));
    }
    std::stable_sort(found.begin(), found.end(), [](const jitted& a, const jitted& b) { return a.first < b.first; });
    return found;
}

}

struct symbols::state {
    std::map<std::string, opened_module, std::less<>> modules;
    std::map<std::pair<std::string, std::uint64_t>, std::vector<named_frame>> known;
    std::map<std::uint32_t, std::vector<jitted>> maps;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<named_frame>> known_jitted;

    const opened_module& open(std::string_view path) {
        const auto found = modules.find(path);
        if (found != modules.end()) return found->second;
        opened_module made;
        const std::string file{path};
        std::error_code error;
        if (std::filesystem::is_regular_file(file, error)) {
            made.session = dwfl_begin(&callbacks());
            dwfl_report_begin(made.session);
            made.module = dwfl_report_elf(made.session, file.c_str(), file.c_str(), -1, 0, false);
            dwfl_report_end(made.session, nullptr, nullptr);
            if (made.module != nullptr && dwfl_module_getelf(made.module, &made.bias) == nullptr) made.module = nullptr;
        }
        return modules.emplace(file, made).first->second;
    }
};

symbols::symbols() : state_(std::make_unique<state>()) { ::unsetenv("DEBUGINFOD_URLS"); }

symbols::~symbols() {
    for (auto& [path, module] : state_->modules) {
        if (module.session != nullptr) dwfl_end(module.session);
    }
}

const std::vector<named_frame>& symbols::at(std::string_view module, std::uint64_t offset, bool is_return) {
    // A return address is behind the call instruction; one byte before is inside it.
    const std::uint64_t asked = is_return && offset > 0 ? offset - 1 : offset;
    const auto [entry, is_new] = state_->known.try_emplace({std::string{module}, asked});
    std::vector<named_frame>& frames = entry->second;
    if (!is_new) return frames;
    const opened_module& in = state_->open(module);
    if (in.module != nullptr) {
        frames = by_debug_information(in, asked + in.bias);
        if (frames.empty()) frames.emplace_back();
        if (frames.back().function.empty() || frames.size() == 1) {
            const char* const name = dwfl_module_addrname(in.module, asked + in.bias);
            if (name != nullptr && (frames.back().function.empty() || std::string_view{name}.starts_with("_Z"))) {
                frames.back().function = demangled(name);
            }
        }
        const GElf_Addr start = start_of_function(in, asked + in.bias);
        frames.back().start = start == 0 ? 0 : start - in.bias;
    }
    if (frames.empty()) frames.emplace_back();
    for (named_frame& each : frames) { // a symbol table may contain any bytes
        each.function = printable(each.function);
        each.file = printable(each.file);
        each.module = printable(module);
        each.offset = asked;
    }
    return frames;
}

const std::vector<named_frame>& symbols::made_at_run_time(std::uint32_t process, std::uint64_t address) {
    const auto [entry, is_new] = state_->known_jitted.try_emplace({process, address});
    if (!is_new) return entry->second;
    if (state_->maps.find(process) == state_->maps.end()) state_->maps[process] = read_perf_map(process);
    const std::vector<jitted>& map = state_->maps[process];
    auto after = std::upper_bound(map.begin(), map.end(), address - 1,
                                  [](std::uint64_t at, const jitted& each) { return at < each.first; });
    named_frame frame;
    frame.offset = address;
    if (after != map.begin() && address - 1 < (after - 1)->last) {
        frame.function = printable((after - 1)->name);
        frame.start = (after - 1)->first;
    }
    entry->second.push_back(std::move(frame));
    return entry->second;
}

std::string symbols::build_id(std::string_view module) {
    const opened_module& in = state_->open(module);
    const unsigned char* bytes = nullptr;
    GElf_Addr address = 0;
    const int count = in.module != nullptr ? dwfl_module_build_id(in.module, &bytes, &address) : 0;
    std::string text;
    for (int each = 0; each < count; ++each) text += fmt::format("{:02x}", bytes[each]);
    return text;
}

std::string symbols::variable(std::string_view module, std::uint64_t offset) {
    const opened_module& in = state_->open(module);
    if (in.module == nullptr) return {};
    GElf_Off into = 0;
    GElf_Sym symbol{};
    const char* const name =
        dwfl_module_addrinfo(in.module, offset + in.bias, &into, &symbol, nullptr, nullptr, nullptr);
    if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
        into >= std::max<GElf_Xword>(symbol.st_size, 1)) {
        return {};
    }
    const std::string plain = printable(demangled(name));
    return into == 0 ? plain : fmt::format("{}+{}", plain, into);
}

std::string shown(const named_frame& frame) {
    if (!frame.function.empty()) return frame.function;
    const std::string module = std::filesystem::path(frame.module).filename().string();
    return module.empty() ? fmt::format("{:#x}", frame.offset) : fmt::format("{}+{:#x}", module, frame.offset);
}

std::string shown_place(const named_frame& frame) {
    if (frame.file.empty()) return {};
    return fmt::format("{}:{}", std::filesystem::path(frame.file).filename().string(), frame.line);
}

}
