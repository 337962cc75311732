# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# linux-arm64 with glibc, by Debian's cross compiler (g++-aarch64-linux-gnu). Tests run under qemu-user, if it is there.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Libraries and packages of this machine are for another processor. Programs run here.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(TENURE_QEMU_ARM64 qemu-aarch64)
mark_as_advanced(TENURE_QEMU_ARM64)
if(TENURE_QEMU_ARM64)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/run_arm64)
endif()
