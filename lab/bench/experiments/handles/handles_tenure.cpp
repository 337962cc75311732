// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The handle table in handles.

#include <string_view>

#include <tenure/handle/handle_table.hpp>

#include "bench/experiments/handles/handles_workload.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

namespace {

class our_handles {
public:
    using hold = handle;
    using taken = bool;
    static constexpr bool knows_ends = true;
    [[nodiscard]] hold make(void* memory) { return table().add(memory, 64); }
    [[nodiscard]] bool is_live(const hold& which) const { return table().is_live(which); }
    [[nodiscard]] taken acquire(const hold& which) { return table().acquire(which) == status::ok; }
    void release(const hold& which, taken&) { static_cast<void>(table().release(which)); }
    void end(const hold& which) { static_cast<void>(table().remove(which)); }
    static constexpr std::string_view query = "handle_table::usage().live_count";
    [[nodiscard]] std::size_t alive() const { return table().usage().live_count; }

private:
    [[nodiscard]] static handle_table& table() { return handle_table::process(); }
};

constexpr std::array<contestant, 1> ours{{
    {.name = "tenure handle_table",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "library",
     .type = type_name<our_handles>(),
     .note = "a generation and a count in one word",
     .parts = 0b11,
     .run = run_handles<our_handles>},
}};

}

std::span<const contestant> tenure_in_handles() { return ours; }

}
