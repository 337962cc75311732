// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/symbol.hpp>

#include <dlfcn.h>
#include <link.h>
#if defined(__linux__)
#    include <sys/auxv.h>
#endif

#include <cstdint>
#include <cstring>

#include <tenure/base/align.hpp>

// Since glibc 2.35. Other C libraries lack it.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#    include <gnu/libc-version.h>
// NOLINTNEXTLINE(readability-redundant-declaration,readability-inconsistent-declaration-parameter-name): weak here
extern "C" __attribute__((weak)) int _dl_find_object(void* address, struct dl_find_object* found) noexcept;
#elif defined(__linux__) && !defined(__GLIBC__)
// Of this module, by the linker.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak, visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;
#endif

namespace tenure::inline TENURE_ABI::platform {

void* next_symbol(const char* name) noexcept { return ::dlsym(RTLD_NEXT, name); }

void* symbol_of_loaded(const char* library, const char* name) noexcept {
    void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD); // never closed: the symbol must stay valid
    return handle == nullptr ? nullptr : ::dlsym(handle, name);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

namespace {

/// The loaded object that contains an address; nullptr if none does.
[[nodiscard]] const link_map* object_of(std::uintptr_t address) noexcept {
    struct dl_find_object found {};
    return ::_dl_find_object(pointer_at(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

/// What the loader uses to find a name in one object: the GNU hash table of its dynamic section.
struct name_table {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const std::uint32_t* hashes = nullptr; // buckets, first symbol, words of the filter, shift; filter, buckets, chains

    explicit name_table(const link_map& object) noexcept {
        for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
            const void* const at = pointer_at(entry->d_un.d_ptr); // relocated by the loader
            if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(at);
            if (entry->d_tag == DT_STRTAB) names = static_cast<const char*>(at);
            if (entry->d_tag == DT_GNU_HASH) hashes = static_cast<const std::uint32_t*>(at);
        }
    }

    [[nodiscard]] const ElfW(Sym) * find(const char* name) const noexcept {
        if (symbols == nullptr || names == nullptr || hashes == nullptr) return nullptr;
        std::uint32_t hash = 5381;
        for (const char* letter = name; *letter != 0; ++letter) hash = hash * 33 + static_cast<unsigned char>(*letter);
        const std::uint32_t bucket_count = hashes[0], first = hashes[1], filter_words = hashes[2];
        const std::uint32_t* const buckets = hashes + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
        const std::uint32_t* const chains = buckets + bucket_count;
        std::uint32_t index = bucket_count == 0 ? 0 : buckets[hash % bucket_count];
        for (; index >= first && index != 0; ++index) {
            const std::uint32_t other = chains[index - first];
            const ElfW(Sym)& symbol = symbols[index];
            if ((other | 1U) == (hash | 1U) && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 &&
                std::strcmp(names + symbol.st_name, name) == 0)
                return &symbol;
            if ((other & 1U) != 0) return nullptr; // the end of the chain
        }
        return nullptr;
    }
};

}

void* symbol_of_c_library(const char* name) noexcept {
    if (::_dl_find_object == nullptr) return nullptr;
    const link_map* const library = object_of(address_of(::gnu_get_libc_version())); // a text inside it
    if (library == nullptr || library->l_ld == nullptr) return nullptr;
    const ElfW(Sym)* const found = name_table(*library).find(name);
    // The address of an indirect function is that of the one which chooses it.
    if (found == nullptr || (found->st_info & 0xF) != STT_FUNC) return nullptr;
    return pointer_at(library->l_addr + found->st_value);
}

bool may_be_system_code(const void* code) noexcept {
    if (::_dl_find_object == nullptr) return true;
    const link_map* const object = object_of(address_of(code));
    if (object == nullptr) return false; // generated code
    // A text inside the C library tells where it is. The address of one of its functions may be in the program, if that
    // defines the function itself, or takes its address and is not position-independent.
    const link_map* const system[] = {object_of(address_of(::gnu_get_libc_version())),
                                      object_of(::getauxval(AT_BASE)), // the loader
                                      object_of(reinterpret_cast<std::uintptr_t>(&may_be_system_code))};
    for (const link_map* const each : system) {
        if (object == each) return true;
    }
    return false;
}

#else

void* symbol_of_c_library(const char*) noexcept { return nullptr; }

#    if defined(__linux__) && !defined(__GLIBC__)

namespace {

/// Whether a loaded object has an address. Its header is the first that is mapped of its file.
[[nodiscard]] bool contains(const ElfW(Ehdr) * header, std::uintptr_t address) noexcept {
    const std::uintptr_t begin = address_of(header);
    const auto* const parts = static_cast<const ElfW(Phdr)*>(pointer_at(begin + header->e_phoff));
    std::uintptr_t bias = begin;
    for (std::size_t index = 0; index < header->e_phnum; ++index) {
        if (parts[index].p_type == PT_LOAD && parts[index].p_offset == 0) bias = begin - parts[index].p_vaddr;
    }
    for (std::size_t index = 0; index < header->e_phnum; ++index) {
        if (parts[index].p_type == PT_LOAD && address - (bias + parts[index].p_vaddr) < parts[index].p_memsz)
            return true;
    }
    return false;
}

}

// musl is the loader as well. If the system did not load that, the program is static, or the loader was called as a
// command: nothing tells where the C library is.
bool may_be_system_code(const void* code) noexcept {
    const auto* const system = static_cast<const ElfW(Ehdr)*>(pointer_at(::getauxval(AT_BASE)));
    if (system == nullptr || &__ehdr_start == nullptr) return true;
    return contains(system, address_of(code)) || contains(&__ehdr_start, address_of(code));
}

#    else

bool may_be_system_code(const void*) noexcept { return true; }

#    endif

#endif

}
