// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The file of a process and the areas of its threads.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/interpose/real.hpp"
#include "observe/hook/record/process.hpp"
#include "observe/hook/record/recorder.hpp"
#include "observe/hook/record/regions.hpp"
#include "observe/hook/record/stacks.hpp"

namespace tenure::lab::hook {

namespace {

constinit process_head* head = nullptr;
constinit char path[512] = {};
constinit bool is_child_process = false;
constinit bool file_refused = false;
constinit int opening = 0; // spin lock; contended only when the first two threads of a process start recording

[[nodiscard]] std::uint64_t now_ns() noexcept {
    timespec now{};
    raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

char* put_number(char* to, std::uint64_t number) noexcept {
    char digits[20];
    unsigned count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) *to++ = digits[--count];
    return to;
}

/// The file is FOLDER/PROCESS-NUMBER.tnw. NUMBER differs because a process that calls exec keeps its process id.
void name_file(const char* folder, std::uint64_t number) noexcept {
    const std::size_t length = std::min(std::strlen(folder), sizeof path - 64);
    std::memcpy(path, folder, length);
    char* end = path + length;
    *end++ = '/';
    end = put_number(end, static_cast<std::uint64_t>(raw_call(SYS_getpid)));
    *end++ = '-';
    end = put_number(end, number);
    std::memcpy(end, ".tnw", 5);
}

[[nodiscard]] void* map_of(long file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    const long mapped = raw_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file,
                                 static_cast<long>(offset));
    return mapped < 0 && mapped > -4096 ? nullptr : reinterpret_cast<void*>(mapped);
}

/// The kernel ends a process that writes past this limit (RLIMIT_FSIZE).
[[nodiscard]] bool is_allowed(std::uint64_t bytes) noexcept {
    rlimit limit{};
    return raw_call(SYS_getrlimit, RLIMIT_FSIZE, reinterpret_cast<long>(&limit)) != 0 ||
           limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/// Whether the file system has room for a whole area. A process that touches a mapped page without disk space is
/// killed.
[[nodiscard]] bool has_room(long file) noexcept {
    struct statfs about {};
    constexpr std::uint64_t least = std::uint64_t{32} << 20U;
    return raw_call(SYS_fstatfs, file, reinterpret_cast<long>(&about)) != 0 || about.f_blocks == 0 || // no limit
           static_cast<std::uint64_t>(about.f_bavail) * static_cast<std::uint64_t>(about.f_bsize) >= least;
}

/// Writing one word at the end extends the file and never shrinks it, even when two threads extend it at once.
[[nodiscard]] bool grow(long file, std::uint64_t bytes) noexcept {
    const std::uint64_t zero = 0;
    return is_allowed(bytes) && raw_call(SYS_pwrite64, file, reinterpret_cast<long>(&zero), sizeof zero,
                                         static_cast<long>(bytes - sizeof zero)) == static_cast<long>(sizeof zero);
}

void read_words(const char* file_name, char* to, std::size_t room) noexcept {
    const long file = raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(file_name), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const long length = raw_call(SYS_read, file, reinterpret_cast<long>(to), static_cast<long>(room - 1));
    raw_call(SYS_close, file);
    for (long index = 0; index + 1 < length; ++index) {
        if (to[index] == '\0') to[index] = ' ';
    }
}

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t head_bytes = (sizeof(process_head) + page_bytes - 1) / page_bytes * page_bytes;
constexpr std::uint64_t area_bytes = (sizeof(thread_area) + page_bytes - 1) / page_bytes * page_bytes;

[[nodiscard]] process_head* make_file() noexcept {
    const char* const folder = std::getenv(folder_variable);
    if (folder == nullptr || *folder == '\0') return nullptr;
    long file = -1;
    constexpr std::uint64_t max_numbers = 10'000; // programs that one process executes one after the other
    for (std::uint64_t number = 0; number < max_numbers; ++number) {
        name_file(folder, number);
        file =
            raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (file != -EEXIST) break;
    }
    if (file < 0) return nullptr;
    void* const mapped = grow(file, head_bytes) ? map_of(file, 0, head_bytes) : nullptr;
    raw_call(SYS_close, file);
    if (mapped == nullptr) return nullptr;
    auto* const made = static_cast<process_head*>(mapped);
    made->version = file_version;
    made->process = static_cast<std::uint32_t>(raw_call(SYS_getpid));
    made->parent = static_cast<std::uint32_t>(raw_call(SYS_getppid));
    made->is_child = is_child_process ? 1 : 0;
    made->first_ticks = ticks();
    made->first_ns = now_ns();
    made->file_bytes = head_bytes;
    raw_call(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(made->program),
             sizeof made->program - 1);
    read_words("/proc/self/cmdline", made->command, sizeof made->command);
    __atomic_store_n(&made->magic, file_magic, __ATOMIC_RELEASE);
    return made;
}

thread_area* refuse(process_head& process, int why) noexcept {
    __atomic_store_n(&process.refusal, static_cast<std::uint32_t>(why), __ATOMIC_RELAXED);
    return nullptr;
}

[[nodiscard]] thread_area* make_area() noexcept {
    process_head* const process = head_of_process();
    if (process == nullptr) return nullptr;
    const long file = raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return refuse(*process, static_cast<int>(-file));
    if (!has_room(file)) {
        raw_call(SYS_close, file);
        return refuse(*process, ENOSPC);
    }
    const std::uint64_t offset = __atomic_fetch_add(&process->file_bytes, area_bytes, __ATOMIC_RELAXED);
    const bool has_grown = grow(file, offset + area_bytes);
    void* const mapped = has_grown ? map_of(file, offset, area_bytes) : nullptr;
    raw_call(SYS_close, file);
    if (mapped == nullptr) return refuse(*process, has_grown ? ENOMEM : EFBIG);
    auto* const made = static_cast<thread_area*>(mapped);
    made->thread = static_cast<std::uint32_t>(raw_call(SYS_gettid));
    made->kind = this_thread.kind;
    made->routine = this_thread.routine;
    made->created = this_thread.created;
    made->nodes = 1;
    raw_call(SYS_prctl, PR_GET_NAME, reinterpret_cast<long>(made->name));
    __atomic_store_n(&made->first, ticks(), __ATOMIC_RELEASE);
    __atomic_fetch_add(&process->threads, 1, __ATOMIC_RELAXED);
    return made;
}

struct found_module {
    std::uintptr_t base = 0, first = 0, last = 0;
    const char* path = nullptr;
};

int look_at_module(dl_phdr_info* about, std::size_t, void* data) noexcept {
    auto& [address, found] = *static_cast<std::pair<std::uintptr_t, found_module>*>(data);
    std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
    for (int index = 0; index < about->dlpi_phnum; ++index) {
        const ElfW(Phdr)& part = about->dlpi_phdr[index];
        if (part.p_type != PT_LOAD) continue;
        first = std::min(first, about->dlpi_addr + part.p_vaddr);
        last = std::max(last, about->dlpi_addr + part.p_vaddr + part.p_memsz);
    }
    if (address < first || address >= last) return 0;
    found = {about->dlpi_addr, first, last, about->dlpi_name};
    return 1;
}

/// The result of dl_find_object(), as the C library declares it from version 2.35 on.
struct found_object {
    unsigned long long flags;
    void* first;
    void* last;
    link_map* map;
    void* tables;
    unsigned long long reserved[7];
};

[[nodiscard]] bool find_module(std::uintptr_t address, found_module& found) noexcept {
    if (auto* const find = reinterpret_cast<int (*)(void*, found_object*)>(
            real_functions[static_cast<std::size_t>(call::dl_find_object)])) {
        found_object object{};
        if (find(reinterpret_cast<void*>(address), &object) != 0) return false;
        found = {object.map->l_addr, reinterpret_cast<std::uintptr_t>(object.first),
                 reinterpret_cast<std::uintptr_t>(object.last), object.map->l_name};
        return true;
    }
    std::pair<std::uintptr_t, found_module> question{address, {}};
    using iterate = int(int (*)(dl_phdr_info*, std::size_t, void*), void*);
    auto* const each = real<iterate>(call::dl_iterate_phdr);
    if (each(look_at_module, &question) == 0) return false;
    found = question.second;
    return true;
}

constinit int adding_module = 0; // spin lock; taken to add a module that no thread has seen

/// Returns the module's index, or max_modules when the address is in no module or the table is full.
[[nodiscard]] std::uint32_t module_of(process_head& process, std::uintptr_t address) noexcept {
    found_module found;
    if (!find_module(address, found)) return max_modules;
    const char* const name = found.path == nullptr || *found.path == '\0' ? process.program : found.path;
    const auto search = [&]() noexcept {
        const std::uint32_t count = __atomic_load_n(&process.modules, __ATOMIC_ACQUIRE);
        for (std::uint32_t index = 0; index < count; ++index) {
            const module_record& each = process.module[index];
            if (each.base == found.base && std::strncmp(each.path, name, sizeof each.path - 1) == 0) return index;
        }
        return max_modules;
    };
    std::uint32_t index = search();
    if (index != max_modules) return index;
    while (__atomic_exchange_n(&adding_module, 1, __ATOMIC_ACQUIRE) != 0) raw_call(SYS_sched_yield);
    index = search();
    if (index == max_modules && process.modules < max_modules) {
        index = process.modules;
        module_record& made = process.module[index];
        made.base = found.base;
        made.first = found.first;
        made.last = found.last;
        std::memcpy(made.path, name, std::min(std::strlen(name), sizeof made.path - 1));
        __atomic_store_n(&process.modules, index + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&adding_module, 0, __ATOMIC_RELEASE);
    return index;
}

}

process_head* head_of_process() noexcept {
    process_head* const found = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
    if (found != nullptr || file_refused || !chosen.is_on) return found;
    open_file();
    return __atomic_load_n(&head, __ATOMIC_ACQUIRE);
}

void open_file() noexcept {
    while (__atomic_exchange_n(&opening, 1, __ATOMIC_ACQUIRE) != 0) raw_call(SYS_sched_yield);
    if (head == nullptr && !file_refused) {
        process_head* const made = make_file();
        file_refused = made == nullptr;
        __atomic_store_n(&head, made, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&opening, 0, __ATOMIC_RELEASE);
}

void note_end(process_end how) noexcept {
    process_head* const process = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
    // The child of a vfork shares the parent's memory until it calls exec.
    if (process == nullptr || process->process != static_cast<std::uint32_t>(raw_call(SYS_getpid))) return;
    if (this_thread.area != nullptr) this_thread.area->waiting_since = 0; // this thread does not wait
    process->end = how;
    process->last_ns = now_ns();
    process->last_ticks = ticks();
}

void note_notice(const char* text, const char* about) noexcept {
    process_head* const process = head_of_process();
    if (process == nullptr) return;
    const std::uint32_t index = __atomic_fetch_add(&process->notices, 1, __ATOMIC_RELAXED);
    if (index >= max_notices) return;
    char* const to = process->notice[index];
    const std::size_t room = sizeof process->notice[index] - 1;
    const std::size_t first = std::min(std::strlen(about), room);
    std::memcpy(to, about, first);
    std::strncpy(to + first, text, room - first);
}

std::uint64_t keep_address(std::uintptr_t address) noexcept {
    process_head* const process = head_of_process();
    if (process == nullptr) return address;
    const std::uint32_t index = module_of(*process, address);
    if (index == max_modules) return address;
    return (std::uint64_t{index} + 1) << module_shift | (address - process->module[index].base);
}

bool is_in_module(std::uintptr_t address) noexcept {
    found_module found;
    return find_module(address, found);
}

bool is_code(std::uintptr_t address) noexcept {
    if (!is_in_module(address)) return false;
    using iterate = int(int (*)(dl_phdr_info*, std::size_t, void*), void*);
    constexpr auto look = [](dl_phdr_info* about, std::size_t, void* data) {
        const std::uintptr_t offset = *static_cast<std::uintptr_t*>(data) - about->dlpi_addr;
        for (int index = 0; index < about->dlpi_phnum; ++index) {
            const ElfW(Phdr)& part = about->dlpi_phdr[index];
            const bool is_executable = part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0;
            if (is_executable && offset >= part.p_vaddr && offset - part.p_vaddr < part.p_memsz) return 1;
        }
        return 0;
    };
    return real<iterate>(call::dl_iterate_phdr)(look, &address) != 0;
}

std::uintptr_t module_base(std::uintptr_t address) noexcept {
    found_module found;
    return find_module(address, found) ? found.first : 0;
}

bool is_in_library(std::uintptr_t address, const char* name) noexcept {
    found_module found;
    if (!find_module(address, found) || found.path == nullptr) return false;
    const char* const slash = std::strrchr(found.path, '/');
    return std::strncmp(slash == nullptr ? found.path : slash + 1, name, std::strlen(name)) == 0;
}

namespace {

// Areas of ended threads, for reuse. They are not unmapped, because munmap stops every thread for a moment. Once a
// program has started many threads, new threads with the same routine continue in the area of an ended one.
struct spare_area {
    thread_area* area;
    stack_cache* cache;
};
constexpr std::uint32_t max_spares = 256, areas_of_their_own = 64;
constinit spare_area spares[max_spares] = {};
constinit std::uint32_t spare_count = 0;
constinit int spares_lock = 0; // taken when a thread begins and ends

void lock_spares() noexcept {
    while (__atomic_exchange_n(&spares_lock, 1, __ATOMIC_ACQUIRE) != 0) raw_call(SYS_sched_yield);
}
void unlock_spares() noexcept { __atomic_store_n(&spares_lock, 0, __ATOMIC_RELEASE); }

[[nodiscard]] thread_area* begin_notes(thread_state& thread) noexcept {
    kernel_figures now;
    ask_kernel_quickly(now);
    remember_figures(now);
    remember_moment();
    return thread.area;
}

/// Returns   true if the thread reuses the area of an ended thread.
bool take_spare(thread_state& thread) noexcept {
    const process_head* const process = head_of_process();
    if (process == nullptr || __atomic_load_n(&process->threads, __ATOMIC_RELAXED) < areas_of_their_own) return false;
    lock_spares();
    spare_area found{};
    for (std::uint32_t index = spare_count; index-- > 0;) {
        spare_area& each = spares[index];
        if (each.area->routine != thread.routine || each.area->kind != thread.kind) continue;
        found = each;
        each = spares[--spare_count];
        break;
    }
    unlock_spares();
    if (found.area == nullptr) return false;
    thread.area = found.area;
    thread.stacks = found.cache;
    found.area->thread = static_cast<std::uint32_t>(raw_call(SYS_gettid));
    found.area->last = 0;
    found.area->waiting_since = 0;
    for (std::uint32_t node = 0; node < found.area->nodes; ++node) { // these figures belong to another thread
        found.area->node[node].period_begin = found.area->node[node].last_asked = 0;
        found.area->node[node].open_since = 0;
    }
    constexpr std::uint32_t generations = 128;
    thread.generation = ++found.area->reused % generations;
    if (thread.generation == 0 && found.cache != nullptr) forget_stacks(*found.cache);
    return true;
}

void leave_spare(thread_area* area, stack_cache* cache) noexcept {
    lock_spares();
    const bool has_room = spare_count < max_spares;
    if (has_room) spares[spare_count++] = {area, cache};
    unlock_spares();
    if (has_room) return;
    drop_stack_cache(cache);
    raw_call(SYS_munmap, reinterpret_cast<long>(area), static_cast<long>(area_bytes));
}

}

thread_area* area_of_thread() noexcept {
    thread_state& thread = this_thread;
    if (thread.area != nullptr || thread.has_ended || thread.is_refused) [[likely]]
        return thread.area;
    if (thread.kind != thread_kind::main) ask_for_end();
    if (take_spare(thread)) return begin_notes(thread);
    thread.area = make_area();
    thread.is_refused = thread.area == nullptr;
    if (thread.is_refused) {
        if (process_head* const process = head_of_process()) {
            __atomic_fetch_add(&process->lost_threads, 1, __ATOMIC_RELAXED);
        }
        return nullptr;
    }
    thread.stacks = make_stack_cache();
    return begin_notes(thread);
}

void close_area() noexcept {
    thread_state& thread = this_thread;
    thread_area* const area = thread.area;
    thread.active = 0;
    thread.has_ended = true;
    thread.area = nullptr;
    if (area == nullptr) return;
    area->last = ticks();
    leave_spare(area, thread.stacks);
    thread.stacks = nullptr;
}

void visit_areas(void (*visit)(void* context, const thread_area& area) noexcept, void* context) noexcept {
    const process_head* const process = head_of_process();
    if (process == nullptr) return;
    const long file = raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return;
    const std::uint64_t end = __atomic_load_n(&process->file_bytes, __ATOMIC_RELAXED);
    for (std::uint64_t offset = head_bytes; offset + area_bytes <= end; offset += area_bytes) {
        void* const mapped = map_of(file, offset, area_bytes);
        if (mapped == nullptr) continue;
        if (static_cast<const thread_area*>(mapped)->first != 0)
            visit(context, *static_cast<const thread_area*>(mapped));
        raw_call(SYS_munmap, reinterpret_cast<long>(mapped), static_cast<long>(area_bytes));
    }
    raw_call(SYS_close, file);
}

void forget_after_fork() noexcept {
    thread_state& thread = this_thread;
    if (thread.area != nullptr) {
        raw_call(SYS_munmap, reinterpret_cast<long>(thread.area), static_cast<long>(area_bytes));
    }
    thread.area = nullptr;
    thread.is_refused = false;
    if (thread.stacks != nullptr) { // its stacks are indices into the parent's area
        drop_stack_cache(thread.stacks);
        thread.stacks = nullptr;
    }
    thread.node = thread.depth = 0;
    thread.active = 0;
    if (head != nullptr) raw_call(SYS_munmap, reinterpret_cast<long>(head), static_cast<long>(head_bytes));
    head = nullptr;
    file_refused = false;
    opening = adding_module = spares_lock = 0;
    spare_count = 0;
    is_child_process = true;
    if (!is_process_watched()) chosen.is_on = false;
}

}
