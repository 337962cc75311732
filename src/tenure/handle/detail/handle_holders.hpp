// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Records who holds which handle, in checked builds: thread and call stack.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {
class handle_table;
struct handle;
}

namespace tenure::inline TENURE_ABI::detail {

/// Records a holder. Threads   any; takes a lock, makes a system call and walks the stack.
void add_holder(const handle_table& table, const handle& which) noexcept;
/// Removes the newest holder of the calling thread, or else of any thread. Threads   any; a lock and a system call.
void remove_holder(const handle_table& table, const handle& which) noexcept;
/// Reports, as a notice, that a handle held `count` times was to be removed, and by whom it is held. Does nothing if
/// the handle is no longer held. Waits some milliseconds for a thread that is just acquiring or releasing it.
void report_holders(const handle_table& table, const handle& which, std::uint32_t count) noexcept;

/// Access to a table's private members for other files of this room.
struct handle_table_access {
    [[nodiscard]] static std::uint32_t entries_end(const handle_table& of) noexcept;
};

}
