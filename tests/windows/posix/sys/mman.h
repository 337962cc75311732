// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the tests use of POSIX's memory functions, for Windows.

#include <cstddef>
#include <cstdint>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_SHARED 1
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_NORESERVE 16384
#define MAP_FIXED_NOREPLACE 1048576
#define MADV_DONTNEED 4
#define MADV_DONTFORK 10
#define MADV_NOHUGEPAGE 15
#define MAP_FAILED (reinterpret_cast<void*>(std::intptr_t{-1}))

extern "C" {
void* mmap(void* wanted, std::size_t bytes, int protection, int flags, int file, long long offset);
/// The whole mapping, or the memory of a part of it.
int munmap(void* begin, std::size_t bytes);
int mprotect(void* begin, std::size_t bytes, int protection);
int mincore(void* begin, std::size_t bytes, unsigned char* states);
int mlock(const void* begin, std::size_t bytes);
int munlock(const void* begin, std::size_t bytes);
}
inline int madvise(void*, std::size_t, int) { return -1; }
