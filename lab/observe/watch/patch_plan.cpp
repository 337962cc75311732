// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Plans which instructions to move: whole ones, at least the five bytes of a jump, and none that is the target of a
/// jump inside the function. Operands relative to the instruction get a 32-bit distance that is corrected for their new
/// address.

#include "observe/watch/patch_plan.hpp"

#include <Zydis/Zydis.h>
#include <cxxabi.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t jump_bytes = 5;

struct found_function {
    std::string symbol; ///< linker symbol
    std::uint64_t address = 0, bytes = 0;
    bool is_indirect = false; ///< the symbol is a resolver that selects the function at start-up
};

std::string demangled(const char* name) {
    if (std::strncmp(name, "_Z", 2) != 0) return name;
    int status = 0;
    char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string answer = status == 0 && plain != nullptr ? plain : name;
    std::free(plain);
    return answer;
}

/// "draw(int) const" becomes "draw". For a lambda and for operator() it removes the last argument list.
std::string without_arguments(const std::string& name) {
    if (name.empty() || name.find('(') == std::string::npos) return name;
    int depth = 0;
    const std::size_t last = name.rfind(')');
    for (std::size_t index = last + 1; index-- > 0;) {
        if (name[index] == ')') ++depth;
        if (name[index] == '(' && --depth == 0) return name.substr(0, index);
    }
    return name;
}

/// "int pick<int>" becomes "pick<int>": the mangled name of a template includes its return type.
std::string without_return(const std::string& name) {
    int depth = 0;
    for (std::size_t index = name.size(); index-- > 0;) {
        if (name[index] == '>' || name[index] == ')') ++depth;
        if (name[index] == '<' || name[index] == '(') --depth;
        if (name[index] != ' ' || depth != 0) continue;
        const bool is_operator = std::string_view(name).substr(0, index).ends_with("operator");
        return is_operator ? name : name.substr(index + 1);
    }
    return name;
}

/// "pick<int>" becomes "pick".
std::string without_templates(const std::string& name) {
    if (name.find("operator") != std::string::npos) return name;
    std::string short_name;
    int depth = 0;
    for (const char letter : name) {
        if (letter == '<') ++depth;
        if (depth == 0) short_name += letter;
        if (letter == '>') --depth;
    }
    return short_name;
}

/// An open ELF file.
class elf_file {
public:
    explicit elf_file(const fs::path& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        ::elf_version(EV_CURRENT);
        if (number_ >= 0) elf_ = ::elf_begin(number_, ELF_C_READ_MMAP, nullptr);
    }
    ~elf_file() {
        if (elf_ != nullptr) ::elf_end(elf_);
        if (number_ >= 0) ::close(number_);
    }
    elf_file(const elf_file&) = delete;
    elf_file& operator=(const elf_file&) = delete;

    [[nodiscard]] bool is_open() const { return elf_ != nullptr && ::elf_kind(elf_) == ELF_K_ELF; }

    /// Calls `wanted` for all functions of both symbol tables.
    template<class Wanted>
    void for_each_function(Wanted&& wanted) const {
        for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_, section)) != nullptr;) {
            GElf_Shdr head{};
            if (::gelf_getshdr(section, &head) == nullptr) continue;
            if ((head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) || head.sh_entsize == 0) continue;
            Elf_Data* const data = ::elf_getdata(section, nullptr);
            for (std::size_t index = 0; data != nullptr && index < head.sh_size / head.sh_entsize; ++index) {
                GElf_Sym symbol{};
                if (::gelf_getsym(data, static_cast<int>(index), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF)
                    continue;
                const unsigned type = GELF_ST_TYPE(symbol.st_info);
                if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
                const char* const name = ::elf_strptr(elf_, head.sh_link, symbol.st_name);
                // A function's cold part, which the compiler has placed elsewhere, is not a function.
                if (name != nullptr && std::strstr(name, ".cold") == nullptr)
                    wanted(name, symbol, type == STT_GNU_IFUNC);
            }
        }
    }

    /// The bytes at an address in the file's own numbering.
    [[nodiscard]] std::vector<unsigned char> code_at(std::uint64_t address, std::uint64_t bytes) const {
        std::size_t count = 0;
        if (::elf_getphdrnum(elf_, &count) != 0) return {};
        for (std::size_t index = 0; index < count; ++index) {
            GElf_Phdr part{};
            if (::gelf_getphdr(elf_, static_cast<int>(index), &part) == nullptr || part.p_type != PT_LOAD) continue;
            if ((part.p_flags & PF_X) == 0 || address < part.p_vaddr || address + bytes > part.p_vaddr + part.p_filesz)
                continue;
            std::vector<unsigned char> code(bytes);
            const auto offset = static_cast<off_t>(part.p_offset + (address - part.p_vaddr));
            if (::pread(number_, code.data(), bytes, offset) == static_cast<ssize_t>(bytes)) return code;
        }
        return {};
    }

private:
    int number_;
    Elf* elf_ = nullptr;
};

struct search_result {
    std::vector<found_function> found;
};

search_result search(const elf_file& file, const std::string& name) {
    search_result result;
    std::vector<found_function> exact, loose, looser;
    file.for_each_function([&](const char* symbol, const GElf_Sym& about, bool is_indirect) {
        const std::string_view plain_symbol{symbol};
        const found_function each{symbol, about.st_value, about.st_size, is_indirect};
        if (plain_symbol == name) return exact.push_back(each);
        const std::string plain = demangled(symbol);
        if (plain == name) return exact.push_back(each);
        const std::string bare = without_arguments(plain), returned = without_return(bare);
        if (bare == name) return loose.push_back(each);
        if (plain.ends_with(name) && without_return(plain) == name) return loose.push_back(each);
        if (returned == name || without_templates(returned) == name) looser.push_back(each);
    });
    result.found = !exact.empty() ? std::move(exact) : !loose.empty() ? std::move(loose) : std::move(looser);
    // A symbol may be in both tables, and a constructor has several names.
    std::sort(result.found.begin(), result.found.end(),
              [](const auto& left, const auto& right) { return left.address < right.address; });
    result.found.erase(std::unique(result.found.begin(), result.found.end(),
                                   [](const auto& left, const auto& right) { return left.address == right.address; }),
                       result.found.end());
    return result;
}

struct instruction {
    ZydisDecodedInstruction about{};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
    std::uint64_t address = 0;

    /// The target of a relative jump or call.
    [[nodiscard]] std::optional<std::uint64_t> target() const {
        for (std::size_t index = 0; index < about.operand_count; ++index) {
            const ZydisDecodedOperand& each = operands[index];
            if (each.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && each.imm.is_relative) {
                return address + about.length + static_cast<std::uint64_t>(each.imm.value.s);
            }
        }
        return std::nullopt;
    }
    /// Whether an operand is memory addressed relative to the instruction.
    [[nodiscard]] bool points_near() const {
        for (std::size_t index = 0; index < about.operand_count; ++index) {
            const ZydisDecodedOperand& each = operands[index];
            if (each.type == ZYDIS_OPERAND_TYPE_MEMORY && each.mem.base == ZYDIS_REGISTER_RIP) return true;
        }
        return false;
    }
    [[nodiscard]] bool ends_flow() const {
        return about.meta.category == ZYDIS_CATEGORY_RET || about.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
               about.mnemonic == ZYDIS_MNEMONIC_UD2 || about.mnemonic == ZYDIS_MNEMONIC_HLT;
    }
};

class mover {
public:
    mover(const std::vector<unsigned char>& code, const found_function& function) : code_(code), function_(function) {
        ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    }

    /// Returns   the reason for a failure; empty on success.
    std::string run(hook::planned_patch& patch) {
        if (const std::string refusal = take_whole_instructions(); !refusal.empty()) return refusal;
        if (const std::string refusal = look_for_jumps_into(); !refusal.empty()) return refusal;
        for (const instruction& each : first_) {
            if (const std::string refusal = move(each, patch); !refusal.empty()) return refusal;
        }
        patch.bytes = taken_;
        patch.first_bytes = first_.front().about.length;
        std::memcpy(patch.original, code_.data(), taken_);
        return {};
    }

private:
    [[nodiscard]] std::optional<instruction> decode(std::size_t offset) const {
        instruction found;
        found.address = function_.address + offset;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + offset, code_.size() - offset, &found.about,
                                                 found.operands.data()))) {
            return std::nullopt;
        }
        return found;
    }

    std::string take_whole_instructions() {
        while (taken_ < jump_bytes) {
            if (taken_ >= code_.size())
                return fmt::format("it has only {} bytes; a jump needs {}", code_.size(), jump_bytes);
            const std::optional<instruction> each = decode(taken_);
            if (!each) return "the decoder does not know its first instructions";
            taken_ += each->about.length;
            first_.push_back(*each);
            if (each->ends_flow() && taken_ < jump_bytes) return "it ends within the five bytes that a jump needs";
        }
        return taken_ <= hook::max_patched_bytes ? "" : "its first instructions are too long";
    }

    std::string look_for_jumps_into() const {
        std::size_t offset = taken_;
        while (offset < code_.size()) {
            const std::optional<instruction> each = decode(offset);
            if (!each)
                return "the decoder does not know all of its instructions, so jumps to its first instructions could be "
                       "missed";
            if (const auto target = each->target();
                target && *target > function_.address && *target < function_.address + taken_) {
                return fmt::format("a jump at +{:#x} leads into its first {} bytes", offset, taken_);
            }
            offset += each->about.length;
        }
        return {};
    }

    std::string put(hook::planned_patch& patch, const void* bytes, std::size_t count) const {
        if (patch.moved_bytes + count > hook::max_moved_bytes)
            return "its first instructions are too long after being moved";
        std::memcpy(patch.moved + patch.moved_bytes, bytes, count);
        patch.moved_bytes += static_cast<std::uint32_t>(count);
        return {};
    }
    static std::string fix(hook::planned_patch& patch, std::uint32_t at, std::uint32_t next, std::uint64_t target,
                           hook::fix_kind kind = hook::fix_kind::distance) {
        if (patch.fixes == hook::max_fixes) return "too many of its first instructions depend on their address";
        patch.fix[patch.fixes++] = {kind, at, next, 0, target};
        return {};
    }

    std::string move(const instruction& each, hook::planned_patch& patch) const {
        const unsigned char* const bytes = code_.data() + (each.address - function_.address);
        if (each.about.meta.category == ZYDIS_CATEGORY_CALL) return move_call(each, patch);
        if (const auto target = each.target()) return move_jump(each, *target, patch);
        const std::uint32_t begin = patch.moved_bytes;
        if (const std::string refusal = put(patch, bytes, each.about.length); !refusal.empty()) return refusal;
        if (!each.points_near()) return {};
        const auto distance = static_cast<std::int64_t>(each.about.raw.disp.value);
        const std::uint64_t target = each.address + each.about.length + static_cast<std::uint64_t>(distance);
        return fix(patch, begin + each.about.raw.disp.offset, begin + each.about.length, target);
    }

    /// A moved call must return to its original address, behind the patch, where unwinders find the function. So the
    /// code pushes that address and jumps to the called function.
    std::string move_call(const instruction& each, hook::planned_patch& patch) const {
        const std::uint64_t back = each.address + each.about.length;
        if (back != function_.address + taken_)
            return "one of its first instructions is a call that is not the last of them";
        constexpr std::array<unsigned char, 20> push_address{0x48, 0x8D, 0x64, 0x24, 0xF8,       // lea -8(%rsp), %rsp
                                                             0xC7, 0x04, 0x24, 0,    0,    0, 0, // movl $low, (%rsp)
                                                             0xC7, 0x44, 0x24, 0x04, 0,    0, 0,
                                                             0}; // movl $high, 4(%rsp)
        const std::uint32_t begin = patch.moved_bytes;
        std::string refusal = put(patch, push_address.data(), push_address.size());
        constexpr std::uint32_t low_at = 8, high_at = 16;
        if (refusal.empty()) refusal = fix(patch, begin + low_at, 0, back, hook::fix_kind::low_half);
        if (refusal.empty()) refusal = fix(patch, begin + high_at, 0, back, hook::fix_kind::high_half);
        if (!refusal.empty()) return refusal;
        const std::uint32_t jump = patch.moved_bytes;
        if (const auto target = each.target()) {
            constexpr std::array<unsigned char, 5> near{0xE9, 0, 0, 0, 0};
            refusal = put(patch, near.data(), near.size());
            return refusal.empty() ? fix(patch, jump + 1, jump + 5, *target) : refusal;
        }
        if (each.points_near() && each.about.opcode == 0xFF && each.about.length == 6) { // through an address in memory
            constexpr std::array<unsigned char, 6> through{0xFF, 0x25, 0, 0, 0, 0};
            refusal = put(patch, through.data(), through.size());
            const auto target = back + static_cast<std::uint64_t>(each.about.raw.disp.value);
            return refusal.empty() ? fix(patch, jump + 2, jump + 6, target) : refusal;
        }
        return "one of its first instructions calls through a register";
    }

    /// Replaces short jumps by their long form.
    std::string move_jump(const instruction& each, std::uint64_t target, hook::planned_patch& patch) const {
        if (target >= function_.address && target < function_.address + taken_)
            return "one of its first instructions jumps to another";
        std::array<unsigned char, 6> longer{};
        std::size_t head = 1;
        const auto category = each.about.meta.category;
        if (category == ZYDIS_CATEGORY_UNCOND_BR) {
            longer[0] = 0xE9;
        } else if (category == ZYDIS_CATEGORY_COND_BR && each.about.opcode >= 0x70 && each.about.opcode <= 0x8F) {
            longer[0] = 0x0F;
            longer[1] = static_cast<unsigned char>(0x80U | (each.about.opcode & 0x0FU));
            head = 2;
        } else {
            return "one of its first instructions is a loop or a jump on a count, which has no long form";
        }
        const std::uint32_t begin = patch.moved_bytes;
        if (const std::string refusal = put(patch, longer.data(), head + 4); !refusal.empty()) return refusal;
        const auto at = static_cast<std::uint32_t>(begin + head);
        return fix(patch, at, at + 4, target);
    }

    const std::vector<unsigned char>& code_;
    const found_function& function_;
    ZydisDecoder decoder_{};
    std::uint32_t taken_ = 0;
    std::vector<instruction> first_;
};

std::string names_of(const std::vector<found_function>& found) {
    std::string text;
    for (const found_function& each : found) {
        if (!text.empty()) text += ", ";
        text += demangled(each.symbol.c_str());
    }
    return text;
}

/// Plans in one file. Returns   nothing when the file has no such function.
std::optional<function_plan> plan_in(const fs::path& path, const std::string& name) {
    const elf_file file(path);
    if (!file.is_open()) return std::nullopt;
    const search_result searched = search(file, name);
    if (searched.found.empty()) return std::nullopt;
    function_plan plan;
    if (searched.found.size() > 1) {
        plan.refusal = fmt::format("{} has {} functions of that name: {}; give the arguments to choose one",
                                   path.string(), searched.found.size(), names_of(searched.found));
        return plan;
    }
    const found_function& function = searched.found.front();
    if (function.is_indirect) plan.refusal = "it is an indirect function, which is selected at start-up";
    if (plan.refusal.empty() && function.bytes == 0) plan.refusal = "its symbol has no size";
    if (!plan.refusal.empty()) return plan;
    const std::vector<unsigned char> code = file.code_at(function.address, function.bytes);
    if (code.empty()) {
        plan.refusal = "its code is not in the file";
        return plan;
    }
    plan.refusal = mover(code, function).run(plan.patch);
    plan.patch.address = function.address;
    const std::string shown = demangled(function.symbol.c_str());
    std::strncpy(plan.patch.name, shown.c_str(), sizeof plan.patch.name - 1);
    std::error_code error;
    const std::string real = fs::canonical(path, error).string();
    if (real.size() >= sizeof plan.patch.module) plan.refusal = "the path of its file is too long";
    std::strncpy(plan.patch.module, real.c_str(), sizeof plan.patch.module - 1);
    return plan;
}

/// The shared libraries that the loader would load with the program, without the kernel's vDSO.
std::vector<fs::path> libraries_of(const fs::path& program) {
    std::vector<fs::path> found;
    // Asks the loader itself to list instead of run, so that it searches as it would at start.
    std::string quoted = "'";
    for (const char letter : program.string()) quoted += letter == '\'' ? std::string{"'\\''"} : std::string(1, letter);
    quoted += "'";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
        ::popen(("LD_PRELOAD= LD_TRACE_LOADED_OBJECTS=1 " + quoted + " 2>/dev/null < /dev/null").c_str(), "r"),
        ::pclose);
    if (!pipe) return found;
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr) {
        std::string_view text{line.data()};
        const std::size_t begin = text.find('/');
        if (begin == std::string_view::npos) continue;
        text.remove_prefix(begin);
        found.emplace_back(text.substr(0, text.find(" (")));
    }
    return found;
}

}

function_plan plan_function(const fs::path& program, const std::string& name) {
    const std::size_t mark = name.find('!');
    const std::string library = mark == std::string::npos ? "" : name.substr(0, mark);
    const std::string function = mark == std::string::npos ? name : name.substr(mark + 1);
    function_plan none;
    if (function.size() >= sizeof none.patch.name) {
        none.refusal = fmt::format("its name is longer than {} characters", sizeof none.patch.name - 1);
        return none;
    }
    if (library.empty()) {
        if (auto plan = plan_in(program, function)) return *plan;
    }
    for (const fs::path& each : libraries_of(program)) {
        if (!library.empty() && each.filename().string().find(library) == std::string::npos && each != library)
            continue;
        if (auto plan = plan_in(each, function)) return *plan;
    }
    if (library.find('/') != std::string::npos) { // the program may load it later
        if (auto plan = plan_in(library, function)) return *plan;
    }
    none.refusal = library.empty()
                       ? fmt::format("neither {} nor one of its libraries has such a function in its symbol table (was "
                                     "it inlined, or stripped?)",
                                     program.string())
                       : fmt::format("{} has no library of that name with such a function", program.string());
    return none;
}

}
