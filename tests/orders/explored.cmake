# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Sources that orders_test includes. A loop that looks many times before it gives up is explored with few looks, and all
# threads use one stack of a handle table.

set(explored ${CMAKE_CURRENT_BINARY_DIR}/explored/explored)

function(tenure_explore source)
    set(file ${PROJECT_SOURCE_DIR}/src/tenure/${source})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "REPLACE")
    while(arg_REPLACE)
        list(POP_FRONT arg_REPLACE from to)
        string(FIND "${text}" "${from}" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "${source} no longer has '${from}': change tests/orders/explored.cmake with it")
        endif()
        string(REPLACE "${from}" "${to}" text "${text}")
    endwhile()
    cmake_path(GET file FILENAME name)
    file(CONFIGURE OUTPUT ${explored}/${name} CONTENT "${text}" @ONLY)
endfunction()

tenure_explore(handle/handle_table.cpp
    REPLACE "max_attempts = 64" "max_attempts = 1" "(at >> 12 ^ at >> 20)" "(at * 0)")
tenure_explore(handle/detail/handle_listing.cpp)
tenure_explore(platform/linux/mutex.cpp
    REPLACE "looks_before_sleep = 100" "looks_before_sleep = 1" "::syscall(" "explored_syscall(")

target_include_directories(orders_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/explored)
target_compile_definitions(orders_test PRIVATE TENURE_SOURCES="${PROJECT_SOURCE_DIR}/src/tenure")
# The sources are used in part.
target_compile_options(orders_test PRIVATE -Wno-unused-function)
