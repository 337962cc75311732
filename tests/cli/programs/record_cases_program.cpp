// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Calls that `tenure record` is tested with, by its first word:
//   times          frees blocks 50 ms after it has allocated them, on the same thread and on others
//   news           a loop of operator new and delete
//   grow           lets blocks grow by a byte, again and again
//   unknown        has a child that deletes blocks of its parent
//   forms          calls each form of malloc, and lets some fail
//   clear          clears its environment, and has a child that allocates
//   plugin FILE    loads a plug-in that allocates, and is ended by a signal
//   unload FILE    unloads it, and ends
//   late           a thread's last destructor and a signal handler allocate
//   frees          frees blocks in another function, in a loop, by an exception, by realloc, at the end of a thread
//   errors FILE    checks errno and dlerror() around allocations, also of a plug-in

#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>

namespace {

thread_local void* volatile passed = nullptr; // so that no allocation is optimised away
void* used(void* block) {
    passed = block;
    return passed;
}

void wait_50_ms() {
    const timespec pause{0, 50'000'000};
    ::nanosleep(&pause, nullptr);
}

int take_time() {
    void* const own = used(std::malloc(4001));
    wait_50_ms();
    std::free(own);
    void* others[6];
    for (std::size_t index = 0; index < 6; ++index) others[index] = used(std::malloc(4010 + index));
    std::thread([&] {
        for (void* each : others) {
            wait_50_ms();
            std::free(each);
        }
    }).join();
    void* const last = used(std::malloc(4002));
    wait_50_ms();
    std::free(last);
    void* row[4];
    for (std::size_t index = 0; index < 4; ++index) row[index] = used(std::malloc(4020 + index));
    for (void* each : row) {
        wait_50_ms();
        std::free(each);
    }
    return 0;
}

int loop_of_news() {
    for (int count = 0; count < 200'000; ++count) ::operator delete(used(::operator new(1000)));
    return 0;
}

int grow() {
    constexpr std::size_t blocks = 100, first_bytes = 100'000, steps = 200;
    for (std::size_t block = 0; block < blocks; ++block) {
        void* grown = used(std::malloc(first_bytes));
        for (std::size_t step = 1; step <= steps; ++step) grown = used(std::realloc(grown, first_bytes + step));
        std::free(grown);
    }
    return 0;
}

int delete_unknown() {
    void* blocks[10];
    for (void*& each : blocks) each = used(::operator new(700));
    const pid_t child = ::fork();
    if (child == 0) {
        for (void* each : blocks) ::operator delete(each);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    for (void* each : blocks) ::operator delete(each);
    return status;
}

int call_all_forms() {
    volatile std::size_t large = PTRDIFF_MAX; // the compiler would warn
    void* block = nullptr;
    if (::posix_memalign(&block, 64, 5001) != 0) return 1;
    std::free(used(block));
    std::free(used(::memalign(128, 5002)));
    std::free(used(::valloc(5003)));
    std::free(used(::pvalloc(5004)));
    std::free(used(::reallocarray(nullptr, 5, 1001)));
    block = used(std::malloc(5006));
    void* volatile refused = std::realloc(block, large);
    if (refused != nullptr) return 2;
    block = used(std::realloc(block, 5007));
    refused = std::realloc(block, 0); // frees it
    if (refused != nullptr) return 3;
    if (::posix_memalign(&block, 3, 5008) == 0) return 4;
    refused = std::calloc(large, 4);
    return refused == nullptr ? 0 : 5;
}

int clear_environment() {
    ::clearenv();
    const pid_t child = ::fork();
    if (child == 0) {
        for (int count = 0; count < 50; ++count) std::free(used(std::malloc(888)));
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

int use_plugin(const char* path, bool is_kept) {
    using function = void* (*)(std::size_t);
    void* const library = ::dlopen(path, RTLD_NOW);
    if (library == nullptr) return 1;
    const auto allocate = reinterpret_cast<function>(::dlsym(library, "allocate_in_plugin"));
    if (allocate == nullptr) return 2;
    for (int count = 0; count < 10; ++count) std::free(allocate(6000));
    if (is_kept) return ::raise(SIGTERM);
    return ::dlclose(library);
}

struct late {
    ~late() { std::free(used(std::malloc(7001))); }
};

extern "C" void allocate_in_handler(int) { std::free(used(std::malloc(7002))); }

int end_late() {
    std::thread([] {
        static thread_local late last;
        used(&last);
        std::free(used(std::malloc(7000)));
    }).join();
    ::signal(SIGUSR1, allocate_in_handler);
    for (int count = 0; count < 20; ++count) ::raise(SIGUSR1);
    return 0;
}

/// Blocks in a part of the addresses where none was, while the recorder gets no memory for its map of that part.
bool keep_errors_without_memory() {
    constexpr std::size_t page_bytes = 4096, mib = std::size_t{1} << 20;
    ::mmap(nullptr, 256 * mib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1 || std::fclose(file) != 0) return false;
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    const rlimit tight{pages * page_bytes + 20 * mib, limit.rlim_max};
    ::setrlimit(RLIMIT_AS, &tight);
    bool is_kept = true;
    for (int count = 0; count < 4; ++count) {
        errno = EILSEQ;
        is_kept = used(std::malloc(4 * mib)) != nullptr && errno == EILSEQ && is_kept;
    }
    ::setrlimit(RLIMIT_AS, &limit);
    return is_kept;
}

/// The first stack with the plug-in's code, while the recorder can open no file.
bool keep_errors_without_descriptors(const char* path) {
    using function = void* (*)(std::size_t);
    void* const library = ::dlopen(path, RTLD_NOW);
    const auto allocate =
        library == nullptr ? nullptr : reinterpret_cast<function>(::dlsym(library, "allocate_in_plugin"));
    if (allocate == nullptr) return false;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit none{3, limit.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    errno = EILSEQ;
    const bool is_kept = used(allocate(6000)) != nullptr && errno == EILSEQ;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return is_kept;
}

/// On new threads, each with a chunk of its own.
int keep_errors(const char* plugin) {
    if (!keep_errors_without_descriptors(plugin)) return 3;
    if (::dlerror() != nullptr) return 1;
    bool is_kept = true;
    for (int count = 0; count < 20; ++count) {
        std::thread([&] {
            errno = EILSEQ;
            for (int each = 0; each < 20'000; ++each) std::free(used(std::malloc(100)));
            is_kept = is_kept && errno == EILSEQ;
        }).join();
    }
    return is_kept && keep_errors_without_memory() ? 0 : 2;
}

}

[[gnu::noinline]] void* make_block(std::size_t bytes) {
    void* const made = used(std::malloc(bytes));
    return made;
}
[[gnu::noinline]] void drop_block(void* block) {
    std::free(block);
    passed = nullptr; // the call above is no jump
}

struct dropped {
    void* block;
    explicit dropped(std::size_t bytes) : block(make_block(bytes)) {}
    ~dropped() { drop_block(block); }
    dropped(const dropped&) = delete;
    dropped& operator=(const dropped&) = delete;
};

[[gnu::noinline]] void throw_over_a_block() {
    const dropped block(8202);
    if (passed != nullptr) throw 1;
}

int free_in_many_ways() {
    for (int turn = 0; turn < 100; ++turn) drop_block(make_block(8201));
    try {
        throw_over_a_block();
    } catch (int) {
        passed = nullptr;
    }
    void* const last = std::realloc(make_block(8203), 0);
    std::thread([] {
        thread_local const dropped block(8204);
        passed = block.block;
    }).join();
    return last == nullptr ? 0 : 1;
}

int main(int count, char** words) {
    const char* const what = count > 1 ? words[1] : "";
    if (std::strcmp(what, "times") == 0) return take_time();
    if (std::strcmp(what, "news") == 0) return loop_of_news();
    if (std::strcmp(what, "grow") == 0) return grow();
    if (std::strcmp(what, "unknown") == 0) return delete_unknown();
    if (std::strcmp(what, "forms") == 0) return call_all_forms();
    if (std::strcmp(what, "clear") == 0) return clear_environment();
    if (std::strcmp(what, "plugin") == 0 && count > 2) return use_plugin(words[2], true);
    if (std::strcmp(what, "unload") == 0 && count > 2) return use_plugin(words[2], false);
    if (std::strcmp(what, "late") == 0) return end_late();
    if (std::strcmp(what, "frees") == 0) return free_in_many_ways();
    if (std::strcmp(what, "errors") == 0 && count > 2) return keep_errors(words[2]);
    return 2;
}
