# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# malloc and operator new for a whole process.
#
#   tenure_malloc, tenure_malloc_hardened             libtenure_malloc.so and, at level 1, libtenure_malloc_hardened.so:
#                                                     for LD_PRELOAD
#   tenure_malloc_advised                             libtenure_malloc_advised.so, for `tenure run --advice`
#                                                     Windows: dropin_windows.cmake
#   tenure::new_delete, tenure::checked_new_delete    replace operator new and delete in a program that links the shared
#                                                     or static library; listed before the library on the link line

# A sanitizer brings its own malloc and adds its runtime to every library. A tree of level 2 or 3 is for tests that look
# for bugs in the library's own parts.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=" OR TENURE_CHECKS GREATER 1)
    return()
endif()

if(WIN32)
    include(cmake/dropin_windows.cmake)
    return()
endif()

# One folder per C library: what each has beyond the C standard's functions, and how its own malloc is reached.
set(dropin_c_library musl)
if(TENURE_HAS_GLIBC)
    set(dropin_c_library glibc)
endif()

set(dropin_dir ${PROJECT_SOURCE_DIR}/src/tenure/dropin)
file(GLOB dropin_sources CONFIGURE_DEPENDS ${dropin_dir}/*.cpp ${dropin_dir}/${dropin_c_library}/*.cpp)

# How the drop-in is linked, unless the toolchain file says it. The compiler's runtime comes from static libraries, and
# the compiler's start files, which destroy objects at exit, are not needed. Sorted sections keep large objects behind
# those that each process touches (TENURE_BEHIND_OTHERS). The library has few segments, because each is mapped at every
# start.
if(NOT DEFINED TENURE_DROPIN_LINK_OPTIONS)
    set(TENURE_DROPIN_LINK_OPTIONS -nodefaultlibs -nostartfiles -Wl,-z,noseparate-code -Wl,-O1 -Wl,--as-needed
        -Wl,--sort-section=name)
    set(TENURE_DROPIN_RUNTIME gcc gcc_eh c)
endif()

# The rooms that the drop-in uses, without files for other rooms: nothing that throws, and not the interface to malloc,
# which the drop-in itself is.
set(dropin_rooms ${tenure_sources})
list(FILTER dropin_rooms INCLUDE REGEX "/src/tenure/(base|platform|engine|heap)/")
list(FILTER dropin_rooms EXCLUDE REGEX
    "/base/(bad_alloc|budget_source|frame_clock|counting_source|failing_source|static_buffer_source)\\.cpp$")
list(FILTER dropin_rooms EXCLUDE REGEX "/platform/posix/(process_malloc|observer|copies)\\.cpp$")

# Sections and hidden symbols let the linker drop unused code. With the builtins for malloc the compiler could replace
# code that looks like malloc by a call of malloc.
function(tenure_compile_dropin target level)
    tenure_compile(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fasynchronous-unwind-tables
        -fsized-deallocation -ftls-model=initial-exec -ffunction-sections -fdata-sections
        -fno-builtin-malloc -fno-builtin-calloc)
    target_compile_definitions(${target} PRIVATE TENURE_CHECKS=${level} TENURE_BUILDING=1 TENURE_DROPIN=1
        TENURE_VALGRIND=$<BOOL:${TENURE_VALGRIND}>)
    tenure_precompile(${target} ${tenure_standard_headers})
    # What is measured and installed is compiled source by source, as the library is.
    if(TENURE_UNITY_BUILD)
        target_compile_options(${target} PRIVATE -Wno-shadow)
    endif()
    set_target_properties(${target} PROPERTIES
        TENURE_WITHOUT_RUNTIME ON
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        UNITY_BUILD ${TENURE_UNITY_BUILD}
        UNITY_BUILD_MODE GROUP
    )
endfunction()

# The forms of a level have these objects in common: tenure_dropin_rooms_LEVEL. A third word ADVISED adds what follows
# advice.
function(tenure_add_dropin target level)
    set(rooms tenure_dropin_rooms_${level})
    if(NOT TARGET ${rooms})
        add_library(${rooms} OBJECT ${dropin_rooms})
        tenure_compile_dropin(${rooms} ${level})
    endif()
    add_library(${target} SHARED ${dropin_sources} $<TARGET_OBJECTS:${rooms}>)
    if("ADVISED" IN_LIST ARGN)
        file(GLOB advised_sources CONFIGURE_DEPENDS ${dropin_dir}/advised/*.cpp)
        target_sources(${target} PRIVATE ${advised_sources})
        set_source_files_properties(${advised_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
        target_compile_definitions(${target} PRIVATE TENURE_ADVISED=1)
    endif()
    if(level GREATER 0)
        file(GLOB hardened_sources CONFIGURE_DEPENDS ${dropin_dir}/hardened/*.cpp)
        target_sources(${target} PRIVATE ${hardened_sources})
        set_source_files_properties(${hardened_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # in no other library
    endif()
    tenure_compile_dropin(${target} ${level})
    set_target_properties(${target} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
        LINK_DEPENDS ${dropin_dir}/exports.map
    )
    # Links the C library only: the C++ library alone makes every program start 0.65 ms slower. The library is never
    # unloaded, because its blocks are in use everywhere.
    target_link_options(${target} PRIVATE ${TENURE_DROPIN_LINK_OPTIONS}
        -Wl,--version-script=${dropin_dir}/exports.map -Wl,-z,defs -Wl,-z,nodelete -Wl,--gc-sections)
    # The plain form binds most functions at their first call: a short process calls few of them. Read-only relocated
    # data would cost a system call and split a mapping. Both together take 8 us of each start. The hardened form has
    # both.
    if(level GREATER 0)
        target_link_options(${target} PRIVATE -Wl,-z,now -Wl,-z,relro)
    else()
        target_link_options(${target} PRIVATE -Wl,-z,lazy -Wl,-z,norelro)
    endif()
    target_link_libraries(${target} PRIVATE ${TENURE_DROPIN_RUNTIME})
endfunction()

tenure_add_dropin(tenure_malloc 0)
tenure_add_dropin(tenure_malloc_hardened 1)
tenure_add_dropin(tenure_malloc_advised 0 ADVISED)

# For static programs, which only musl makes with another malloc: libtenure_malloc.a has one object, so that a program
# gets all of it, and that object shows the exported functions alone.
if(NOT TENURE_HAS_GLIBC)
    find_program(TENURE_LD ld REQUIRED)
    find_program(TENURE_OBJCOPY objcopy REQUIRED)
    set(tenure_malloc_archive ${PROJECT_BINARY_DIR}/libtenure_malloc.a)
    add_custom_command(OUTPUT ${tenure_malloc_archive} COMMAND_EXPAND_LISTS VERBATIM
        COMMAND ${TENURE_LD} -r -o tenure_malloc.o $<TARGET_OBJECTS:tenure_malloc> $<TARGET_OBJECTS:tenure_dropin_rooms_0>
        COMMAND ${TENURE_OBJCOPY} --localize-hidden tenure_malloc.o
        COMMAND ${CMAKE_COMMAND} -E rm -f ${tenure_malloc_archive}
        COMMAND ${CMAKE_AR} rcs ${tenure_malloc_archive} tenure_malloc.o
        DEPENDS tenure_malloc tenure_dropin_rooms_0)
    add_custom_target(tenure_malloc_static ALL DEPENDS ${tenure_malloc_archive})
    install(FILES ${tenure_malloc_archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()

function(tenure_add_new_delete target level)
    add_library(${target} STATIC ${dropin_dir}/operators.cpp ${dropin_dir}/linked/slow.cpp
        ${dropin_dir}/linked/out_of_memory.cpp)
    tenure_compile(${target})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    target_compile_options(${target} PRIVATE -fsized-deallocation) # clang 14 does not enable it by default
    # Declarations as for the shared library. They are right for the static one too, because the symbols are the same.
    target_compile_definitions(${target} PRIVATE TENURE_CHECKS=${level} TENURE_SHARED=1)
    set_target_properties(${target} PROPERTIES
        TENURE_WITHOUT_RUNTIME ON
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
    )
    # The C++ library calls its own operators unless the program defines some, even if no source of the program refers
    # to them.
    target_link_options(${target} INTERFACE -Wl,--undefined=_Znwm)
    add_library(tenure::${target} ALIAS ${target})
endfunction()

tenure_add_new_delete(new_delete 0)
tenure_add_new_delete(checked_new_delete 1)
set_target_properties(new_delete PROPERTIES OUTPUT_NAME tenure_new_delete)
set_target_properties(checked_new_delete PROPERTIES OUTPUT_NAME tenure_checked_new_delete)

# Built and installed with the four libraries; built only on request where those are.
list(APPEND tenure_installed_targets new_delete checked_new_delete)
set(tenure_preloaded_targets tenure_malloc tenure_malloc_hardened tenure_malloc_advised)
if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${tenure_preloaded_targets} tenure_dropin_rooms_0 tenure_dropin_rooms_1 new_delete
        checked_new_delete PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
