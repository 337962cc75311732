# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The tests of the library for Windows, run by Wine on another system. One test of ctest for each executable: every start
# of a program takes Wine a quarter of a second.
#
# tests/windows/support has headers that stand in place of those of the same name in tests/support.

# Left out, and why. Names are regular expressions.
set(tenure_left_out_on_windows
    # there is no fork
    "_fork_"
)

set(googletest /usr/src/googletest CACHE PATH "Sources of GoogleTest (Debian: googletest), compiled for the target")
if(NOT EXISTS ${googletest}/CMakeLists.txt)
    message(FATAL_ERROR "No sources of GoogleTest at ${googletest}: install them, or configure with TENURE_TESTS=OFF")
endif()
set(BUILD_GMOCK OFF)
set(INSTALL_GTEST OFF)
add_subdirectory(${googletest} ${CMAKE_CURRENT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)

function(tenure_add_windows_test target room)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "LABEL" "SOURCES")
    add_executable(${target} ${arg_SOURCES})
    tenure_compile_lab_or_test(${target})
    tenure_unite(${target} EXCEPT "/adapt/containers_test\\.cpp$")
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/windows ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE -Wa,-mbig-obj)
    target_link_libraries(${target} PRIVATE tenure_tree gtest_main)
    add_test(NAME ${room}${arg_LABEL} COMMAND ${target})
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
    if(plain_tests)
        tenure_add_windows_test(${room}_test ${room} SOURCES ${plain_tests} ${shared_sources})
    endif()
    if(thread_tests)
        tenure_add_windows_test(${room}_thread_test ${room} LABEL .threads SOURCES ${thread_tests} ${shared_sources})
    endif()
endforeach()

# The examples. Left out: those of libraries that are not there, and what needs Linux.
enable_language(C)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp ${PROJECT_SOURCE_DIR}/examples/*.c)
list(FILTER examples EXCLUDE REGEX "/(vulkan_[^/]*|hooks_tracy|hooks_perfetto|vector_maths)\\.cpp$")
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
