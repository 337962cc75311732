# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The command with `tenure run` and `tenure options` alone, for targets whose libraries no package of this machine has:
# musl. It needs three libraries that are headers (Debian: libfmt-dev, nlohmann-json3-dev, libcli11-dev), which are
# taken from this machine. Links in the tree keep the headers of this machine's C library out.

set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
set(tenure_run_missing)
foreach(header fmt/format.h nlohmann/json.hpp CLI/CLI.hpp)
    cmake_path(GET header PARENT_PATH folder)
    find_path(TENURE_HEADERS_${folder} ${header} PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH)
    mark_as_advanced(TENURE_HEADERS_${folder})
    if(TENURE_HEADERS_${folder})
        file(CREATE_LINK ${TENURE_HEADERS_${folder}}/${folder} ${headers}/${folder} SYMBOLIC)
    else()
        list(APPEND tenure_run_missing ${header})
    endif()
endforeach()
if(tenure_run_missing)
    message(STATUS "The command is left out: not found: ${tenure_run_missing}")
    return()
endif()

set(lab_dir ${PROJECT_SOURCE_DIR}/lab)
file(GLOB run_only_sources CONFIGURE_DEPENDS ${lab_dir}/cli/run_only/*.cpp ${lab_dir}/bench/harness/*.cpp
    ${lab_dir}/bench/harness/machine/*.cpp ${lab_dir}/bench/harness/mallocs/*.cpp ${lab_dir}/bench/harness/worker/*.cpp
    ${lab_dir}/report/*.cpp)
list(REMOVE_ITEM run_only_sources ${lab_dir}/report/write_result.cpp) # tables and charts of the bench
add_executable(tenure_command ${run_only_sources} ${lab_dir}/bench/harness/mallocs/c_library/musl.cpp
    ${lab_dir}/cli/command_line.cpp ${lab_dir}/cli/terminal.cpp ${lab_dir}/cli/subcommands.cpp
    ${lab_dir}/cli/arguments/nearest.cpp ${lab_dir}/cli/arguments/program_file.cpp
    ${lab_dir}/cli/programs/child_program.cpp ${lab_dir}/cli/subcommands/run.cpp ${lab_dir}/cli/subcommands/options.cpp
    ${lab_dir}/observe/replay/separation/advice_file.cpp ${lab_dir}/observe/trace/header/trace_header.cpp)
tenure_compile(tenure_command)
target_compile_definitions(tenure_command PRIVATE FMT_HEADER_ONLY=1)
# Without: zig gives two variables of the C library that are copied into a program (environ, tzname) one address.
target_compile_options(tenure_command PRIVATE -fPIE)
target_include_directories(tenure_command PRIVATE ${lab_dir})
target_include_directories(tenure_command SYSTEM PRIVATE ${headers})
target_link_libraries(tenure_command PRIVATE tenure_tree)
set_target_properties(tenure_command PROPERTIES OUTPUT_NAME tenure RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
include(cmake/command_facts.cmake)
tenure_add_command_facts(tenure_command)
install(TARGETS tenure_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
