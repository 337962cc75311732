# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The tests of the library for Windows, run by Wine on another system. One test of ctest for each executable: every start
# of a program takes Wine a quarter of a second.
#
# tests/windows/support has headers that stand in place of those of the same name in tests/support; tests/windows/posix
# has the functions of POSIX that tests use and Windows lacks.

# Left out, and why. Names are regular expressions.
set(tenure_left_out_on_windows
    # there is no fork
    "_fork_" "/conformance/fork_thread_test"
    # limits of addresses and files (ulimit), files of /proc
    "/platform/address_limit_test" "/heap/last_addresses_test" "/base/rights_test" "/platform/pressure_test"
    # ELF files, signals, the loader of Linux
    "/platform/(build_id|fault|readable|stack_walk|symbol|thread|process)_test" "/text/printf_stack_test"
    "/heap/heap_fork_in_handler_test" "/platform/output_file_test"
    # mremap, and stacks that the test gives to a thread
    "/heap/heap_(owns|review|sparse)_test"
    # std::atomic::wait, which loses wake-ups in the library of mingw
    "/heap/heap_(tags_)?thread_test"
    # Highway, {fmt}
    "/buffer/vector_" "/text/fmt_test"
    # limits of addresses, and objects of 256 KiB alignment, which the files of Windows cannot have
    "/affinity/affinity_large_test"
    # signals
    "/engine/leak_check_thread_test" "/heap/heap_background_thread_test"
)

# Tests left out of executables that have others: those of remap() and huge pages, which Windows lacks, of limits
# (ulimit, vm.max_map_count), of fork, of names of variables that differ in case alone, and of paths of Unix.
set(tenure_skipped_base
    budget_source.growing_and_shrinking_count
    counting_source.every_call_is_passed_on_and_counted
    no_wait.a_child_of_fork_keeps_the_promise_of_the_thread_that_forked
    options_environment.a_name_in_other_letters_or_with_missing_words_is_named_with_its_option
)
set(tenure_skipped_platform
    callers.are_those_of_the_runtime # caller.hpp: has_caller_walk
    callers.of_a_frame_past_the_limit_are_not_followed
    file_map.a_folder_whose_path_is_too_long_is_told_as_that
    file_map.more_than_there_are_addresses_is_a_lack_of_memory # the file system refuses the size
    file_sources.blocks_are_whole_aligned_and_zero_again_after_a_decommit # the name stays until the end
    memory.a_range_moves_with_its_contents
    memory.a_move_that_is_refused_keeps_no_addresses
    memory.at_the_limit_of_mappings_a_move_keeps_no_addresses_and_an_unmapping_is_made_up_for
    memory.a_page_that_is_locked_is_sealed_all_the_same # it goes
    page_source.a_block_moves_with_its_contents
    page_source.huge_pages_are_asked_for_where_a_block_holds_one
    resident.pages_of_which_the_system_says_nothing_count_as_in_memory
    stack_text_death.has_lines_or_the_command_that_prints_them
    fork_handler.locks_are_taken_in_order_and_newest_first_and_given_back_from_the_last_on
    fork_handler.a_lock_that_another_thread_takes_all_the_time_is_free_in_the_child
    # Wine takes a byte of memory for each page that is reserved
    memory.reserved_addresses_cost_no_memory
)
# GCC's emulation frees the memory of a thread's thread_local objects before it calls their destructors: a program without
# the library sees that too, if it takes the place of free().
set(tenure_skipped_affinity
    affinity_threads_end.destructors_of_thread_local_objects_may_allocate_and_free
)
set(tenure_skipped_pool
    shared_block_pool_threads.destructors_of_thread_local_objects_may_allocate_and_free
)
set(tenure_skipped_lifetime
    lifetime_threads.destructors_of_thread_local_objects_may_allocate_and_free
    closed_address_space.*
    temp.a_large_budget_is_reserved_and_committed_as_it_grows # Wine, as above
)
set(tenure_skipped_handle
    # no other file gets the name of a mapped one: the system removes that when its last handle is closed
    handle_memory.a_file_put_in_place_of_one_that_was_not_kept_stays
    handle_memory.a_process_whose_addresses_are_limited_keeps_them_for_others
)
set(tenure_skipped_capi
    capi_configure.huge_pages_are_asked_for # /proc/self/smaps
    capi_refusals.a_folder_and_a_device_cannot_be_mapped_and_errno_says_why # /dev/null, and a folder is EACCES
)
set(tenure_skipped_text
    # they compare with glibc's printf: mingw's writes other pointers, no long long for %Ld, and UTF-8 in no locale
    printing.a_million_formats_and_values_are_written_as_glibc_does
    printing.extremes_of_every_type
    printing.a_text_is_cut_at_every_size
)
set(tenure_skipped_heap
    heap_segments.memory_behind_the_mapped_part_belongs_to_others # it is reserved with the segment
    huge.a_block_moves_without_a_copy_and_stays_known # remap()
    huge.a_kept_block_grows_with_its_pages_for_a_larger_one # remap()
    profile_records.without_memory_samples_are_lost_and_nothing_breaks # it limits the addresses of the process
    profiles.the_child_of_a_fork_goes_on_with_its_own # fork
    heap_purge.a_background_thread_gives_back_when_asked_for_also_in_a_forked_child # fork
    heap_limits.* # they limit the addresses of the process
    guarded_death.* # regular expressions that take GCC's std::regex minutes
)
set(tenure_skipped_engine
    passthrough_blocks.other_pointers_are_left_to_malloc # Wine's malloc lets a double free pass
)
set(tenure_skipped_conformance
    # keys of pthread are not the system's slots there: thread_ends.are_told_when_the_system_has_no_slot_for_them is for it
    thread_end_of_all.threads_leave_nothing_behind_when_the_system_has_no_slot_for_their_end
    parts/passthrough.* # they walk over the heap of malloc at each step: minutes
    *.under_passthrough_malloc_serves_each_block/*
    passthrough_handles.large_memory_is_aligned_and_zero_and_there_only_where_it_is_touched # Wine touches all of it
)

set(googletest /usr/src/googletest CACHE PATH "Sources of GoogleTest (Debian: googletest), compiled for the target")
if(NOT EXISTS ${googletest}/CMakeLists.txt)
    message(FATAL_ERROR "No sources of GoogleTest at ${googletest}: install them, or configure with TENURE_TESTS=OFF")
endif()
set(BUILD_GMOCK OFF)
set(INSTALL_GTEST OFF)
add_subdirectory(${googletest} ${CMAKE_CURRENT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
foreach(target gtest gtest_main)
    target_compile_definitions(${target} PUBLIC GTEST_HAS_POSIX_RE=1)
    target_include_directories(${target} SYSTEM PUBLIC windows/posix)
    set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR OFF)
endforeach()

add_library(posix_functions STATIC windows/posix/functions.cpp)
target_include_directories(posix_functions PRIVATE windows/posix)
target_compile_features(posix_functions PRIVATE cxx_std_20)
target_compile_definitions(posix_functions PRIVATE _WIN32_WINNT=0x0a00)

function(tenure_add_windows_test target room)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "LABEL" "SOURCES")
    add_executable(${target} ${arg_SOURCES})
    tenure_compile_lab_or_test(${target})
    tenure_unite(${target} EXCEPT "/adapt/containers_test\\.cpp$")
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/windows
        ${CMAKE_CURRENT_SOURCE_DIR}/windows/posix ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wa,-mbig-obj;-Wno-logical-op>" -include
        names.hpp -D__USE_MINGW_ANSI_STDIO=1)
    target_link_libraries(${target} PRIVATE tenure_tree posix_functions gtest_main)
    list(JOIN tenure_skipped_${room} : skipped)
    # Regular expressions of C++ recurse for each letter.
    target_link_options(${target} PRIVATE -Wl,--stack,268435456)
    add_test(NAME ${room}${arg_LABEL} COMMAND ${target} --gtest_brief=1 --gtest_filter=-${skipped})
    set_tests_properties(${room}${arg_LABEL} PROPERTIES TIMEOUT 900)
endfunction()

foreach(room adapt affinity arena base buffer capi conformance engine handle heap lifetime offset platform pool text)
    file(GLOB sources CONFIGURE_DEPENDS ${room}/*.cpp)
    foreach(pattern IN LISTS tenure_left_out_on_windows)
        list(FILTER sources EXCLUDE REGEX "${pattern}")
    endforeach()
    set(shared_sources ${sources})
    list(FILTER shared_sources EXCLUDE REGEX "_test\\.cpp$")
    set(thread_tests ${sources})
    list(FILTER thread_tests INCLUDE REGEX "_thread_test\\.cpp$")
    set(plain_tests ${sources})
    list(FILTER plain_tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER plain_tests EXCLUDE REGEX "_thread_test\\.cpp$")
    if(room STREQUAL text)
        list(FILTER shared_sources EXCLUDE REGEX "/counted_malloc\\.cpp$")
        list(APPEND shared_sources ${CMAKE_CURRENT_SOURCE_DIR}/windows/counted_malloc.cpp)
    endif()
    if(plain_tests)
        tenure_add_windows_test(${room}_test ${room} SOURCES ${plain_tests} ${shared_sources})
    endif()
    if(thread_tests)
        tenure_add_windows_test(${room}_thread_test ${room} LABEL .threads SOURCES ${thread_tests} ${shared_sources})
    endif()
endforeach()

tenure_add_windows_test(windows_test windows SOURCES windows/memory_windows_test.cpp)
tenure_add_windows_test(windows_thread_test windows LABEL .threads
    SOURCES windows/thread_windows_thread_test.cpp windows/plugin_thread_test.cpp)
add_library(tenure_test_plugin MODULE windows/plugin.cpp)
tenure_compile_lab_or_test(tenure_test_plugin)
target_link_libraries(tenure_test_plugin PRIVATE tenure_tree)
set_target_properties(tenure_test_plugin PROPERTIES PREFIX "")
add_dependencies(windows_thread_test tenure_test_plugin)

# The examples. Left out: those of libraries that are not there, and of functions that Windows lacks.
enable_language(C)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp ${PROJECT_SOURCE_DIR}/examples/*.c)
list(FILTER examples EXCLUDE REGEX "/(vulkan_[^/]*|hooks_tracy|hooks_perfetto|vector_maths|migrate_boost_pool)\\.cpp$")
list(FILTER examples EXCLUDE REGEX "/(affinity|block_sources|migrate_malloc)\\.cpp$") # std::aligned_alloc
list(FILTER examples EXCLUDE REGEX "/(fibers|text)\\.cpp$") # ucontext.h, writev()
foreach(example IN LISTS examples)
    cmake_path(GET example STEM name)
    file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/${name}/*.cpp)
    add_executable(example_${name} ${example} ${parts})
    if(example MATCHES "\\.c$")
        target_compile_options(example_${name} PRIVATE -Wall -Wextra -Wpedantic)
        set_target_properties(example_${name} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
    else()
        tenure_compile(example_${name})
    endif()
    target_link_libraries(example_${name} PRIVATE tenure_tree)
    set(arguments)
    if(name STREQUAL hooks_trace)
        set(arguments ${CMAKE_CURRENT_BINARY_DIR}/hooks_trace.json)
    endif()
    add_test(NAME examples.${name} COMMAND example_${name} ${arguments})
    set_tests_properties(examples.${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()

# The drop-in malloc.
if(TARGET tenure_malloc)
    add_subdirectory(dropin/windows)
endif()
