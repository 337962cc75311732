# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# What the command knows of itself: from which sources it was built, and where its libraries are. The target compiles the
# sources that read it.
function(tenure_add_command_facts target)
    # Reports name the commit, flags and build type that were measured. The commit changes without CMake, so it is queried
    # at each build; only one file is recompiled.
    set(build_info ${PROJECT_BINARY_DIR}/build_info.h)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    add_custom_target(tenure_build_info
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${build_info} -DTYPE=${CMAKE_BUILD_TYPE}
            "-DFLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" -P ${PROJECT_SOURCE_DIR}/cmake/build_info.cmake
        BYPRODUCTS ${build_info} VERBATIM)
    add_dependencies(${target} tenure_build_info)
    set_source_files_properties(lab/bench/harness/machine/build_info.cpp PROPERTIES
        COMPILE_OPTIONS "-include;${build_info}" OBJECT_DEPENDS ${build_info})

    # Where an installed command finds the libraries that it preloads. It also tries the usual folders (malloc_peers.cpp), so
    # that packages of other layouts need no other build.
    file(RELATIVE_PATH libraries_from_command ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    if(libraries_from_command MATCHES "^\\.\\./lib(64|/[a-z0-9_]+-linux-gnu[a-z0-9]*)?$")
        set(libraries_from_command ../lib)
    endif()
    set_source_files_properties(lab/bench/harness/mallocs/malloc_peers.cpp PROPERTIES
        COMPILE_DEFINITIONS
        "TENURE_LIBRARIES_FROM_COMMAND=\"${libraries_from_command}\";TENURE_MULTIARCH=\"${CMAKE_LIBRARY_ARCHITECTURE}\"")
endfunction()
