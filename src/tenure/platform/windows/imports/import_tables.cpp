// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/imports/import_tables.hpp>

#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/modules.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// The part of a module that a directory names; nullptr if it has none. Headers may be damaged: nothing outside of the
/// module is read.
template<class Entry>
[[nodiscard]] const Entry* directory_of(HMODULE module, const IMAGE_NT_HEADERS64& headers, unsigned index) noexcept {
    const IMAGE_OPTIONAL_HEADER64& optional = headers.OptionalHeader;
    if (optional.Magic != IMAGE_NT_OPTIONAL_HDR64_MAGIC || index >= optional.NumberOfRvaAndSizes) return nullptr;
    const std::uintptr_t offset = optional.DataDirectory[index].VirtualAddress;
    if (offset == 0) return nullptr;
    // An import directory that was added to the process lies behind the module: added_import.hpp.
    return static_cast<const Entry*>(pointer_at(address_of(module) + offset));
}

/// Memory that may be read and executed meanwhile, as an import table within the code.
class writable_page {
public:
    explicit writable_page(void* at) noexcept : at_(at) {
        MEMORY_BASIC_INFORMATION found{};
        if (::VirtualQuery(at, &found, sizeof found) == 0 || found.State != MEM_COMMIT) return;
        constexpr DWORD writable = PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
        is_ready_ = (found.Protect & writable) != 0;
        if (is_ready_) return;
        const bool is_code = (found.Protect & (PAGE_EXECUTE | PAGE_EXECUTE_READ)) != 0;
        const DWORD wanted = is_code ? PAGE_EXECUTE_READWRITE : PAGE_READWRITE;
        is_ready_ = is_changed_ = ::VirtualProtect(at, sizeof(void*), wanted, &before_) != 0;
    }
    ~writable_page() {
        if (is_changed_) ::VirtualProtect(at_, sizeof(void*), before_, &before_);
    }
    writable_page(const writable_page&) = delete;
    writable_page& operator=(const writable_page&) = delete;
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }

private:
    void* at_;
    DWORD before_ = 0;
    bool is_ready_ = false, is_changed_ = false;
};

/// A table of addresses ends with a zero.
void replace_in(std::uintptr_t table, const replacements& by, replaced_in where) noexcept {
    for (auto* each = static_cast<std::uintptr_t*>(pointer_at(table)); *each != 0; ++each) {
        const std::uintptr_t replacement = by.find(*each, where);
        if (replacement == 0) continue;
        const writable_page page(each);
        if (page.is_ready()) std::atomic_ref(*each).store(replacement, std::memory_order_release);
    }
}

}

void replace_imports(HMODULE module, const replacements& by, replaced_in where) noexcept {
    const IMAGE_NT_HEADERS64* const headers = headers_of(module);
    if (headers == nullptr) return;
    const std::uintptr_t begin = address_of(module);
    const auto* imports = directory_of<IMAGE_IMPORT_DESCRIPTOR>(module, *headers, IMAGE_DIRECTORY_ENTRY_IMPORT);
    for (; imports != nullptr && imports->Name != 0 && imports->FirstThunk != 0; ++imports)
        replace_in(begin + imports->FirstThunk, by, where);
    // Those that are bound later ask GetProcAddress(), which is replaced as well.
    const auto* delayed =
        directory_of<IMAGE_DELAYLOAD_DESCRIPTOR>(module, *headers, IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT);
    for (; delayed != nullptr && delayed->DllNameRVA != 0; ++delayed) {
        if (delayed->Attributes.RvaBased != 0 && delayed->ImportAddressTableRVA != 0)
            replace_in(begin + delayed->ImportAddressTableRVA, by, where);
    }
}

}
