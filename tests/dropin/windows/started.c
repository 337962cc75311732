/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* A program for `tenure run` that knows nothing of the drop-in. The first argument says what it does:
 *
 *   arguments      the others are those that CMakeLists.txt passes, which have letters that need quotes
 *   input          copies standard input to standard output
 *   code           ends with the exit code 37
 *   early          the drop-in has served what was allocated before main()
 *   served         its blocks are those of the drop-in's heap; `not` says that they are not
 *   children       starts itself in each way that a C program has, as `served`; ends with the code 38
 *   suspended      starts itself suspended: it does not run before it is resumed; ends with the code 38 */

#include <process.h>
#include <string.h>

#include "owned.h"

static void* before_main = NULL;
__attribute__((constructor)) static void allocate_early(void) { before_main = malloc(100); }

/* Before the C runtime's own start, in the thread-local callbacks of the program. */
static void* in_callback = NULL;
static void WINAPI allocate_in_callback(void* module, DWORD what, void* reserved) {
    (void)module;
    (void)reserved;
    if (what == DLL_PROCESS_ATTACH) in_callback = malloc(100);
}
__attribute__((section(".CRT$XLM"), used)) const PIMAGE_TLS_CALLBACK callback_of_program =
    (PIMAGE_TLS_CALLBACK)(void*)&allocate_in_callback;

static int copy_input(void) {
    char text[100];
    size_t count;
    while ((count = fread(text, 1, sizeof text, stdin)) != 0) fwrite(text, 1, count, stdout);
    return 0;
}

static int check_arguments(int count, char** arguments) {
    CHECK(count == 7);
    CHECK(strcmp(arguments[2], "two words") == 0);
    CHECK(strcmp(arguments[3], "a \"quote\"") == 0);
    CHECK(strcmp(arguments[4], "folder\\") == 0);
    CHECK(strcmp(arguments[5], "folder of two\\\\") == 0);
    CHECK(strcmp(arguments[6], "") == 0);
    return 0;
}

static DWORD run_process(int is_wide, char* program, DWORD flags) {
    PROCESS_INFORMATION started;
    DWORD code = 99;
    BOOL is_started;
    if (is_wide) {
        wchar_t line[2 * MAX_PATH];
        STARTUPINFOW how;
        memset(&how, 0, sizeof how);
        how.cb = sizeof how;
        swprintf(line, sizeof line / sizeof *line, L"\"%hs\" served", program);
        is_started = CreateProcessW(NULL, line, NULL, NULL, TRUE, flags, NULL, NULL, &how, &started);
    } else {
        char line[2 * MAX_PATH];
        STARTUPINFOA how;
        memset(&how, 0, sizeof how);
        how.cb = sizeof how;
        snprintf(line, sizeof line, "\"%s\" served", program);
        is_started = CreateProcessA(NULL, line, NULL, NULL, TRUE, flags, NULL, NULL, &how, &started);
    }
    CHECK(is_started);
    if ((flags & CREATE_SUSPENDED) != 0) {
        CHECK(WaitForSingleObject(started.hProcess, 300) == WAIT_TIMEOUT);
        CHECK(ResumeThread(started.hThread) == 1);
    }
    WaitForSingleObject(started.hProcess, INFINITE);
    GetExitCodeProcess(started.hProcess, &code);
    CloseHandle(started.hThread);
    CloseHandle(started.hProcess);
    return code;
}

static int start_children(void) {
    char program[MAX_PATH];
    GetModuleFileNameA(NULL, program, sizeof program);
    CHECK(run_process(0, program, 0) == 0);
    CHECK(run_process(1, program, 0) == 0);
    CHECK(_spawnl(_P_WAIT, program, "started", "served", (char*)NULL) == 0); /* by the C runtime */
    return 38;
}

static int start_suspended(void) {
    char program[MAX_PATH];
    GetModuleFileNameA(NULL, program, sizeof program);
    CHECK(run_process(1, program, CREATE_SUSPENDED) == 0);
    return 38;
}

static int check_served(int is_served) {
    void* const block = malloc(1000);
    CHECK(owned(block) == is_served);
    free(block);
    return 0;
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "arguments") == 0) return check_arguments(argc, argv);
    if (strcmp(what, "input") == 0) return copy_input();
    if (strcmp(what, "code") == 0) return 37;
    if (strcmp(what, "served") == 0) return check_served(1);
    if (strcmp(what, "not") == 0) return check_served(0);
    if (strcmp(what, "children") == 0) return start_children();
    if (strcmp(what, "suspended") == 0) return start_suspended();
    CHECK(strcmp(what, "early") == 0);
    CHECK(owned(before_main) == 1);
    CHECK(owned(in_callback) == 1);
    return 0;
}
