// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Text functions of the C library: the printf family, to memory and to files, and stdio. Their locks are not exported,
/// so the hook detects waits by the duration of a call.

#include <cstdarg>
#include <cstdio>

#include "observe/hook/interpose/observed.hpp"

using namespace tenure::lab::hook;

namespace {

/// A variadic call becomes a call of its va_list form and is recorded under its own name.
template<call Which, call With, class Signature, class... Arguments>
[[gnu::always_inline]] inline int observed_list(const place& from, Arguments... arguments) {
    auto* const function = real<Signature>(With);
    if (!is_active()) [[likely]]
        return function(arguments...);
    const noted_call<Which> note(from);
    return function(arguments...);
}

}

extern "C" {

int sprintf(char* to, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::sprintf, call::vsprintf, int(char*, const char*, std::va_list)>(here(), to, format, list);
    va_end(list);
    return written;
}
int snprintf(char* to, std::size_t bytes, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::snprintf, call::vsnprintf, int(char*, std::size_t, const char*, std::va_list)>(
            here(), to, bytes, format, list);
    va_end(list);
    return written;
}
int asprintf(char** to, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written = observed_list<call::asprintf, call::vasprintf, int(char**, const char*, std::va_list)>(
        here(), to, format, list);
    va_end(list);
    return written;
}
int printf(const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::printf, call::vprintf, int(const char*, std::va_list)>(here(), format, list);
    va_end(list);
    return written;
}
int fprintf(FILE* file, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::fprintf, call::vfprintf, int(FILE*, const char*, std::va_list)>(here(), file, format, list);
    va_end(list);
    return written;
}
int dprintf(int file, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::dprintf, call::vdprintf, int(int, const char*, std::va_list)>(here(), file, format, list);
    va_end(list);
    return written;
}

// The bounds-checking forms that compilers call with _FORTIFY_SOURCE.
int __sprintf_chk(char* to, int flag, std::size_t room, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::sprintf_fortified, call::vsprintf_fortified,
                      int(char*, int, std::size_t, const char*, std::va_list)>(here(), to, flag, room, format, list);
    va_end(list);
    return written;
}
int __snprintf_chk(char* to, std::size_t bytes, int flag, std::size_t room, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written = observed_list<call::snprintf_fortified, call::vsnprintf_fortified,
                                      int(char*, std::size_t, int, std::size_t, const char*, std::va_list)>(
        here(), to, bytes, flag, room, format, list);
    va_end(list);
    return written;
}
int __asprintf_chk(char** to, int flag, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::asprintf_fortified, call::vasprintf_fortified, int(char**, int, const char*, std::va_list)>(
            here(), to, flag, format, list);
    va_end(list);
    return written;
}
int __printf_chk(int flag, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::printf_fortified, call::vprintf_fortified, int(int, const char*, std::va_list)>(
            here(), flag, format, list);
    va_end(list);
    return written;
}
int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
    std::va_list list;
    va_start(list, format);
    const int written =
        observed_list<call::fprintf_fortified, call::vfprintf_fortified, int(FILE*, int, const char*, std::va_list)>(
            here(), file, flag, format, list);
    va_end(list);
    return written;
}

int vsprintf(char* to, const char* format, std::va_list list) {
    return observed<call::vsprintf, int(char*, const char*, std::va_list)>(here(), to, format, list);
}
int vsnprintf(char* to, std::size_t bytes, const char* format, std::va_list list) {
    return observed<call::vsnprintf, int(char*, std::size_t, const char*, std::va_list)>(here(), to, bytes, format,
                                                                                         list);
}
int vasprintf(char** to, const char* format, std::va_list list) {
    return observed<call::vasprintf, int(char**, const char*, std::va_list)>(here(), to, format, list);
}
int vprintf(const char* format, std::va_list list) {
    return observed<call::vprintf, int(const char*, std::va_list)>(here(), format, list);
}
int vfprintf(FILE* file, const char* format, std::va_list list) {
    return observed<call::vfprintf, int(FILE*, const char*, std::va_list)>(here(), file, format, list);
}
int vdprintf(int file, const char* format, std::va_list list) {
    return observed<call::vdprintf, int(int, const char*, std::va_list)>(here(), file, format, list);
}
int __vsprintf_chk(char* to, int flag, std::size_t room, const char* format, std::va_list list) {
    return observed<call::vsprintf_fortified, int(char*, int, std::size_t, const char*, std::va_list)>(
        here(), to, flag, room, format, list);
}
int __vsnprintf_chk(char* to, std::size_t bytes, int flag, std::size_t room, const char* format, std::va_list list) {
    return observed<call::vsnprintf_fortified, int(char*, std::size_t, int, std::size_t, const char*, std::va_list)>(
        here(), to, bytes, flag, room, format, list);
}
int __vasprintf_chk(char** to, int flag, const char* format, std::va_list list) {
    return observed<call::vasprintf_fortified, int(char**, int, const char*, std::va_list)>(here(), to, flag, format,
                                                                                            list);
}
int __vprintf_chk(int flag, const char* format, std::va_list list) {
    return observed<call::vprintf_fortified, int(int, const char*, std::va_list)>(here(), flag, format, list);
}
int __vfprintf_chk(FILE* file, int flag, const char* format, std::va_list list) {
    return observed<call::vfprintf_fortified, int(FILE*, int, const char*, std::va_list)>(here(), file, flag, format,
                                                                                          list);
}

int puts(const char* text) { return observed<call::puts, int(const char*)>(here(), text); }
int fputs(const char* text, FILE* file) { return observed<call::fputs, int(const char*, FILE*)>(here(), text, file); }
int fputc(int letter, FILE* file) { return observed<call::fputc, int(int, FILE*)>(here(), letter, file); }
int putc(int letter, FILE* file) { return observed<call::putc, int(int, FILE*)>(here(), letter, file); }
int putchar(int letter) { return observed<call::putchar, int(int)>(here(), letter); }
std::size_t fwrite(const void* from, std::size_t bytes, std::size_t count, FILE* file) {
    return observed<call::fwrite, std::size_t(const void*, std::size_t, std::size_t, FILE*)>(here(), from, bytes, count,
                                                                                             file);
}
std::size_t fread(void* to, std::size_t bytes, std::size_t count, FILE* file) {
    return observed<call::fread, std::size_t(void*, std::size_t, std::size_t, FILE*)>(here(), to, bytes, count, file);
}
int fflush(FILE* file) { return observed<call::fflush, int(FILE*)>(here(), file); }
char* fgets(char* to, int bytes, FILE* file) {
    return observed<call::fgets, char*(char*, int, FILE*)>(here(), to, bytes, file);
}
char* __fgets_chk(char* to, std::size_t room, int bytes, FILE* file) {
    return observed<call::fgets_fortified, char*(char*, std::size_t, int, FILE*)>(here(), to, room, bytes, file);
}
std::size_t __fread_chk(void* to, std::size_t room, std::size_t bytes, std::size_t count, FILE* file) {
    using signature = std::size_t(void*, std::size_t, std::size_t, std::size_t, FILE*);
    return observed<call::fread_fortified, signature>(here(), to, room, bytes, count, file);
}
int fgetc(FILE* file) { return observed<call::fgetc, int(FILE*)>(here(), file); }
int getc(FILE* file) { return observed<call::getc, int(FILE*)>(here(), file); }
int getchar() { return observed<call::getchar, int()>(here()); }
ssize_t getline(char** line, std::size_t* bytes, FILE* file) {
    return observed<call::getline, ssize_t(char**, std::size_t*, FILE*)>(here(), line, bytes, file);
}
ssize_t getdelim(char** line, std::size_t* bytes, int letter, FILE* file) {
    return observed<call::getdelim, ssize_t(char**, std::size_t*, int, FILE*)>(here(), line, bytes, letter, file);
}
FILE* fopen(const char* name, const char* mode) {
    return observed<call::fopen, FILE*(const char*, const char*)>(here(), name, mode);
}
FILE* fopen64(const char* name, const char* mode) {
    return observed<call::fopen64, FILE*(const char*, const char*)>(here(), name, mode);
}
int fclose(FILE* file) { return observed<call::fclose, int(FILE*)>(here(), file); }
int fseek(FILE* file, long offset, int whence) {
    return observed<call::fseek, int(FILE*, long, int)>(here(), file, offset, whence);
}
long ftell(FILE* file) { return observed<call::ftell, long(FILE*)>(here(), file); }
}
