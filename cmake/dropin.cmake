# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# malloc and operator new for a whole process.
#
#   tenure_malloc, tenure_malloc_hardened             libtenure_malloc.so and, at level 1, libtenure_malloc_hardened.so:
#                                                     to be preloaded
#   tenure::new_delete, tenure::checked_new_delete    replace operator new and delete in a program that links the
#                                                     library in either form; named before it on the link line

# A sanitizer brings a malloc of its own, and its runtime into every library; and a tree of level 2 or 3 is to find our
# mistakes with tests that know where they look.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=" OR TENURE_CHECKS GREATER 1)
    return()
endif()

set(dropin_dir ${PROJECT_SOURCE_DIR}/src/tenure/dropin)
file(GLOB dropin_sources CONFIGURE_DEPENDS ${dropin_dir}/*.cpp)

# The rooms below, without what they have for other rooms: nothing that throws, and not the malloc that we are.
set(dropin_rooms ${tenure_sources})
list(FILTER dropin_rooms INCLUDE REGEX "/src/tenure/(base|platform|engine|heap)/")
list(FILTER dropin_rooms EXCLUDE REGEX
    "/base/(bad_alloc|frame_clock|counting_source|failing_source|static_buffer_source)\\.cpp$")
list(FILTER dropin_rooms EXCLUDE REGEX "/platform/posix/(process_malloc|observer)\\.cpp$")

function(tenure_add_dropin target level)
    add_library(${target} SHARED ${dropin_sources} ${dropin_rooms})
    if(level GREATER 0)
        file(GLOB hardened_sources CONFIGURE_DEPENDS ${dropin_dir}/hardened/*.cpp)
        target_sources(${target} PRIVATE ${hardened_sources})
    endif()
    tenure_compile(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    # Sections and hidden symbols let the linker drop what the rooms have and nobody here uses. The builtins for malloc
    # would make calls of malloc from what looks like it.
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fasynchronous-unwind-tables
        -fsized-deallocation -ftls-model=initial-exec -ffunction-sections -fdata-sections
        -fno-builtin-malloc -fno-builtin-calloc)
    target_compile_definitions(${target} PRIVATE TENURE_CHECKS=${level} TENURE_BUILDING=1
        TENURE_VALGRIND=$<BOOL:${TENURE_VALGRIND}>)
    set_target_properties(${target} PROPERTIES
        TENURE_WITHOUT_RUNTIME ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
        LINK_DEPENDS ${dropin_dir}/exports.map
    )
    # The C library only: the C++ library alone makes every start of a program 0.65 ms longer. What the compiler itself
    # needs comes from its static parts. Never unloaded, because its blocks are everywhere; few segments, because each
    # is mapped at every start.
    target_link_options(${target} PRIVATE -nodefaultlibs -Wl,--version-script=${dropin_dir}/exports.map
        -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,-z,noseparate-code -Wl,-O1 -Wl,--gc-sections -Wl,--as-needed)
    target_link_libraries(${target} PRIVATE gcc gcc_eh c)
endfunction()

tenure_add_dropin(tenure_malloc 0)
tenure_add_dropin(tenure_malloc_hardened 1)

function(tenure_add_new_delete target level)
    add_library(${target} STATIC ${dropin_dir}/operators.cpp ${dropin_dir}/linked/slow.cpp
        ${dropin_dir}/linked/out_of_memory.cpp)
    tenure_compile(${target})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    target_compile_options(${target} PRIVATE -fsized-deallocation) # C++14's, which clang 14 leaves out
    # As visible as the shared library's users see it: right for the static one as well, whose symbols are the same.
    target_compile_definitions(${target} PRIVATE TENURE_CHECKS=${level} TENURE_SHARED=1)
    set_target_properties(${target} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
    )
    # The C++ library calls its own operators unless the program has some, also when no source of the program asks.
    target_link_options(${target} INTERFACE -Wl,--undefined=_Znwm)
    add_library(tenure::${target} ALIAS ${target})
endfunction()

tenure_add_new_delete(new_delete 0)
tenure_add_new_delete(checked_new_delete 1)
set_target_properties(new_delete PROPERTIES OUTPUT_NAME tenure_new_delete)
set_target_properties(checked_new_delete PROPERTIES OUTPUT_NAME tenure_checked_new_delete)

# Built and installed with the four libraries, and when somebody asks for them where those are.
list(APPEND tenure_installed_targets new_delete checked_new_delete)
set(tenure_preloaded_targets tenure_malloc tenure_malloc_hardened)
if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${tenure_preloaded_targets} new_delete checked_new_delete PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
