// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/windows/detail/c_runtime.hpp>

#include <cerrno>
#include <utility>

#include <tenure/dropin/windows/detail/heap_calls.hpp>
#include <tenure/dropin/windows/detail/replaced.hpp>
#include <tenure/platform/windows/imports/redirect.hpp>

namespace tenure::inline TENURE_ABI::dropin {

void c_runtime::set_error(int number) const noexcept {
    if (auto* const place = own<int*()>(crt::error_number)) *place() = number;
}

bool c_runtime::should_try_again(std::size_t bytes) const noexcept {
    auto* const mode = own<int()>(crt::new_mode);
    auto* const call = own<int(std::size_t)>(crt::call_new_handler);
    if (mode != nullptr && call != nullptr && mode() != 0 && call(bytes) != 0) return true;
    set_error(ENOMEM);
    return false;
}

namespace {

// The debug runtimes (ucrtbased.dll) are not among them: their blocks have heads that the debug functions read.
constexpr const wchar_t* files_of_runtimes[] = {L"msvcrt.dll",   L"ucrtbase.dll", L"msvcr120.dll", L"msvcr110.dll",
                                                L"msvcr100.dll", L"msvcr90.dll",  L"msvcr80.dll"};
constexpr std::size_t runtime_count = std::size(files_of_runtimes);

template<std::size_t index>
constinit c_runtime runtime_of{};

template<class Function>
[[nodiscard]] void* code_of(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

/// In the order of enum crt.
template<std::size_t index>
[[nodiscard]] std::span<const platform::redirected_function> functions_of() noexcept {
    using by = replaced<runtime_of<index>>;
    using detail::block_form;
    constexpr std::size_t second_names = 1;
    static platform::redirected_function list[crt_functions + second_names] = {
        {"malloc", code_of(&by::malloc), nullptr},
        {"calloc", code_of(&by::calloc), nullptr},
        {"realloc", code_of(&by::realloc), nullptr},
        {"free", code_of(&by::free), nullptr},
        {"_msize", code_of(&by::msize), nullptr},
        {"_expand", code_of(&by::expand), nullptr},
        {"_recalloc", code_of(&by::recalloc), nullptr},
        {"_malloc_base", code_of(&by::malloc), nullptr},
        {"_calloc_base", code_of(&by::calloc), nullptr},
        {"_realloc_base", code_of(&by::realloc), nullptr},
        {"_free_base", code_of(&by::free), nullptr},
        {"_msize_base", code_of(&by::msize), nullptr},
        {"_expand_base", code_of(&by::expand), nullptr},
        {"_recalloc_base", code_of(&by::recalloc), nullptr},
        {"_aligned_malloc", code_of(&by::aligned_malloc), nullptr},
        {"_aligned_realloc", code_of(&by::aligned_realloc), nullptr},
        {"_aligned_recalloc", code_of(&by::aligned_recalloc), nullptr},
        {"_aligned_free", code_of(&by::aligned_free), nullptr},
        {"_aligned_msize", code_of(&by::aligned_msize), nullptr},
        {"_aligned_offset_malloc", code_of(&by::aligned_offset_malloc), nullptr},
        {"_aligned_offset_realloc", code_of(&by::aligned_offset_realloc), nullptr},
        {"_aligned_offset_recalloc", code_of(&by::aligned_offset_recalloc), nullptr},
        {"_strdup", code_of(&by::strdup), nullptr},
        {"_wcsdup", code_of(&by::wcsdup), nullptr},
        {"??2@YAPEAX_K@Z", code_of(&by::template create<block_form::scalar_new, crt::new_one>), nullptr},
        {"??_U@YAPEAX_K@Z", code_of(&by::template create<block_form::array_new, crt::new_many>), nullptr},
        {"??3@YAXPEAX@Z", code_of(&by::template destroy<block_form::scalar_new, crt::delete_one>), nullptr},
        {"??_V@YAXPEAX@Z", code_of(&by::template destroy<block_form::array_new, crt::delete_many>), nullptr},
        {"_errno", nullptr, nullptr},
        {"_query_new_mode", nullptr, nullptr},
        {"_callnewh", nullptr, nullptr},
        {"?_query_new_mode@@YAHXZ", nullptr, &runtime_of<index>.functions[static_cast<std::size_t>(crt::new_mode)]},
    };
    for (std::size_t each = 0; each < crt_functions; ++each) list[each].original = &runtime_of<index>.functions[each];
    return list;
}

constinit platform::redirected_library libraries[runtime_count]{};

template<std::size_t... index>
void fill_libraries(std::index_sequence<index...>) noexcept {
    ((libraries[index] = {files_of_runtimes[index], functions_of<index>()}), ...);
}

}

void replace_c_runtimes() noexcept {
    fill_libraries(std::make_index_sequence<runtime_count>{});
    platform::redirect(libraries, libraries_below_runtimes());
}

}
