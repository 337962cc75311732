// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Allocates in ways that `tenure record` is tested with, by its first word:
//   model FILE [THREADS]
//                on four threads that pass blocks to each other; then writes into FILE what it has done with each
//   fork         has a child that allocates, and frees blocks of its parent
//   objects      has 100,000 objects of operator new, one after another
//   kill         is killed while it allocates
//   threads      starts 300 threads, one after another
//   mappings     does so, and then has more mappings than a chunk's unused end has room for

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace {

thread_local void* volatile passed = nullptr; // so that no allocation is optimised away
void* used(void* block) {
    passed = block;
    return passed;
}

constexpr int max_blocks = 8000, most_resizes = 3;

/// What was done with a block. Each size occurs once, so that a trace can be compared.
struct block_story {
    void* block;
    std::size_t alignment;
    std::size_t sizes[1 + most_resizes];
    int resizes, family, allocated_by, freed_by; // freed_by: -1 if it is in use
};
block_story stories[max_blocks];
std::atomic<int> next_story{0}, next_size{0};
std::size_t new_size() { return 100'000 + 2 * static_cast<std::size_t>(next_size.fetch_add(1)); }

std::mutex mailbox_mutex;
int mailbox[64];
int mailbox_count = 0;

void allocate(block_story& story) {
    const std::size_t bytes = story.sizes[0];
    switch (story.family) {
    case 0: story.block = std::malloc(bytes); break;
    case 1: story.block = std::calloc(1, bytes); break;
    case 2: story.block = std::aligned_alloc(story.alignment, bytes); break;
    case 3: story.block = ::operator new(bytes); break;
    default: story.block = ::operator new (bytes, std::align_val_t{story.alignment});
    }
    used(story.block);
}

void deallocate(const block_story& story) {
    if (story.family < 3) return std::free(story.block);
    if (story.family == 3) return ::operator delete(story.block);
    ::operator delete (story.block, std::align_val_t{story.alignment});
}

void work(int thread, int turns) {
    std::minstd_rand random(static_cast<unsigned>(thread) + 1);
    for (int turn = 0; turn < turns; ++turn) {
        int index = -1;
        {
            const std::lock_guard<std::mutex> lock(mailbox_mutex);
            if (mailbox_count > 0 && (random() % 2 == 0 || mailbox_count == 64)) {
                const auto chosen = random() % static_cast<unsigned>(mailbox_count);
                index = mailbox[chosen];
                mailbox[chosen] = mailbox[--mailbox_count];
            }
        }
        bool is_kept = true;
        if (index < 0) {
            index = next_story.fetch_add(1);
            if (index >= max_blocks) return;
            block_story& story = stories[index];
            story = {nullptr, std::size_t{32} << random() % 4, {new_size()}, 0, static_cast<int>(random() % 5), thread,
                     -1};
            allocate(story);
        } else {
            block_story& story = stories[index];
            if (story.family < 2 && story.resizes < most_resizes && random() % 2 == 0) {
                story.sizes[++story.resizes] = new_size();
                story.block = used(std::realloc(story.block, story.sizes[story.resizes]));
            } else {
                deallocate(story);
                story.freed_by = thread;
                is_kept = false;
            }
        }
        if (!is_kept) continue;
        const std::lock_guard<std::mutex> lock(mailbox_mutex);
        if (mailbox_count < 64) mailbox[mailbox_count++] = index;
    }
}

int model(const char* path, int thread_count) {
    std::vector<std::thread> threads;
    for (int index = 0; index < thread_count; ++index) threads.emplace_back(work, index, 12'000 / thread_count);
    for (std::thread& each : threads) each.join();
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return 1;
    const int count = std::min(next_story.load(), max_blocks);
    for (int index = 0; index < count; ++index) {
        const block_story& story = stories[index];
        std::fprintf(file, "%d %zu %d %d %d", story.family, story.alignment, story.allocated_by, story.freed_by,
                     story.resizes);
        for (int size = 0; size <= story.resizes; ++size) std::fprintf(file, " %zu", story.sizes[size]);
        std::fputc('\n', file);
    }
    return std::fclose(file);
}

int fork_once() {
    std::vector<void*> blocks(100);
    for (void*& each : blocks) each = used(std::malloc(777));
    const pid_t child = ::fork();
    if (child == 0) {
        for (int index = 0; index < 10; ++index) std::free(blocks[static_cast<std::size_t>(index)]);
        for (int index = 0; index < 50; ++index) std::free(used(std::malloc(888)));
        std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    for (void* each : blocks) std::free(each);
    return status == 0 ? 5 : 1;
}

int have_objects() {
    for (int index = 0; index < 100'000; ++index) ::operator delete(used(::operator new(24)));
    return 0;
}

int be_killed() {
    for (int index = 0; index < 20'000; ++index) used(std::malloc(555));
    std::free(passed);
    return ::raise(SIGKILL);
}

int start_threads(int count) {
    for (int index = 0; index < count; ++index) std::thread([] { std::free(used(std::malloc(333))); }).join();
    return 0;
}

int have_mappings() {
    constexpr std::size_t page_bytes = 4096, count = 2000;
    void* const pages = ::mmap(nullptr, count * page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return 1;
    for (std::size_t page = 0; page < count; page += 2)
        if (::mprotect(static_cast<char*>(pages) + page * page_bytes, page_bytes, PROT_NONE) != 0) return 1;
    return start_threads(55); // each takes the unused end of the one before, and leaves a page less
}

}

int main(int count, char** words) {
    const char* const what = count > 1 ? words[1] : "";
    if (std::strcmp(what, "model") == 0 && count > 2) return model(words[2], count > 3 ? std::atoi(words[3]) : 4);
    if (std::strcmp(what, "fork") == 0) return fork_once();
    if (std::strcmp(what, "objects") == 0) return have_objects();
    if (std::strcmp(what, "kill") == 0) return be_killed();
    if (std::strcmp(what, "threads") == 0) return start_threads(300);
    if (std::strcmp(what, "mappings") == 0) return have_mappings();
    return 2;
}
