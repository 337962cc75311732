/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Corners of the C library, one by the first argument. Each must behave as if nobody watched; what is printed says
   whether it did. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static void begin_region(const char* name, size_t bytes) {
    void (*begin)(const char*, size_t) = (void (*)(const char*, size_t))dlsym(RTLD_DEFAULT, "tn_region_begin");
    if (begin != NULL) begin(name, bytes);
}
static void end_region(void) {
    void (*end)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "tn_region_end");
    if (end != NULL) end();
}

/* Names that mean types to a demangler of C++. */
__attribute__((noinline)) void f(int count) {
    for (int index = 0; index < count; ++index) {
        void* volatile block = malloc(10);
        free(block);
    }
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) int i(void* count) {
    f((int)(intptr_t)count);
    return 17;
}
static void* run_i(void* count) {
    i(count);
    return NULL;
}

static void in_a_thread(void* (*function)(void*), void* argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0) abort();
    pthread_join(thread, NULL);
}

static void c11(void) {
    thrd_t thread;
    int answer = 0;
    thrd_create(&thread, i, (void*)1000);
    thrd_join(thread, &answer);
    printf("%d\n", answer);
}

static void* fill_the_stack(void* unused) {
    (void)unused;
    volatile char bytes[6144];
    memset((void*)bytes, 3, sizeof bytes);
    f(1);
    printf("%d\n", bytes[sizeof bytes - 1]);
    return NULL;
}
static void small_stack(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    pthread_t thread;
    if (pthread_create(&thread, &attributes, fill_the_stack, NULL) == 0) pthread_join(thread, NULL);
}

static void many_threads(void) {
    for (int round = 0; round < 200; ++round) in_a_thread(run_i, (void*)3);
}

static sem_t semaphore;

static void* post_later(void* unused) {
    (void)unused;
    usleep(20 * 1000);
    sem_post(&semaphore);
    return NULL;
}
static void* keep_errno(void* mutex) {
    int changed = 0;
    for (int round = 0; round < 100; ++round) {
        void* volatile block = malloc(100);
        errno = 77;
        free(block);
        if (errno != 77) ++changed;
        errno = 77;
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
        if (errno != 77) ++changed;
    }
    /* One that must be waited for. */
    pthread_t other;
    sem_init(&semaphore, 0, 0);
    if (pthread_create(&other, NULL, post_later, NULL) != 0) abort();
    errno = 77;
    sem_wait(&semaphore);
    if (errno != 77) ++changed;
    pthread_join(other, NULL);
    printf("%d\n", changed);
    return NULL;
}

static void no_files(void) {
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {}
    in_a_thread(run_i, (void*)1000);
    printf("went on\n");
}

static void* end_what_never_began(void* unused) {
    (void)unused;
    end_region();
    f(1000);
    return NULL;
}

static void* wait_although_cancelled(void* unused) {
    (void)unused;
    pthread_cancel(pthread_self());
    sem_wait(&semaphore);
    return NULL;
}
static void cancelled(void) {
    sem_init(&semaphore, 0, 1);
    pthread_t thread;
    void* answer = NULL;
    if (pthread_create(&thread, NULL, wait_although_cancelled, NULL) != 0) abort();
    pthread_join(thread, &answer);
    printf("%s\n", answer == PTHREAD_CANCELED ? "cancelled" : "returned");
}

static void* lock_twice(void* unused) {
    (void)unused;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    printf("%s\n", pthread_mutex_lock(&mutex) == EDEADLK ? "refused" : "locked");
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void child(void) {
    in_a_thread(run_i, (void*)1000);
    pid_t (*plain_fork)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "_Fork"); /* since glibc 2.34 */
    if (plain_fork == NULL) plain_fork = fork;
    const pid_t process = plain_fork();
    if (process == 0) {
        in_a_thread(run_i, (void*)1000);
        _exit(0);
    }
    int status = 1;
    waitpid(process, &status, 0);
    printf("%d\n", status);
}

static void file_limit(void) {
    struct rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    in_a_thread(run_i, (void*)1000);
    printf("went on\n");
}

/* Sleeps that nobody sees, and then calls that take long: they are no waits. */
static void* sleep_unseen(void* unused) {
    (void)unused;
    struct timespec time = {0, 2 * 1000 * 1000};
    for (int round = 0; round < 30; ++round) {
        long answer = 0;
        __asm__ volatile("syscall"
                         : "=a"(answer)
                         : "a"((long)SYS_nanosleep), "D"(&time), "S"(NULL)
                         : "rcx", "r11", "memory");
        char* volatile text = malloc(4096);
        snprintf(text, 4096, "%.2000f", 1e300 * (round + 1));
        free(text);
    }
    return NULL;
}

/* What the C library refuses, or gives back, before it waits. */
static void* die_with_lock(void* mutex) {
    pthread_mutex_lock(mutex);
    return NULL;
}
static void* ask_for_nonsense(void* unused) {
    (void)unused;
    struct timespec no_time = {0, 2000000000};
    struct timespec long_ago = {0, 0};
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sem_init(&semaphore, 0, 1);
    printf("%d ", pthread_rwlock_timedrdlock(&lock, &no_time));
    printf("%d ", pthread_rwlock_timedwrlock(&lock, &no_time));
    printf("%d ", pthread_mutex_clocklock(&mutex, (clockid_t)12345, &long_ago));
    printf("%d ", sem_timedwait(&semaphore, &no_time));
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_t robust;
    pthread_mutex_init(&robust, &attributes);
    pthread_t thread;
    if (pthread_create(&thread, NULL, die_with_lock, &robust) != 0) abort();
    pthread_join(thread, NULL);
    printf("%s ", pthread_mutex_lock(&robust) == EOWNERDEAD ? "dead" : "?");
    pthread_mutex_unlock(&robust); /* without having made it whole: nobody may have it again */
    printf("%s\n", pthread_mutex_lock(&robust) == ENOTRECOVERABLE ? "lost" : "?");
    return NULL;
}

/* A stream whose writer sleeps: the time is the sleep's alone. */
static ssize_t write_slowly(void* unused, const char* text, size_t bytes) {
    (void)unused;
    (void)text;
    usleep(20 * 1000);
    return (ssize_t)bytes;
}
static void* write_to_a_slow_stream(void* unused) {
    const cookie_io_functions_t functions = {.write = write_slowly};
    FILE* const stream = fopencookie(unused, "w", functions);
    for (int round = 0; round < 5; ++round) {
        fputs("text\n", stream);
        fflush(stream);
    }
    fclose(stream);
    return NULL;
}

/* Two threads that share one processor. */
static void* spin(void* unused) {
    struct timespec spent = {0, 0};
    while (spent.tv_sec == 0 && spent.tv_nsec < 100 * 1000 * 1000) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return unused;
}
static void one_processor(void) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_t threads[2];
    for (int index = 0; index < 2; ++index) {
        if (pthread_create(&threads[index], NULL, spin, NULL) != 0) abort();
    }
    for (int index = 0; index < 2; ++index) pthread_join(threads[index], NULL);
}

static void names(void) {
    static char long_name[1001];
    for (int index = 0; index < 500; ++index) memcpy(long_name + 2 * index, "\xC3\xA9", 2);
    begin_region("one\0two", 7);
    f(1);
    end_region();
    begin_region(long_name, 1000);
    f(2);
    end_region();
    begin_region(NULL, 0);
    f(3);
    end_region();
}

static void* refused_memory(void* unused) {
    (void)unused;
    volatile size_t much = (size_t)1 << 40;
    for (int round = 0; round < 3; ++round) {
        void* volatile block = malloc(much << 20);
        block = calloc(much, much);
        if (block != NULL) abort();
    }
    return NULL;
}

/* Below a thread's stack lies another one, and above that what nobody may read. The register that often is a frame
   pointer points there: who takes the other stack for a part of the thread's own would follow it. */
__attribute__((naked, noinline)) void* allocate_beside(void* pointer) {
    (void)pointer;
    __asm__("push %rbp\n"
            "mov %rdi, %rbp\n"
            "mov $10, %edi\n"
            "call malloc@PLT\n"
            "pop %rbp\n"
            "ret");
}
static char* unreadable;
static void run_beside(void) { free(allocate_beside(unreadable)); }
static void* stack_below(void* unused) {
    const size_t stack_bytes = 64 << 10, step = 1 << 20;
    char *place = MAP_FAILED, *wanted = (char*)((uintptr_t)&place & ~(uintptr_t)0xFFFF) - 10 * step;
    for (int tries = 0; tries < 80 && place != wanted; ++tries) {
        wanted -= step / 2;
        place = mmap(wanted, 2 * stack_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    }
    if (place != wanted || mprotect(place, stack_bytes, PROT_READ | PROT_WRITE) != 0) {
        printf("no place\n");
        return unused;
    }
    unreadable = place + stack_bytes + 4096;
    static ucontext_t outside, inside;
    getcontext(&inside);
    inside.uc_stack.ss_sp = place;
    inside.uc_stack.ss_size = stack_bytes;
    inside.uc_link = &outside;
    makecontext(&inside, run_beside, 0);
    swapcontext(&outside, &inside);
    printf("came back\n");
    return unused;
}
/* The limit that new processes' stacks have says nothing about this thread's, which is an eighth of it. */
static void stack_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 64 << 20;
    if (setrlimit(RLIMIT_STACK, &limit) != 0) {
        printf("no place\n");
        return;
    }
    in_a_thread(stack_below, NULL);
}

static void errno_stays(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    in_a_thread(keep_errno, &mutex);
}
static void stray_end(void) { in_a_thread(end_what_never_began, NULL); }
static void deadlock(void) { in_a_thread(lock_twice, NULL); }
static void unseen_sleep(void) { in_a_thread(sleep_unseen, NULL); }
static void slow_stream(void) { in_a_thread(write_to_a_slow_stream, NULL); }
static void nonsense(void) { in_a_thread(ask_for_nonsense, NULL); }
static void refused(void) { in_a_thread(refused_memory, NULL); }

static struct {
    const char* name;
    void (*run)(void);
} const corners[] = {
    {"c11", c11},
    {"small_stack", small_stack},
    {"many_threads", many_threads},
    {"errno", errno_stays},
    {"no_files", no_files},
    {"stray_end", stray_end},
    {"cancelled", cancelled},
    {"deadlock", deadlock},
    {"child", child},
    {"file_limit", file_limit},
    {"unseen_sleep", unseen_sleep},
    {"slow_stream", slow_stream},
    {"one_processor", one_processor},
    {"nonsense", nonsense},
    {"names", names},
    {"refused_memory", refused},
    {"stack_limit", stack_limit},
};

int main(int count, char** arguments) {
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t index = 0; count > 1 && index < sizeof corners / sizeof corners[0]; ++index) {
        if (strcmp(corners[index].name, arguments[1]) != 0) continue;
        corners[index].run();
        return 0;
    }
    return 2;
}
