# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# tenure watch: the library that is preloaded into another program's process, and the reader of its recordings.
#
#   tenure_watch     libtenure_watch.so
#   tenure_blocks    libtenure_blocks.so, preloaded by tenure pins --heap own
#   tenure_record    libtenure_record.so, preloaded by tenure record
#   lab_symbols      names functions and lines, by elfutils' libdw
#   lab_watch        the reader; uses Zydis to decode instructions
#   lab_profile      the reader of heap profiles, for tenure profile; uses zlib for pprof's format
#   lab_trace        the allocations of a program, for tenure record and tenure trace; uses zlib, and zstd if there
#   lab_cores        makes a heap profile from a core file, for tenure pins --core
#   lab_pins         who keeps resident memory, from the same files, for tenure pins

find_path(TENURE_LIBDW_INCLUDE elfutils/libdwfl.h)
find_library(TENURE_LIBDW NAMES dw)
find_library(TENURE_LIBELF NAMES elf)
mark_as_advanced(TENURE_LIBDW_INCLUDE TENURE_LIBDW TENURE_LIBELF)
if(NOT TENURE_LIBDW_INCLUDE OR NOT TENURE_LIBDW OR NOT TENURE_LIBELF)
    message(FATAL_ERROR
        "elfutils' libdw is not installed (Debian: libdw-dev). To build without the command: -DTENURE_LAB=OFF")
endif()

find_package(Zydis 4 CONFIG QUIET)
if(Zydis_FOUND)
    set(tenure_watch_missing patch_plan_missing.cpp)
    set(tenure_decoder Zydis::Zydis)
else()
    message(STATUS "Zydis 4: not found; tenure watch --region=function:NAME will report it as missing")
    set(tenure_watch_missing patch_plan.cpp)
    set(tenure_decoder)
endif()
# A class of symbols.cpp has members of types that only this file has: GCC warns of that in what a unit includes.
tenure_add_lab_room(observe/symbols APART "/symbols\\.cpp$" LINK lab_report fmt::fmt ${TENURE_LIBDW} ${TENURE_LIBELF})
target_include_directories(lab_symbols PRIVATE ${TENURE_LIBDW_INCLUDE})
tenure_add_lab_room(observe/watch WITHOUT ${tenure_watch_missing}
    LINK lab_symbols lab_report fmt::fmt nlohmann_json::nlohmann_json ${TENURE_LIBDW} ${TENURE_LIBELF} ${tenure_decoder})
target_include_directories(lab_watch PRIVATE ${TENURE_LIBDW_INCLUDE})
find_package(ZLIB REQUIRED)
tenure_add_lab_room(observe/profile
    LINK lab_symbols lab_report fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB)
# Traces are compressed by zstd, or by zlib without it.
find_path(TENURE_ZSTD_INCLUDE zstd.h)
find_library(TENURE_ZSTD NAMES zstd)
mark_as_advanced(TENURE_ZSTD_INCLUDE TENURE_ZSTD)
if(TENURE_ZSTD_INCLUDE AND TENURE_ZSTD)
    tenure_add_lab_room(observe/trace WITHOUT compression/without_zstd.cpp
        LINK lab_symbols lab_report fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB ${TENURE_ZSTD})
    target_include_directories(lab_trace PRIVATE ${TENURE_ZSTD_INCLUDE})
else()
    message(STATUS "libzstd: not found (Debian: libzstd-dev); tenure record compresses with zlib, and traces that are "
        "compressed with zstd cannot be read")
    tenure_add_lab_room(observe/trace WITHOUT compression/zstd.cpp
        LINK lab_symbols lab_report fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB)
endif()
tenure_add_lab_room(observe/cores LINK lab_profile lab_report fmt::fmt)
tenure_add_lab_room(observe/pins LINK lab_profile lab_report fmt::fmt nlohmann_json::nlohmann_json)

# A sanitizer interposes malloc itself.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    return()
endif()

set(hook_dir ${PROJECT_SOURCE_DIR}/lab/observe/hook)
file(GLOB hook_sources CONFIGURE_DEPENDS ${hook_dir}/*.cpp ${hook_dir}/*/*.cpp)
add_library(tenure_watch SHARED ${hook_sources})
tenure_compile(tenure_watch)
target_include_directories(tenure_watch PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/lab)
# Stack walks begin in the hook's own frames. Its code must not use wide registers, because callers of a patched
# function keep values in them.
target_compile_options(tenure_watch PRIVATE -fno-exceptions -fno-rtti -fasynchronous-unwind-tables
    -fno-omit-frame-pointer -ftls-model=initial-exec -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-free
    -fno-stack-protector)
# Exceptions of the program pass through these files (personality.cpp).
set_source_files_properties(${hook_dir}/interpose/operators.cpp ${hook_dir}/runtimes/tbb.cpp
    PROPERTIES COMPILE_OPTIONS -fexceptions)
target_compile_definitions(tenure_watch PRIVATE TENURE_CHECKS=0)
set_target_properties(tenure_watch PROPERTIES
    TENURE_WITHOUT_RUNTIME ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    LINK_DEPENDS ${hook_dir}/exports.map
)
target_link_options(tenure_watch PRIVATE -nodefaultlibs -Wl,--version-script=${hook_dir}/exports.map
    -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,-O1)
target_link_libraries(tenure_watch PRIVATE c gcc_s gcc)
install(TARGETS tenure_watch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Libraries that come before the process's own malloc and record what it is asked for: the functions that they interpose
# are those of lab/observe/blocks.
function(tenure_add_recorder name room rooms)
    set(dir ${PROJECT_SOURCE_DIR}/lab/observe/${room})
    file(GLOB sources CONFIGURE_DEPENDS ${dir}/record/*.cpp ${PROJECT_SOURCE_DIR}/lab/observe/blocks/interpose/*.cpp)
    set(of_library ${tenure_sources})
    list(FILTER of_library INCLUDE REGEX "${rooms}")
    list(FILTER of_library EXCLUDE REGEX
        "/base/(bad_alloc|budget_source|frame_clock|counting_source|failing_source|static_buffer_source)\\.cpp$")
    list(FILTER of_library EXCLUDE REGEX "/platform/posix/(process_malloc|observer|copies)\\.cpp$")
    add_library(${name} SHARED ${sources} ${of_library} ${PROJECT_SOURCE_DIR}/src/tenure/dropin/observer.cpp)
    tenure_compile(${name})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/lab)
    target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti -fasynchronous-unwind-tables
        -fsized-deallocation -ftls-model=initial-exec -ffunction-sections -fdata-sections
        -fno-builtin-malloc -fno-builtin-calloc)
    target_compile_definitions(${name} PRIVATE TENURE_CHECKS=0 TENURE_BUILDING=1
        TENURE_VALGRIND=$<BOOL:${TENURE_VALGRIND}>)
    set_target_properties(${name} PROPERTIES
        TENURE_WITHOUT_RUNTIME ON
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
        LINK_DEPENDS ${dir}/exports.map
    )
    target_link_options(${name} PRIVATE -nodefaultlibs -Wl,--version-script=${dir}/exports.map
        -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,-O1 -Wl,--gc-sections)
    target_link_libraries(${name} PRIVATE gcc gcc_eh c)
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# The live blocks, with the rooms of the library that write a heap profile.
tenure_add_recorder(tenure_blocks blocks
    "/src/tenure/(base|platform)/|/heap/detail/(profile/(profile_|sampl)|guarded/sample_schedule|checked/record_memory)")
# Each allocation.
tenure_add_recorder(tenure_record tracer
    "/src/tenure/(base|platform)/|/heap/detail/(profile/sampl|guarded/sample_schedule)")
