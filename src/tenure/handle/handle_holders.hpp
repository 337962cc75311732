// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who has acquired which handle, in checked builds: which thread, from where. Private to this room.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {
class handle_table;
struct handle;
}

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any; a lock, a system call and the walk of a stack each.
void add_holder(const handle_table& table, const handle& which) noexcept;
/// Forgets the latest one of the calling thread, else of any.
void remove_holder(const handle_table& table, const handle& which) noexcept;
/// Says that a handle was to be removed while it is held `count` times, and by whom, as a notice. Nothing when nobody
/// holds it any more. Who is about to acquire it is waited for, up to some milliseconds.
void report_holders(const handle_table& table, const handle& which, std::uint32_t count) noexcept;

/// What of a table others in this room need.
struct handle_table_access {
    [[nodiscard]] static std::uint32_t entries_end(const handle_table& of) noexcept;
};

}
