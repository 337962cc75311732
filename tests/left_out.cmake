# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Tests that a target leaves out, and why. Patterns of GoogleTest's filter.

set(tenure_left_out_under_emulator
    # The emulator's memory is counted as the process's.
    arenas.a_large_chunk_is_not_touched_ahead
    temp.a_large_budget_is_reserved_and_committed_as_it_grows
    temp.after_a_warm_up_the_next_blocks_cause_no_page_fault
    memory.reserved_addresses_cost_no_memory
    # qemu enforces no limit of addresses (ulimit -v), and no limit of mappings.
    address_limit.*
    closed_address_space.*
    handle_memory.a_process_whose_addresses_are_limited_keeps_them_for_others
    memory.a_move_that_is_refused_keeps_no_addresses
    memory.at_the_limit_of_mappings_*
    # qemu does not pass these calls on: process_vm_readv, and madvise of shared pages.
    build_id.a_header_that_leads_outside_is_survived
    file_sources.blocks_are_whole_aligned_and_zero_again_after_a_decommit
    # qemu prints a line of its own when a signal ends the process.
    fault_death.*
    # qemu's frames of signal handlers have no unwind table; the kernel's have one.
    stack_walk.goes_through_the_frame_of_a_signal_handler
    # qemu does not pass these calls on: huge pages, and the rights of a program.
    capi_configure.huge_pages_are_asked_for
    rights.*
    # A million values each: an hour under qemu.
    printing.a_million_*
    every_float*
    # qemu ends when a process with threads forks, and that in one of some runs.
    *fork*
    *_child.*
)

set(tenure_left_out_on_musl
    # musl's code has no unwind tables: the walk ends at the function that a signal handler returns to.
    stack_walk.goes_through_the_frame_of_a_signal_handler
    # The texts are compared with those of the C library's snprintf. musl's differ for %p and %La. It refuses %Ld and
    # %5%, and some arguments of %ls end it by a fault.
    printing.a_million_formats_and_values_are_written_as_glibc_does
    printing.several_conversions_and_stars_take_their_arguments_in_order
    printing.extremes_of_every_type
)

# Sets the named variable to the tests that this target leaves out, as a filter of GoogleTest.
function(tenure_tests_left_out filter)
    set(left_out)
    if(CMAKE_CROSSCOMPILING_EMULATOR)
        list(APPEND left_out ${tenure_left_out_under_emulator})
    endif()
    if(NOT TENURE_HAS_GLIBC)
        list(APPEND left_out ${tenure_left_out_on_musl})
    endif()
    list(JOIN left_out ":" joined)
    set(${filter} "${joined}" PARENT_SCOPE)
endfunction()
