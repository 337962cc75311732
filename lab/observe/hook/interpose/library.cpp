// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Other C library functions that take internal locks (locale, time zones, random numbers, environment), and functions
/// that request memory from the kernel.

#include <dlfcn.h>
#include <link.h>
#include <locale.h>
#include <netdb.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "observe/hook/interpose/observed.hpp"

using namespace tenure::lab::hook;

extern "C" {

char* setlocale(int part, const char* name) {
    return observed<call::setlocale, char*(int, const char*)>(here(), part, name);
}
locale_t newlocale(int parts, const char* name, locale_t base) {
    return observed<call::newlocale, locale_t(int, const char*, locale_t)>(here(), parts, name, base);
}
void freelocale(locale_t locale) { return observed<call::freelocale, void(locale_t)>(here(), locale); }
locale_t duplocale(locale_t locale) { return observed<call::duplocale, locale_t(locale_t)>(here(), locale); }
int dladdr(const void* address, Dl_info* found) {
    return observed<call::dladdr, int(const void*, Dl_info*)>(here(), address, found);
}
tm* localtime(const time_t* time) { return observed<call::localtime, tm*(const time_t*)>(here(), time); }
tm* localtime_r(const time_t* time, tm* to) {
    return observed<call::localtime_r, tm*(const time_t*, tm*)>(here(), time, to);
}
tm* gmtime_r(const time_t* time, tm* to) { return observed<call::gmtime_r, tm*(const time_t*, tm*)>(here(), time, to); }
time_t mktime(tm* time) { return observed<call::mktime, time_t(tm*)>(here(), time); }
std::size_t strftime(char* to, std::size_t bytes, const char* format, const tm* time) {
    return observed<call::strftime, std::size_t(char*, std::size_t, const char*, const tm*)>(here(), to, bytes, format,
                                                                                             time);
}
void tzset() { return observed<call::tzset, void()>(here()); }
int rand() { return observed<call::rand, int()>(here()); }
void srand(unsigned seed) { return observed<call::srand, void(unsigned)>(here(), seed); }
long random() { return observed<call::random, long()>(here()); }
void srandom(unsigned seed) { return observed<call::srandom, void(unsigned)>(here(), seed); }
double drand48() { return observed<call::drand48, double()>(here()); }
int setenv(const char* name, const char* value, int replaces) {
    return observed<call::setenv, int(const char*, const char*, int)>(here(), name, value, replaces);
}
int putenv(char* text) { return observed<call::putenv, int(char*)>(here(), text); }
int unsetenv(const char* name) { return observed<call::unsetenv, int(const char*)>(here(), name); }
int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
    return observed<call::getaddrinfo, int(const char*, const char*, const addrinfo*, addrinfo**)>(
        here(), node, service, hints, found);
}

int dl_iterate_phdr(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) {
    return observed<call::dl_iterate_phdr, int(int (*)(dl_phdr_info*, std::size_t, void*), void*)>(here(), visit, data);
}

void* mmap(void* at, std::size_t bytes, int rights, int flags, int file, off_t offset) {
    return observed_allocation<call::mmap, void*(void*, std::size_t, int, int, int, off_t)>(
        here(), bytes, at, bytes, rights, flags, file, offset);
}
void* mmap64(void* at, std::size_t bytes, int rights, int flags, int file, off64_t offset) {
    return observed_allocation<call::mmap64, void*(void*, std::size_t, int, int, int, off64_t)>(
        here(), bytes, at, bytes, rights, flags, file, offset);
}
int munmap(void* pages, std::size_t bytes) {
    return observed_allocation<call::munmap, int(void*, std::size_t)>(here(), bytes, pages, bytes);
}
int madvise(void* pages, std::size_t bytes, int advice) {
    return observed_allocation<call::madvise, int(void*, std::size_t, int)>(here(), bytes, pages, bytes, advice);
}
int mprotect(void* pages, std::size_t bytes, int rights) {
    return observed_allocation<call::mprotect, int(void*, std::size_t, int)>(here(), bytes, pages, bytes, rights);
}
void* sbrk(std::intptr_t bytes) {
    return observed_allocation<call::sbrk, void*(std::intptr_t)>(
        here(), bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0, bytes);
}
void* mremap(void* pages, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
    std::va_list list;
    va_start(list, flags);
    void* const at = va_arg(list, void*); // the kernel reads it only if the flags say so
    va_end(list);
    return observed_allocation<call::mremap, void*(void*, std::size_t, std::size_t, int, void*)>(
        here(), bytes, pages, old_bytes, bytes, flags, at);
}
}
