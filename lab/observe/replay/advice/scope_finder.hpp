// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds where a scope can stand that ends after the blocks of a group: the innermost function that is proven to run
/// from their first allocation until after their last free.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "observe/replay/advice/block_groups.hpp"
#include "observe/replay/advice/stack_relations.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Where a scope stands that holds a burst, and when it ends.
struct found_scope {
    std::size_t frame = 0; ///< of the group's stack; scope_finder::no_frame: there is none
    std::size_t inner = 0; ///< the outermost frame in which the thread moved on while blocks were in use; 0: in none
    std::uint64_t end = 0; ///< the first event after the scope; trace::events.size(): the trace ends before it
    bool is_told = false;  ///< false: the trace ends before an event that proves the frame
    bool by_frees = false; ///< told by the stacks of frees
};

/// Where the trace has the stacks of frees, they tell the function: free_places.hpp.
///
/// Where it has stacks of allocations alone, a function counts as running only if a later event of the thread is in the
/// same function, called from the same place, further ahead in its code: the thread has neither returned from it nor
/// begun another turn of a loop in it. An event further back proves nothing: it may be the next turn of a loop in the
/// function, or the function's next call.
///
/// The next call may also take another branch, further ahead. So an event proves nothing either if the trace has its
/// place twice without the allocation's place in between, or the other way round. A program whose calls take the two
/// branches in turn looks the same as one that runs through both: no trace of allocations tells them apart.
class scope_finder {
public:
    /// Requires  all outlive the object.
    scope_finder(const trace& recorded, const block_group& group, std::span<const block_life> lives,
                 const code_functions& functions);
    ~scope_finder();
    scope_finder(const scope_finder&) = delete;
    scope_finder& operator=(const scope_finder&) = delete;

    /// The innermost scope of a burst that stands in `least` (0 is the allocating function) or further out. The frame
    /// is one that all blocks of the group have in common. Of a burst whose blocks are in use at the end it says what
    /// the thread did until then.
    /// Cost      O(events of the scope); once O(events of the trace).
    [[nodiscard]] found_scope scope_of(const group_burst& burst, std::size_t least = 0);

    /// Whether the thread is seen outside the call in this frame of the group's stack, after event `since` and before
    /// the burst: then it begins in another call.
    [[nodiscard]] bool is_left(const group_burst& burst, std::size_t frame, std::uint64_t since);

    static constexpr std::size_t no_frame = ~std::size_t{0};

private:
    class progress;
    class call_order;

    [[nodiscard]] found_scope by_frees(const group_burst& burst, std::size_t least);
    [[nodiscard]] found_scope by_allocations(const group_burst& burst, std::size_t least);
    [[nodiscard]] std::uint64_t end_of_call(std::uint32_t stack, std::size_t frame, std::uint64_t after);
    [[nodiscard]] bool may_be_another_call(std::uint32_t stack, const stack_relation& to);

    const trace& recorded_;
    const block_group& group_;
    std::span<const block_life> lives_;
    stack_relations relations_;
    std::unique_ptr<call_order> order_; // made when it is needed
};

}
