// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/compiler.hpp>
#include <tenure/dropin/detail/out_of_memory.hpp>

#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/symbol.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

// The runtime's own operator new does all that the standard requires: it calls the new handler, asks malloc again,
// which is the drop-in, and throws from the runtime that the program catches with. It is looked up here and not at load
// time, because a C program may have loaded a plug-in, and with it the runtime, since.
constexpr const char* runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};

template<class Function>
[[nodiscard]] Function* find_in_runtime(const char* name) noexcept {
    // A runtime that the program itself is linked to is found without allocating. The first lookup by name allocates,
    // so the runtime of a plug-in may not be found when no memory is left.
    if (void* const next = platform::next_symbol(name)) return reinterpret_cast<Function*>(next);
    for (const char* runtime : runtimes) {
        void* const found = platform::symbol_of_loaded(runtime, name);
        if (found != nullptr) return reinterpret_cast<Function*>(found);
    }
    return nullptr;
}

[[noreturn]] void give_up(std::size_t bytes) noexcept {
    report_text text;
    text.text("operator new failed to allocate ").number(bytes).text(" bytes, and no shared C++ library ");
    text.text("was found that could throw std::bad_alloc. Link the program to libstdc++.so, or use the nothrow form.");
    report(report_kind::misuse, text.view());
    detail::trap(); // a report handler may return; operator new may not
}

}

void* new_failed(std::size_t bytes, std::size_t alignment) {
    if (alignment <= default_alignment) {
        if (auto* const again = find_in_runtime<void*(std::size_t)>("_Znwm")) return again(bytes);
    } else if (auto* const again = find_in_runtime<void*(std::size_t, std::align_val_t)>("_ZnwmSt11align_val_t")) {
        return again(bytes, std::align_val_t{alignment});
    }
    give_up(bytes);
}

// Without a runtime there is no new handler either.
void* new_failed_nothrow(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::nothrow_t quietly{};
    if (alignment <= default_alignment) {
        using plain = void*(std::size_t, const std::nothrow_t&);
        auto* const again = find_in_runtime<plain>("_ZnwmRKSt9nothrow_t");
        return again == nullptr ? nullptr : again(bytes, quietly);
    }
    using aligned = void*(std::size_t, std::align_val_t, const std::nothrow_t&);
    auto* const again = find_in_runtime<aligned>("_ZnwmSt11align_val_tRKSt9nothrow_t");
    return again == nullptr ? nullptr : again(bytes, std::align_val_t{alignment}, quietly);
}

}
