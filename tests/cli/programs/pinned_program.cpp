// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program that knows nothing of pins: sessions live on between requests of the same size that are gone, and keep
// their pages. With the word `measure` it frees the sessions and prints the resident bytes that this gave back. With
// the word `end` it raises SIGUSR1, at which it may save a profile, and ends by SIGABRT.

#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t bytes = 200;
std::vector<void*> sessions, requests; // the sessions live until the end

[[gnu::noinline]] void open_session() {
    sessions.push_back(std::malloc(bytes));
    std::memset(sessions.back(), 1, bytes);
}

[[gnu::noinline]] void begin_request() {
    requests.push_back(std::malloc(bytes));
    std::memset(requests.back(), 1, bytes);
}

[[gnu::noinline]] void load_table() {
    constexpr std::size_t table_bytes = std::size_t{20} << 20;
    static void* volatile table = std::malloc(table_bytes);
    std::memset(table, 1, table_bytes);
}

[[nodiscard]] long resident_bytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    long pages = 0;
    const bool is_read = std::fscanf(file, "%*d %ld", &pages) == 1;
    std::fclose(file);
    return is_read ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}

int main(int argc, char** argv) {
    constexpr int request_count = 400'000, requests_of_session = 40;
    load_table();
    requests.reserve(request_count);
    sessions.reserve(request_count / requests_of_session + 1);
    for (int each = 0; each < request_count; ++each) {
        if (each % requests_of_session == 0) open_session();
        begin_request();
    }
    for (void* const request : requests) std::free(request);
    ::malloc_trim(0);
    if (argc > 1 && std::strcmp(argv[1], "measure") == 0) {
        const long before = resident_bytes();
        for (void* const session : sessions) std::free(session);
        ::malloc_trim(0);
        std::printf("%ld\n", before - resident_bytes());
    }
    if (argc > 1 && std::strcmp(argv[1], "end") == 0) {
        std::raise(SIGUSR1);
        std::abort();
    }
    return 4;
}
