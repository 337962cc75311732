# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The lab, which measures the library: one static library per room, and the command.

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

include(cmake/peers.cmake)

# Adds lab_<room> from the sources in lab/<room> and its folders, without those in WITHOUT: files and folders, relative
# to lab/<room>. A room without sources becomes an interface library. With NAME and ONLY adds lab_<NAME> from some of the
# room's files and folders. APART: see EXCEPT of tenure_unite.
function(tenure_add_lab_room path)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "ONLY;WITHOUT;APART;LINK")
    cmake_path(GET path FILENAME room)
    set(dir ${PROJECT_SOURCE_DIR}/lab/${path})
    set(patterns ${dir}/*.cpp)
    if(arg_NAME)
        set(room ${arg_NAME})
        set(patterns)
        foreach(source IN LISTS arg_ONLY)
            list(APPEND patterns ${dir}/${source} ${dir}/${source}/*.cpp)
        endforeach()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
    foreach(source IN LISTS arg_WITHOUT)
        file(GLOB_RECURSE in_folder ${dir}/${source}/*.cpp)
        list(REMOVE_ITEM sources ${dir}/${source} ${in_folder})
    endforeach()
    if(sources)
        add_library(lab_${room} STATIC ${sources})
        tenure_compile_lab_or_test(lab_${room})
        tenure_unite(lab_${room} EXCEPT ${arg_APART})
        set(scope PUBLIC)
    else()
        add_library(lab_${room} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(lab_${room} ${scope} ${PROJECT_SOURCE_DIR}/lab)
    target_link_libraries(lab_${room} ${scope} tenure_tree ${arg_LINK})
endfunction()

# What the workloads need of the report: the tree for ThreadSanitizer does not wait for the rest.
tenure_add_lab_room(report NAME folders ONLY temporary_folder.cpp)
# Each chart has measures of its own, under the same names.
tenure_add_lab_room(report WITHOUT temporary_folder.cpp APART "/chart/[a-z]+_chart\\.cpp$"
    LINK lab_folders nlohmann_json::nlohmann_json fmt::fmt)
# Of the report it needs a header alone: what links the harness does not wait for the report.
tenure_add_lab_room(bench/harness WITHOUT mallocs/c_library/musl.cpp LINK fmt::fmt ${CMAKE_DL_LIBS})
# Vector maths is a separate library, available if Highway is installed.
set(tenure_vectors_missing vectors/vectors_tenure.cpp)
if(TARGET tenure_buffer_tree)
    set(tenure_vectors_missing vectors/vectors_missing.cpp)
    set(tenure_vectors_library tenure_buffer_tree)
endif()
set(tenure_vectors_elsewhere vectors/loops/vectors_x86.cpp vectors/loops/vectors_for_v3.cpp
    vectors/loops/vectors_v3_at_o3.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(tenure_vectors_elsewhere vectors/loops/vectors_not_x86.cpp)
endif()
# A module is a library of its own; modules.cpp loads them.
file(GLOB module_sources RELATIVE ${PROJECT_SOURCE_DIR}/lab/bench/experiments
    ${PROJECT_SOURCE_DIR}/lab/bench/experiments/modules/*.cpp)
list(REMOVE_ITEM module_sources modules/modules.cpp)
# The tests of the workloads that start threads run under ThreadSanitizer. What they need is a library of its own: that
# tree builds no other experiment.
set(tenure_workloads heap large latency library_peers lifetimes modules parallel/parallel_counted.cpp pools shared watch)
# The files with an experiment's contestants name their lists alike: `all`, or `in_` and the experiment.
set(tenure_contestants "/library_peers/" "/(heap|lifetimes|pools|scene)/[a-z]+_(malloc|reference|tenure|openscenegraph)\\.cpp$"
    "/parallel_threads\\.cpp$")
tenure_add_lab_room(bench/experiments NAME workloads ONLY ${tenure_workloads}
    WITHOUT ${module_sources} ${tenure_library_peers_missing} APART ${tenure_contestants}
    LINK lab_harness lab_folders ${tenure_peer_libraries})
tenure_add_lab_room(bench/experiments
    WITHOUT ${tenure_workloads} ${tenure_vectors_missing} ${tenure_vectors_elsewhere} APART ${tenure_contestants}
    LINK lab_workloads lab_harness lab_report ${tenure_vectors_library})
# The loops for comparison: compiled as for every machine, with the flags of vector maths, with these flags for machines
# with 32-byte vectors, and without Tenure's flags.
set(vectors_dir ${PROJECT_SOURCE_DIR}/lab/bench/experiments/vectors/loops)
set_source_files_properties(${vectors_dir}/vectors_at_o2.cpp PROPERTIES COMPILE_OPTIONS -O2)
set_source_files_properties(${vectors_dir}/vectors_at_o3.cpp PROPERTIES COMPILE_OPTIONS -O3)
set_source_files_properties(${vectors_dir}/vectors_at_our_flags.cpp PROPERTIES
    COMPILE_OPTIONS "${tenure_vector_flags};-O3")
set_source_files_properties(${vectors_dir}/vectors_for_v3.cpp PROPERTIES
    COMPILE_OPTIONS "${tenure_vector_flags};-O3;-march=x86-64-v3")
set_source_files_properties(${vectors_dir}/vectors_v3_at_o3.cpp PROPERTIES
    COMPILE_OPTIONS "-O3;-march=x86-64-v3;-ffp-contract=fast")
# They have their own compiler options, so they cannot use precompiled headers.
set_source_files_properties(${vectors_dir}/vectors_at_o2.cpp ${vectors_dir}/vectors_at_o3.cpp
    ${vectors_dir}/vectors_at_our_flags.cpp ${vectors_dir}/vectors_for_v3.cpp ${vectors_dir}/vectors_v3_at_o3.cpp
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
# The header for libraries that `tenure bench offsets --against` loads.
install(FILES ${PROJECT_SOURCE_DIR}/lab/bench/experiments/offsets/offset_peer.hpp
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenure/bench)
include(cmake/watch.cmake)
find_package(Threads REQUIRED)
tenure_add_lab_room(observe/replay APART "/report/[a-z]+_chart\\.cpp$" LINK lab_trace lab_harness lab_profile lab_report fmt::fmt Threads::Threads)
tenure_add_lab_room(observe/access LINK lab_trace lab_harness fmt::fmt Threads::Threads)
tenure_add_lab_room(cli WITHOUT main.cpp run_only
    LINK lab_experiments lab_replay lab_access lab_watch lab_cores lab_pins lab_profile lab_trace lab_harness lab_report CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
# Modules of lab/bench/experiments/modules: each links another project's library, which only the workers that need it load.
# Fields: name, header to find, library to find.
set(tenure_modules
    "openscenegraph|osg/Group|osg"
    "assimp|assimp/Importer.hpp|assimp"
    "tbb|tbb/global_control.h|tbb"
)
foreach(entry IN LISTS tenure_modules)
    string(REGEX MATCH "^(.*)[|](.*)[|](.*)$" _ ${entry})
    set(module ${CMAKE_MATCH_1})
    tenure_find_library_of_others(${module} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
    if(TENURE_HAS_${module})
        add_library(lab_module_${module} MODULE ${PROJECT_SOURCE_DIR}/lab/bench/experiments/modules/${module}.cpp)
        tenure_compile(lab_module_${module})
        target_include_directories(lab_module_${module} PRIVATE ${PROJECT_SOURCE_DIR}/lab)
        target_link_libraries(lab_module_${module} PRIVATE ${TENURE_LIBRARY_${module}})
        set_target_properties(lab_module_${module} PROPERTIES PREFIX "" OUTPUT_NAME tenure_lab_${module}
            LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
        install(TARGETS lab_module_${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tenure COMPONENT peers)
        list(APPEND tenure_module_targets lab_module_${module})
    else()
        message(STATUS "Module ${module}: not found; what needs it will report it as missing")
    endif()
endforeach()
tenure_precompile(lab_report <fmt/format.h> <nlohmann/json.hpp>)
tenure_precompile(lab_harness <fmt/format.h>)
foreach(target lab_workloads lab_experiments)
    tenure_precompile(${target} <fmt/format.h> <functional> <memory> <thread> <vector>)
endforeach()
tenure_precompile(lab_cli <CLI/CLI.hpp> <fmt/format.h>)
# CLI11's header defines objects, which are compiled in each file that reads it. These files do not read it.
set(cli_dir ${PROJECT_SOURCE_DIR}/lab/cli)
set_source_files_properties(${cli_dir}/arguments/nearest.cpp ${cli_dir}/arguments/part_choice.cpp
    ${cli_dir}/arguments/program_file.cpp ${cli_dir}/arguments/row_choice.cpp ${cli_dir}/subcommands/bench_compare.cpp
    ${cli_dir}/subcommands/recordings_folder.cpp ${cli_dir}/subcommands/watch_list.cpp ${cli_dir}/terminal.cpp
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

include(cmake/command_facts.cmake)
tenure_add_command_facts(lab_harness)

if(EXISTS ${PROJECT_SOURCE_DIR}/lab/cli/main.cpp)
    add_executable(tenure_command ${PROJECT_SOURCE_DIR}/lab/cli/main.cpp)
    tenure_compile(tenure_command)
    target_link_libraries(tenure_command PRIVATE lab_cli)
    # No target is called tenure (only library files are), so the command can have the name.
    set_target_properties(tenure_command PROPERTIES OUTPUT_NAME tenure RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    install(TARGETS tenure_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# A tree without the tests of the command and of the experiments builds both only on request.
if("cli" IN_LIST TENURE_TESTS_WITHOUT AND "experiments" IN_LIST TENURE_TESTS_WITHOUT)
    set_target_properties(tenure_command lab_cli lab_experiments lab_workloads ${tenure_module_targets}
        PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
