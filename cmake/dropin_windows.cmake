# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The drop-in malloc for Windows, which replaces the functions of the C runtimes in the import tables of a process:
#
#   tenure_malloc, tenure_malloc_hardened    tenure_malloc.dll and, at level 1, tenure_malloc_hardened.dll: a program
#                                            links one of them first, or `tenure run` puts it in

# One build serves the programs of every compiler and C runtime: the one by GCC, as it is tested.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
endif()

set(dropin_dir ${PROJECT_SOURCE_DIR}/src/tenure/dropin)
file(GLOB dropin_sources CONFIGURE_DEPENDS ${dropin_dir}/windows/*.cpp)
list(APPEND dropin_sources ${dropin_dir}/exit_report.cpp ${dropin_dir}/figures.cpp ${dropin_dir}/observer.cpp)
file(GLOB import_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tenure/platform/windows/imports/*.cpp)
list(FILTER import_sources EXCLUDE REGEX "/started_program\\.cpp$") # the command's

# The rooms that the drop-in uses, without the interface to observers, which would call the loader within malloc.
set(dropin_rooms ${tenure_sources})
list(FILTER dropin_rooms INCLUDE REGEX "/src/tenure/(base|platform|engine|heap)/")
list(FILTER dropin_rooms EXCLUDE REGEX
    "/base/(bad_alloc|frame_clock|counting_source|failing_source|static_buffer_source)\\.cpp$")
list(FILTER dropin_rooms EXCLUDE REGEX "/platform/windows/(observer|copies)\\.cpp$")

function(tenure_add_dropin target level)
    add_library(${target} SHARED ${dropin_sources} ${import_sources} ${dropin_rooms} ${dropin_dir}/windows/exports.def)
    tenure_compile(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    # What is static within a function is set up under the loader's lock, once.
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fasynchronous-unwind-tables
        -fno-threadsafe-statics -ffunction-sections -fdata-sections -fno-builtin-malloc -fno-builtin-calloc)
    target_compile_definitions(${target} PRIVATE TENURE_CHECKS=${level} TENURE_BUILDING=1 TENURE_DROPIN=1
        _WIN32_WINNT=0x0A00)
    if(TENURE_UNITY_BUILD)
        target_compile_options(${target} PRIVATE -Wno-shadow)
    endif()
    set_target_properties(${target} PROPERTIES
        TENURE_WITHOUT_RUNTIME ON
        PREFIX "" # tenure_malloc.dll; its import library is libtenure_malloc.dll.a
        UNITY_BUILD ${TENURE_UNITY_BUILD}
        UNITY_BUILD_MODE GROUP
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    )
    target_link_options(${target} PRIVATE -Wl,--exclude-all-symbols -Wl,--gc-sections)
    target_link_libraries(${target} PRIVATE synchronization advapi32)
endfunction()

tenure_add_dropin(tenure_malloc 0)
tenure_add_dropin(tenure_malloc_hardened 1)
set(tenure_preloaded_targets tenure_malloc tenure_malloc_hardened)
if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${tenure_preloaded_targets} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
