// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: promises not to allocate and not to wait, regions and marks.

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/observed.hpp>
#include <tenure/base/region.hpp>
#include <tenure/capi/detail/callback_source.hpp>

using namespace tenure;
using detail::observed;
using detail::this_thread_scopes;

namespace {

[[nodiscard]] std::string_view view_of(const char* name, std::size_t bytes) noexcept {
    return bytes == 0 ? std::string_view{} : std::string_view{name, bytes};
}

}

void tn_no_alloc_begin() { detail::begin_observed(this_thread_scopes().promises, observed::no_alloc_begin); }
void tn_no_alloc_end() { detail::end_observed(this_thread_scopes().promises, observed::no_alloc_end); }
void tn_allow_alloc_begin() { detail::begin_observed(this_thread_scopes().permissions, observed::allow_alloc_begin); }
void tn_allow_alloc_end() { detail::end_observed(this_thread_scopes().permissions, observed::allow_alloc_end); }
std::uint32_t tn_no_alloc_is_active() { return no_alloc_scope::is_active() ? 1 : 0; }

void tn_no_wait_begin() { detail::begin_observed(this_thread_scopes().no_waits, observed::no_wait_begin); }
void tn_no_wait_end() { detail::end_observed(this_thread_scopes().no_waits, observed::no_wait_end); }
std::uint32_t tn_no_wait_is_active() { return no_wait_scope::is_active() ? 1 : 0; }

void tn_region_begin(const char* name, std::size_t name_bytes) {
    detail::begin_observed(this_thread_scopes().regions, observed::region_begin, view_of(name, name_bytes));
}
void tn_region_end() { detail::end_observed(this_thread_scopes().regions, observed::region_end); }
void tn_mark(const char* name, std::size_t name_bytes) { mark(view_of(name, name_bytes)); }
