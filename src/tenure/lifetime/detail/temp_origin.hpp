// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checked builds: whether the memory of a container over Temp ends before the container, or has ended already.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct temp_record;

/// What ends memory of Temp.
enum class temp_end : std::uint8_t { none, scope, reset, frame };

/// A moment in the life of a stack of Temp.
struct temp_moment {
    std::uint32_t stack = 0; ///< zero: of a thread that had not used Temp
    std::uint32_t depth = 0; ///< open scopes
    std::uint64_t ends = 0;  ///< ends of scopes and emptyings until then
};

/// Now, on a stack of the calling thread.
[[nodiscard]] TENURE_API temp_moment temp_moment_of(bool is_second) noexcept;
/// What has ended the memory that a stack of the calling thread allocated at a moment; none if it lives, if the moment
/// is of another stack, and if the moment was inside more than 31 scopes.
[[nodiscard]] TENURE_API temp_end end_since(const temp_moment& then, bool is_second) noexcept;

TENURE_API TENURE_COLD void report_inner_growth() noexcept;
TENURE_API TENURE_COLD void report_outlived(temp_end what, const void* container_or_block) noexcept;
/// Reports a scope that ends on a thread, or in a temp_state, other than the one on which it began: on the stack that
/// had this key.
TENURE_COLD void report_scope_elsewhere(std::uint32_t key) noexcept;

/// Marks a stack as that of a temp_state.
void mark_stack_of_state(temp_record& stack) noexcept;
/// Whether a temp_state was ever made.
[[nodiscard]] bool are_there_states() noexcept;

/// The moment at which a container over Temp was made, or got its first memory.
class temp_origin {
public:
    explicit temp_origin(bool is_second) noexcept : then_(temp_moment_of(is_second)), is_second_(is_second) {}

    /// Growth inside a later scope would end with that scope, while the container lives on.
    void check_growth() const noexcept {
        const temp_moment now = temp_moment_of(is_second_);
        if (now.depth > then_.depth && (then_.stack == 0 || then_.stack == now.stack)) [[unlikely]]
            report_inner_growth();
    }
    /// Returns   false if the block is not the allocator's any more because the container has outlived it, which was
    ///           reported. All other mistakes are left to the allocator.
    [[nodiscard]] TENURE_API bool check_free(void* block, std::size_t bytes) const noexcept;
    /// What has ended the container's memory.
    [[nodiscard]] temp_end end() const noexcept { return end_since(then_, is_second_); }

private:
    temp_moment then_;
    bool is_second_;
};

/// The same for a container over the first stack that asks at each access.
class temp_list_origin : public temp_origin {
public:
    temp_list_origin() noexcept : temp_origin(false), ends_(this_thread().stacks->first_ends) {}
    [[nodiscard]] TENURE_LOCAL temp_end end() const noexcept {
        return this_thread().stacks->first_ends == ends_ ? temp_end::none : temp_origin::end();
    }

private:
    std::uint64_t ends_;
};

}
