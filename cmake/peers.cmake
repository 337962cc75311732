# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Peers that need headers: lab/bench/experiments/library_peers/<peer>.cpp is built if the headers are found,
# <peer>_missing.cpp otherwise. A peer that needs no headers has no <peer>_missing.cpp.
#
# Sets  tenure_library_peers_missing: the sources that are not built, relative to lab/bench/experiments
#       tenure_peer_libraries

include(CheckIncludeFileCXX)

# Sets TENURE_HAS_<name> and TENURE_LIBRARY_<name>; the library may be empty. Repeated at every configure, to find
# packages that were installed since.
macro(tenure_find_library_of_others name header library)
    unset(TENURE_HAS_${name} CACHE)
    unset(TENURE_LIBRARY_${name} CACHE)
    set(CMAKE_REQUIRED_QUIET ON)
    check_include_file_cxx(${header} TENURE_HAS_${name} "-std=c++20")
    if(NOT "${library}" STREQUAL "" AND TENURE_HAS_${name})
        find_library(TENURE_LIBRARY_${name} NAMES ${library})
        mark_as_advanced(TENURE_LIBRARY_${name})
        if(NOT TENURE_LIBRARY_${name})
            set(TENURE_HAS_${name} "")
        endif()
    endif()
endmacro()

# name, header to find, library to find (or empty)
set(tenure_optional_peers
    "boost_pool|boost/pool/pool.hpp|"
    "loki|loki/SmallObj.h|loki"
    "stb_sprintf|stb/stb_sprintf.h|"
)

set(tenure_library_peers_missing)
set(tenure_peer_libraries)

foreach(entry IN LISTS tenure_optional_peers)
    string(REGEX MATCH "^(.*)[|](.*)[|](.*)$" _ ${entry})
    set(peer ${CMAKE_MATCH_1})
    set(header ${CMAKE_MATCH_2})
    set(library ${CMAKE_MATCH_3})

    tenure_find_library_of_others(${peer} ${header} "${library}")
    if(TENURE_HAS_${peer} AND library)
        list(APPEND tenure_peer_libraries ${TENURE_LIBRARY_${peer}})
    endif()

    if(TENURE_HAS_${peer})
        list(APPEND tenure_library_peers_missing library_peers/${peer}_missing.cpp)
    else()
        message(STATUS "Peer ${peer}: not found; its rows will report it as missing")
        list(APPEND tenure_library_peers_missing library_peers/${peer}.cpp)
    endif()
endforeach()
