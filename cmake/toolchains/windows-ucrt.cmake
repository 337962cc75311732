# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Windows x64 with the universal C runtime, built on Linux by zig, which contains Clang, mingw-w64 for it and libc++; run
# by Wine. windows-x64.cmake builds for the older C library (msvcrt).
#
# TENURE_ZIG, or ZIG of the environment: the program. ZIG_GLOBAL_CACHE_DIR: where zig keeps what it has compiled.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENURE_ZIG)

if(DEFINED ENV{ZIG})
    set(TENURE_ZIG $ENV{ZIG} CACHE FILEPATH "zig")
endif()
find_program(TENURE_ZIG zig REQUIRED)
set(CMAKE_C_COMPILER ${TENURE_ZIG} cc)
set(CMAKE_CXX_COMPILER ${TENURE_ZIG} c++)
set(CMAKE_C_COMPILER_TARGET x86_64-windows-gnu)
set(CMAKE_CXX_COMPILER_TARGET x86_64-windows-gnu)
set(CMAKE_AR ar)
set(CMAKE_RANLIB ranlib)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# CMake's checks compile, and link nothing: zig would compile libc++ for them alone.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Without a choice, zig adds UndefinedBehaviorSanitizer below -O2.
set(CMAKE_C_FLAGS_INIT "-fno-sanitize=undefined")
set(CMAKE_CXX_FLAGS_INIT "-fno-sanitize=undefined")
set(TENURE_SYNCHRONIZATION api-ms-win-core-synch-l1-2-0) # zig has no import library of the other name

# Libraries and packages of this machine are not for Windows. Programs run here.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH /nonexistent)

# Wine, with a Windows of its own in the build folder if no other folder is named.
if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/wine ${CMAKE_BINARY_DIR}/wine)
endif()
