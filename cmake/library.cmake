# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The library: one set of sources, built at two check levels, each as a shared and a static library.
#
#   level 0   tenure_shared, tenure_static      tenure::tenure is one of them (TENURE_SHARED)
#   level 1   checked_shared, checked_static    tenure::checked likewise
#   own       tenure_tree                       static, at the level TENURE_CHECKS: tests and lab link it

# Sources are globbed, not listed: the files in a room's folder are the room's sources, so a list would repeat the
# folder. CONFIGURE_DEPENDS repeats the search at each build, at the cost of a directory walk.
file(GLOB tenure_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tenure/*/*.cpp
    ${PROJECT_SOURCE_DIR}/src/tenure/*/detail/*.cpp ${PROJECT_SOURCE_DIR}/src/tenure/*/detail/*/*.cpp)
list(FILTER tenure_sources EXCLUDE REGEX "/src/tenure/dropin/") # a separate library: dropin.cmake
list(FILTER tenure_sources EXCLUDE REGEX "/src/tenure/buffer/(detail/|detail/loops/)?vector_") # a separate library: buffer.cmake

# One folder per system, and posix for every Unix. A source's folder selects its system; there is no #if.
string(TOLOWER ${CMAKE_SYSTEM_NAME} tenure_system)
set(tenure_system_folders ${tenure_system})
if(UNIX)
    list(APPEND tenure_system_folders posix)
endif()
foreach(folder IN LISTS tenure_system_folders)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tenure/platform/${folder}/*.cpp
        ${PROJECT_SOURCE_DIR}/src/tenure/platform/${folder}/*/*.cpp)
    list(APPEND tenure_sources ${found})
endforeach()

# A part of the drop-in and of the command for Windows.
list(FILTER tenure_sources EXCLUDE REGEX "/platform/windows/imports/")

# A tree without sources must configure too, so that rooms can be built one after the other.
if(NOT tenure_sources)
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    set(tenure_sources ${PROJECT_BINARY_DIR}/empty.cpp)
endif()

# These files are compiled with exceptions or RTTI: the ones between Tenure and the standard library, which throws, and
# the block sources, because a user with RTTI, or with the vptr check of UndefinedBehaviorSanitizer, needs their type
# information.
file(GLOB throwing_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/tenure/base/bad_alloc.cpp ${PROJECT_SOURCE_DIR}/src/tenure/adapt/*.cpp)
set_source_files_properties(${throwing_sources} PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
file(GLOB typed_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/tenure/base/*_source.cpp ${PROJECT_SOURCE_DIR}/src/tenure/platform/page_source.cpp)
set_source_files_properties(${typed_sources} PROPERTIES COMPILE_OPTIONS
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:TENURE_WITHOUT_RUNTIME>>>:-frtti>") # not in the drop-in, which no program links

# A symbol defined in assembly, which link-time optimisation does not see.
file(GLOB assembly_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tenure/platform/linux/early_pointer.cpp)
set_source_files_properties(${assembly_sources} PROPERTIES COMPILE_OPTIONS "-fno-lto")

# Reading the standard headers takes half of a source's compile time. That each source includes what it needs is checked
# by scripts/tidy, which reads every source alone.
set(tenure_standard_headers <algorithm> <array> <atomic> <bit> <cerrno> <concepts> <cstddef> <cstdint> <cstdlib>
    <cstring> <iterator> <limits> <new> <span> <string_view> <type_traits> <utility>)
# Compiled with other options than a precompiled header.
set_source_files_properties(${throwing_sources} ${typed_sources} ${assembly_sources} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON)

# One unit for each room takes a quarter of the time that its sources take alone. What is measured and installed is
# compiled source by source.
option(TENURE_UNITY_BUILD "Compile each room of the library as one unit" OFF)
foreach(source IN LISTS tenure_sources)
    string(REGEX REPLACE "^.*/src/tenure/([^/]+)/.*$" "\\1" room ${source})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
endforeach()

# Tests link a function of their own in its place.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/tenure/platform/posix/page_bytes.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)

# Initial-exec also for symbols that only the sources use: the default model calls __tls_get_addr, which is several times
# slower. musl refuses to load such a library into a running program; there TLS descriptors take its place.
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(__GLIBC__ features.h TENURE_HAS_GLIBC)
set(tenure_tls_options -ftls-model=initial-exec)
if(WIN32)
    set(TENURE_SYNCHRONIZATION synchronization CACHE STRING "Import library of WaitOnAddress()")
    mark_as_advanced(TENURE_SYNCHRONIZATION)
    set(tenure_tls_options) # not the compiler's variables: base/config.hpp
elseif(UNIX AND NOT TENURE_HAS_GLIBC)
    set(tenure_tls_options -mtls-dialect=gnu2)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(tenure_tls_options) # TLS descriptors are the default, and leave a running program's room to other libraries
endif()

# OBJECTS_OF: a library of the same level whose objects are used instead of compiling the sources.
function(tenure_add_library target kind level file_name)
    cmake_parse_arguments(PARSE_ARGV 4 arg "" "OBJECTS_OF" "")
    if(arg_OBJECTS_OF)
        add_library(${target} ${kind} $<TARGET_OBJECTS:${arg_OBJECTS_OF}>)
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    else()
        add_library(${target} ${kind} ${tenure_sources})
    endif()
    tenure_compile(${target})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti ${tenure_tls_options})
    # The level is part of the inline namespace's name and is passed on to users, so that code compiled for another
    # level fails to link.
    target_compile_definitions(${target} PUBLIC TENURE_CHECKS=${level}
        PRIVATE TENURE_BUILDING=1 TENURE_VALGRIND=$<BOOL:${TENURE_VALGRIND}>)
    tenure_precompile(${target} ${tenure_standard_headers})
    if(TENURE_UNITY_BUILD)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
        target_compile_options(${target} PRIVATE -Wno-shadow) # of another source's names
    endif()
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${file_name}
        UNITY_BUILD_MODE GROUP
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
    )
    if(kind STREQUAL "SHARED")
        target_compile_definitions(${target} PUBLIC TENURE_SHARED=1)
        # The version whose programs run with this library: before 1.0 a minor version may change the interface.
        set(soversion ${PROJECT_VERSION_MAJOR})
        if(PROJECT_VERSION_MAJOR EQUAL 0)
            set(soversion 0.${PROJECT_VERSION_MINOR})
        endif()
        set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
        # Never unloaded: running threads hold pointers into its thread-local state.
        if(NOT WIN32) # platform/windows/module.cpp
            target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,-z,defs)
        endif()
    endif()
    if(WIN32)
        # libtenure.dll, as GCC names it: on Windows names do not differ by case, and Tenure.dll is the .NET assembly.
        target_compile_definitions(${target} PRIVATE _WIN32_WINNT=0x0a00) # Windows 10
        target_link_libraries(${target} PRIVATE ${TENURE_SYNCHRONIZATION} advapi32)
    endif()
endfunction()

tenure_add_library(tenure_shared SHARED 0 tenure)
tenure_add_library(checked_shared SHARED 1 tenure_checked)
# The symbols of a static library are hidden, so its objects are compiled once more. A tree at level 2 or 3 is not
# installed, and the few test programs that link these libraries there do not depend on it: both forms have the objects
# of the shared one.
set(tenure_static_from)
set(checked_static_from)
if(TENURE_CHECKS GREATER 1)
    set(tenure_static_from OBJECTS_OF tenure_shared)
    set(checked_static_from OBJECTS_OF checked_shared)
endif()
tenure_add_library(tenure_static STATIC 0 tenure ${tenure_static_from})
tenure_add_library(checked_static STATIC 1 tenure_checked ${checked_static_from})
set(tenure_installed_targets tenure_shared tenure_static checked_shared checked_static)

add_library(tenure::tenure_static ALIAS tenure_static)
add_library(tenure::checked_static ALIAS checked_static)
if(TENURE_SHARED)
    add_library(tenure::tenure ALIAS tenure_shared)
    add_library(tenure::checked ALIAS checked_shared)
else()
    add_library(tenure::tenure ALIAS tenure_static)
    add_library(tenure::checked ALIAS checked_static)
endif()

# For this tree's own tests and lab: always static, so that tests can reach symbols that are not exported.
if(TENURE_CHECKS EQUAL 0)
    add_library(tenure_tree ALIAS tenure_static)
elseif(TENURE_CHECKS EQUAL 1)
    add_library(tenure_tree ALIAS checked_static)
else()
    tenure_add_library(tenure_tree STATIC ${TENURE_CHECKS} tenure_tree)
endif()

# A tree at level 2 or 3 is for testing and is not installed, and a project that includes Tenure links one of the four
# libraries. In both, each library is built only on request.
if(TENURE_CHECKS GREATER 1 OR NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${tenure_installed_targets} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
