# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Compiler settings for Tenure's own code. They do not affect projects that link the library.

set(tenure_warnings
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual -Wcast-align -Wcast-qual -Wformat=2 -Wimplicit-fallthrough -Wundef -Wunused
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond> $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
)

# C++20 without compiler extensions. Warnings apply only in Tenure's own tree, because a project that includes it as a
# subdirectory chooses its own. The presets turn warnings into errors (CMAKE_COMPILE_WARNING_AS_ERROR).
function(tenure_compile target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    if(PROJECT_IS_TOP_LEVEL)
        target_compile_options(${target} PRIVATE ${tenure_warnings})
    endif()
endfunction()

# Precompiles headers that most files of a target read anyway: saves a third of the build time.
function(tenure_precompile target)
    if(TENURE_PRECOMPILED_HEADERS)
        target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
endfunction()

# Compiles the sources of each folder of a target of lab or tests as one unit: takes half of the time. Not for files that
# are compiled with options of their own. The name of a file's own function must then be unique in the folder. EXCEPT:
# regular expressions of files that stay apart. A folder with one file makes no unit.
function(tenure_unite target)
    if(NOT TENURE_LAB_AND_TEST_UNITY_BUILD)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
    get_target_property(sources ${target} SOURCES)
    foreach(pattern IN LISTS arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "${pattern}")
    endforeach()
    set(folders)
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        list(APPEND folders ${folder})
        list(APPEND sources_of_${folder} ${source})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
        list(LENGTH sources_of_${folder} count)
        if(count GREATER 1)
            cmake_path(GET folder FILENAME name)
            set_source_files_properties(${sources_of_${folder}} PROPERTIES UNITY_GROUP "${name}")
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_options(${target} PRIVATE -Wno-shadow) # of another source's names
endfunction()

# For lab and tests. With a sanitizer, -O1 takes two to three times as long to compile as -O0. The library keeps -O1,
# because otherwise the tests would take longer than the compilation saves.
function(tenure_compile_lab_or_test target)
    tenure_compile(${target})
    target_compile_options(${target} PRIVATE ${TENURE_LAB_AND_TEST_OPTIONS})
endfunction()
