# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# How our own code is compiled. Nothing here reaches whoever links the library.

set(tenure_warnings
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual -Wcast-align -Wcast-qual -Wformat=2 -Wimplicit-fallthrough -Wundef -Wunused
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond> $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
)

# C++20 without the compiler's own extensions. Warnings only in our own tree: a project that includes ours as a
# subdirectory has chosen its own. The presets turn them into errors (CMAKE_COMPILE_WARNING_AS_ERROR).
function(tenure_compile target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    if(PROJECT_IS_TOP_LEVEL)
        target_compile_options(${target} PRIVATE ${tenure_warnings})
    endif()
endfunction()

# Headers that most of a target's files read anyway, read once: a third off the build. Not by default in release trees
# and not in the one for ThreadSanitizer, where a file that lacks an include is found.
function(tenure_precompile target)
    if(TENURE_PRECOMPILED_HEADERS)
        target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
endfunction()

# Lab and tests. A sanitizer takes two to three times as long to compile with -O1 as with -O0; the library keeps -O1, so
# that tests do not run longer than that saves.
function(tenure_compile_lab_or_test target)
    tenure_compile(${target})
    target_compile_options(${target} PRIVATE ${TENURE_LAB_AND_TEST_OPTIONS})
endfunction()
