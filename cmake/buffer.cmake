# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Vector maths: a separate static library, because it links Highway, which the core must not.
#
#   tenure::buffer, tenure::buffer_checked    for tenure::tenure and tenure::checked; each links its library
#   tenure_buffer_tree                        for tenure_tree: tests and lab link it
#
# The loops do not depend on the check level. They are compiled once, for every instruction set that Highway supports,
# and are part of all three libraries.

# Products are rounded before they are added, so that sums are the same everywhere. Loops marked for it are vectorised
# at -O2 too, but the compiler unrolls and peels better at -O3. Nothing reads errno or the floating-point exception
# flags, which would keep selections between two results from being vectorised. Vectors have at most 32 bytes: see
# src/tenure/buffer/detail/loops/vector_loops.hpp.
set(tenure_vector_flags -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND tenure_vector_flags -mprefer-vector-width=256)
endif()

find_package(hwy 1.0 QUIET CONFIG)
if(NOT hwy_FOUND)
    message(STATUS "Highway (libhwy-dev): not found, tenure::buffer is left out")
    return()
endif()

set(buffer_dir ${PROJECT_SOURCE_DIR}/src/tenure/buffer)
file(GLOB buffer_sources CONFIGURE_DEPENDS ${buffer_dir}/vector_*.cpp ${buffer_dir}/detail/vector_*.cpp
    ${buffer_dir}/detail/loops/vector_*.cpp)
set(buffer_loops ${buffer_sources})
list(FILTER buffer_loops INCLUDE REGEX "_loops\\.cpp$")
list(FILTER buffer_sources EXCLUDE REGEX "_loops\\.cpp$")

function(tenure_compile_buffer target)
    tenure_compile(${target})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD OFF # Highway compiles one source several times
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
    )
endfunction()

add_library(tenure_vector_loops OBJECT ${buffer_loops})
tenure_compile_buffer(tenure_vector_loops)
target_compile_options(tenure_vector_loops PRIVATE ${tenure_vector_flags} $<$<NOT:$<CONFIG:Debug>>:-O3>)
target_link_libraries(tenure_vector_loops PRIVATE hwy::hwy)

function(tenure_add_buffer target library file_name)
    add_library(${target} STATIC ${buffer_sources} $<TARGET_OBJECTS:tenure_vector_loops>)
    tenure_compile_buffer(${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${file_name})
    # The sums of the blocks are added here.
    target_compile_options(${target} PRIVATE -ffp-contract=off)
    # An installed library gets its core library from the package, which knows whether to use the shared or the static
    # one.
    target_link_libraries(${target} PRIVATE hwy::hwy PUBLIC $<BUILD_INTERFACE:${library}>)
endfunction()

tenure_add_buffer(tenure_buffer tenure::tenure tenure_buffer)
tenure_add_buffer(tenure_buffer_checked tenure::checked tenure_buffer_checked)
tenure_add_buffer(tenure_buffer_tree tenure_tree tenure_buffer_tree)
set_target_properties(tenure_buffer PROPERTIES EXPORT_NAME buffer)
set_target_properties(tenure_buffer_checked PROPERTIES EXPORT_NAME buffer_checked)
add_library(tenure::buffer ALIAS tenure_buffer)
add_library(tenure::buffer_checked ALIAS tenure_buffer_checked)
set(tenure_buffer_targets tenure_buffer tenure_buffer_checked)

if(TENURE_CHECKS GREATER 1 OR NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${tenure_buffer_targets} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(tenure_vector_loops tenure_buffer_tree PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
