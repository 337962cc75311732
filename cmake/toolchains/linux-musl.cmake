# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# linux-x64 with musl, by zig, which contains musl, libc++ and a compiler. Programs are linked to musl's shared library
# and run on this machine, if that has musl's loader. libc++ is always a part of each program.
#
# TENURE_ZIG, or ZIG of the environment: the program. ZIG_GLOBAL_CACHE_DIR: where zig keeps what it has compiled.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENURE_ZIG)

if(DEFINED ENV{ZIG})
    set(TENURE_ZIG $ENV{ZIG} CACHE FILEPATH "zig")
endif()
find_program(TENURE_ZIG zig REQUIRED)
set(CMAKE_C_COMPILER ${TENURE_ZIG} cc)
set(CMAKE_CXX_COMPILER ${TENURE_ZIG} c++)
set(CMAKE_C_COMPILER_TARGET x86_64-linux-musl)
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-musl)
set(CMAKE_AR ar)
set(CMAKE_RANLIB ranlib)
# CMake's checks compile, and link nothing: zig would compile libc++ for them alone.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Without a choice, zig adds UndefinedBehaviorSanitizer below -O2.
set(CMAKE_C_FLAGS_INIT "-fno-sanitize=undefined")
set(CMAKE_CXX_FLAGS_INIT "-fno-sanitize=undefined")
# zig links a program to musl's shared library only if the program has another shared library.
set(TENURE_ANY_LIBRARY ${CMAKE_BINARY_DIR}/libany.so)
if(NOT EXISTS ${TENURE_ANY_LIBRARY} AND NOT CMAKE_BINARY_DIR MATCHES "/CMakeScratch/|/CMakeTmp")
    file(WRITE ${CMAKE_BINARY_DIR}/any.c "int any(void) { return 0; }\n")
    execute_process(COMMAND ${TENURE_ZIG} cc --target=x86_64-linux-musl -shared -o ${TENURE_ANY_LIBRARY}
        ${CMAKE_BINARY_DIR}/any.c COMMAND_ERROR_IS_FATAL ANY)
endif()
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--as-needed ${TENURE_ANY_LIBRARY}")

# Libraries and packages of this machine are for glibc. Programs run here.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH /nonexistent)

# zig's linker knows fewer options than GNU's. The drop-in needs the unwinder alone, and no C++ library.
set(TENURE_DROPIN_LINK_OPTIONS -nostdlib++ -Wl,--undefined-version)
set(TENURE_DROPIN_RUNTIME unwind)
