// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/coff_symbols.hpp>

#include <cstring>

#include <tenure/platform/windows/text.hpp>

namespace tenure::inline TENURE_ABI::platform {

void coff_symbols::close() noexcept {
    if (file_ != nullptr) ::UnmapViewOfFile(file_);
    file_ = nullptr;
    symbol_count_ = section_count_ = bytes_ = 0;
    preferred_begin_ = 0;
}

void coff_symbols::open(std::string_view path) noexcept {
    close();
    if (path.empty()) return;
    const HANDLE file = ::CreateFileW(system_path(path).get(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                      nullptr, OPEN_EXISTING, 0, nullptr);
    if (file == INVALID_HANDLE_VALUE) return;
    LARGE_INTEGER bytes{};
    const HANDLE section = ::CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (section != nullptr && ::GetFileSizeEx(file, &bytes) != 0) {
        file_ = static_cast<const unsigned char*>(::MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0));
        bytes_ = static_cast<std::size_t>(bytes.QuadPart);
    }
    if (section != nullptr) ::CloseHandle(section);
    ::CloseHandle(file);
    if (file_ == nullptr || !read_headers()) symbol_count_ = 0;
}

bool coff_symbols::read_headers() noexcept {
    IMAGE_DOS_HEADER dos{};
    IMAGE_NT_HEADERS64 headers{};
    if (bytes_ < sizeof dos) return false;
    std::memcpy(&dos, file_, sizeof dos);
    const auto at = static_cast<std::size_t>(dos.e_lfanew);
    if (dos.e_magic != IMAGE_DOS_SIGNATURE || at > bytes_ || bytes_ - at < sizeof headers) return false;
    std::memcpy(&headers, file_ + at, sizeof headers);
    if (headers.Signature != IMAGE_NT_SIGNATURE) return false;
    preferred_begin_ = headers.OptionalHeader.ImageBase;
    const IMAGE_FILE_HEADER& head = headers.FileHeader;
    const std::size_t sections = at + offsetof(IMAGE_NT_HEADERS64, OptionalHeader) + head.SizeOfOptionalHeader;
    if (sections > bytes_ || (bytes_ - sections) / sizeof(IMAGE_SECTION_HEADER) < head.NumberOfSections) return false;
    sections_ = reinterpret_cast<const IMAGE_SECTION_HEADER*>(file_ + sections);
    section_count_ = head.NumberOfSections;
    const std::size_t symbols = head.PointerToSymbolTable;
    const std::size_t count = head.NumberOfSymbols;
    if (symbols == 0 || symbols > bytes_ || (bytes_ - symbols) / IMAGE_SIZEOF_SYMBOL < count) return false;
    symbols_ = file_ + symbols;
    symbol_count_ = count;
    const std::size_t strings = symbols + count * IMAGE_SIZEOF_SYMBOL;
    strings_ = {reinterpret_cast<const char*>(file_) + strings, bytes_ - strings};
    return true;
}

std::string_view coff_symbols::name_of(const IMAGE_SYMBOL& of) noexcept {
    if (of.N.Name.Short != 0) {
        std::memcpy(short_name_, of.N.ShortName, sizeof short_name_ - 1);
        return short_name_;
    }
    if (of.N.Name.Long >= strings_.size()) return {};
    const std::string_view rest = strings_.substr(of.N.Name.Long);
    return rest.substr(0, rest.find('\0'));
}

coff_symbols::symbol coff_symbols::find(std::uintptr_t offset_in_module) noexcept {
    constexpr WORD function_type = IMAGE_SYM_DTYPE_FUNCTION << 4;
    std::size_t section = 0;
    while (section < section_count_ &&
           offset_in_module - sections_[section].VirtualAddress >= sections_[section].Misc.VirtualSize)
        ++section;
    if (section == section_count_) return {};
    const std::uintptr_t wanted = offset_in_module - sections_[section].VirtualAddress;
    IMAGE_SYMBOL best{};
    bool is_found = false;
    for (std::size_t index = 0; index < symbol_count_; ++index) {
        IMAGE_SYMBOL each;
        std::memcpy(&each, symbols_ + index * IMAGE_SIZEOF_SYMBOL, IMAGE_SIZEOF_SYMBOL);
        index += each.NumberOfAuxSymbols;
        if (each.SectionNumber != static_cast<SHORT>(section + 1) || each.Type != function_type) continue;
        if (each.Value > wanted || (is_found && each.Value < best.Value)) continue;
        best = each;
        is_found = true;
    }
    return is_found ? symbol{name_of(best), wanted - best.Value} : symbol{};
}

}
