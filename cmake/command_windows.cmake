# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The `tenure` command for Windows: tenure.exe, with the subcommands that need nothing of Linux. The rest of the lab is
# not built there.

# Headers of CLI11, {fmt} and nlohmann/json alone serve any system, so those of the machine that builds are used, through
# a folder that has nothing else.
set(TENURE_COMMAND_HEADERS /usr/include CACHE PATH "Where CLI/, fmt/ and nlohmann/ are, for the command for Windows")
set(command_headers ${PROJECT_BINARY_DIR}/command_headers)
file(MAKE_DIRECTORY ${command_headers})
foreach(folder CLI fmt nlohmann)
    if(NOT EXISTS ${TENURE_COMMAND_HEADERS}/${folder})
        message(STATUS "The command: left out, because ${TENURE_COMMAND_HEADERS}/${folder} is missing")
        return()
    endif()
    file(CREATE_LINK ${TENURE_COMMAND_HEADERS}/${folder} ${command_headers}/${folder} SYMBOLIC)
endforeach()

set(lab ${PROJECT_SOURCE_DIR}/lab)
file(GLOB command_sources CONFIGURE_DEPENDS ${lab}/cli/run_only/windows/*.cpp)
set(imports ${PROJECT_SOURCE_DIR}/src/tenure/platform/windows/imports)
add_executable(tenure_command ${command_sources} ${lab}/cli/command_line.cpp ${lab}/cli/arguments/nearest.cpp
    ${lab}/cli/subcommands.cpp ${lab}/cli/subcommands/options.cpp ${lab}/report/letters.cpp
    ${imports}/added_import.cpp ${imports}/started_program.cpp)
tenure_compile_lab_or_test(tenure_command)
target_include_directories(tenure_command PRIVATE ${lab})
target_include_directories(tenure_command SYSTEM PRIVATE ${command_headers})
target_compile_definitions(tenure_command PRIVATE FMT_HEADER_ONLY=1 _WIN32_WINNT=0x0A00 UNICODE=1 _UNICODE=1)
target_compile_options(tenure_command PRIVATE -Wa,-mbig-obj)
target_link_libraries(tenure_command PRIVATE tenure_tree synchronization advapi32)
target_link_options(tenure_command PRIVATE -municode)
set_target_properties(tenure_command PROPERTIES OUTPUT_NAME tenure RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
install(TARGETS tenure_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
