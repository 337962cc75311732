// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/process_state.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>

#include "observe/blocks/interpose/errno_scope.hpp"
#include "observe/tracer/record/settings.hpp"

namespace tenure::lab::tracer {

namespace format = trace_format;

namespace {

constinit std::atomic<std::uint32_t> never{0};

constexpr std::size_t max_path_bytes = 4000;
constinit char path[max_path_bytes + 64] = {}; // of the raw file
constinit std::atomic<std::uint32_t> generations{0};
constinit std::atomic<bool> is_refused{false};

void refuse(const char* what) noexcept {
    if (is_refused.exchange(true, std::memory_order_relaxed)) return;
    report_text text;
    text.text("tenure record: ").text(platform::program_name()).text(" is not recorded: ").text(what);
    report(report_kind::notice, text.view());
}

[[nodiscard]] std::uint64_t number_in(const char* variable) noexcept {
    const char* const text = host::environment(variable);
    std::uint64_t number = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
    return number;
}

[[nodiscard]] int open_file(int flags) noexcept {
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}
void close_file(int file) noexcept { static_cast<void>(::syscall(SYS_close, file)); }

/// The file is created here: a name that exists belongs to another process, or to this one before exec.
[[nodiscard]] int create_file(std::string_view wanted, bool is_first_process) noexcept {
    constexpr unsigned max_numbers = 10'000;
    int file = -1;
    for (unsigned number = 0; number < max_numbers; ++number) {
        report_text name;
        if (!is_first_process) name.text(".").number(platform::process_id());
        if (number != 0 && is_first_process) name.text(".").number(platform::process_id());
        if (number > std::uint32_t{is_first_process}) name.text(".").number(number);
        name.text(".raw");
        std::memcpy(path, wanted.data(), wanted.size());
        std::memcpy(path + wanted.size(), name.view().data(), name.view().size());
        path[wanted.size() + name.view().size()] = '\0';
        file = open_file(O_CREAT | O_EXCL);
        if (file >= 0 || errno != EEXIST) break;
    }
    return file;
}

/// Returns   zero, or why there is no room: an error number. Disk space is taken now, because a process that touches a
/// mapped page without disk space is killed.
[[nodiscard]] int grow(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    rlimit limit{}; // the kernel ends a process that writes past it
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur)
        return EFBIG;
    if (::syscall(SYS_fallocate, file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
    const char zero = 0; // a write behind the end extends the file and never shrinks it
    return ::syscall(SYS_pwrite64, file, &zero, sizeof zero, static_cast<off_t>(offset + bytes - 1)) == 1 ? 0 : errno;
}

[[nodiscard]] void* map_part(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    void* const mapped =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, static_cast<off_t>(offset));
    return mapped == MAP_FAILED ? nullptr : mapped;
}

[[nodiscard]] format::file_header* make_file(bool is_fork) noexcept {
    const char* const wanted = host::environment(file_variable);
    if (wanted == nullptr || *wanted != '/' || std::strlen(wanted) > max_path_bytes) {
        refuse("TENURE_RECORD_FILE does not name a file. Start it with tenure record.");
        return nullptr;
    }
    const int file = create_file(wanted, number_in(process_variable) == platform::process_id());
    if (file < 0) {
        refuse("its file could not be created. Choose a folder that it may write to with -o.");
        return nullptr;
    }
    const bool has_room = grow(file, 0, format::page_bytes) == 0;
    void* const mapped = has_room ? map_part(file, 0, format::page_bytes) : nullptr;
    close_file(file);
    if (mapped == nullptr) {
        refuse("there is no room for its file.");
        return nullptr;
    }
    auto* const head = static_cast<format::file_header*>(mapped);
    chosen.stack_frames =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(number_in(stacks_variable), max_stack_frames));
    chosen.sample_bytes = number_in(sample_variable);
    head->version = format::version;
    head->header_bytes = format::page_bytes;
    head->is = format::form::raw;
    head->process = static_cast<std::uint32_t>(platform::process_id());
    head->parent = static_cast<std::uint32_t>(::getppid());
    head->is_fork = is_fork ? 1 : 0;
    head->stack_frames = chosen.stack_frames;
    head->tick_shift = 10;
    head->sample_bytes = chosen.sample_bytes;
    head->started_ms = platform::unix_ms();
    head->first_ticks = platform::ticks();
    head->first_ns = platform::monotonic_ns();
    head->file_bytes = format::page_bytes;
    std::memcpy(head->magic, format::magic, sizeof head->magic); // last: now it is a trace
    return head;
}

[[nodiscard]] process_state* make_state() noexcept {
    constexpr std::size_t bytes =
        (sizeof(process_state) + format::page_bytes - 1) / format::page_bytes * format::page_bytes;
    void* const memory = platform::map(bytes, platform::page_bytes());
    if (memory == nullptr) return nullptr;
    if (::madvise(memory, bytes, MADV_WIPEONFORK) == 0) return static_cast<process_state*>(memory);
    platform::unreserve(memory, bytes);
    return nullptr;
}

class spares_scope {
public:
    explicit spares_scope(spare_parts& spares) noexcept : spares_(spares) {
        while (spares_.is_locked.exchange(1, std::memory_order_acquire) != 0) ::syscall(SYS_sched_yield);
    }
    ~spares_scope() { spares_.is_locked.store(0, std::memory_order_release); }
    spares_scope(const spares_scope&) = delete;
    spares_scope& operator=(const spares_scope&) = delete;

private:
    spare_parts& spares_;
};

[[nodiscard]] file_part take_spare() noexcept {
    spare_parts& spares = state_of_process.load(std::memory_order_relaxed)->spares;
    const spares_scope lock(spares);
    return spares.count == 0 ? file_part{} : spares.parts[--spares.count];
}

void refuse_growth(int why) noexcept {
    format::file_header& head = *state_of_process.load(std::memory_order_relaxed)->head;
    std::atomic_ref(head.refusal).store(static_cast<std::uint32_t>(why), std::memory_order_relaxed);
}

}

constinit std::atomic<process_state*> state_of_process{nullptr};
constinit std::atomic<const std::atomic<std::uint32_t>*> generation_of_process{&never};
constinit chosen_settings chosen{};

bool begin_recording() noexcept {
    if (is_refused.load(std::memory_order_relaxed) || !host::has_environment()) return false;
    const blocks::errno_scope errors;
    process_state* state = state_of_process.load(std::memory_order_acquire);
    if (state == nullptr) {
        process_state* const made = make_state();
        if (made == nullptr) {
            refuse("the system gives it no memory that forks leave out (Linux 4.14).");
            return false;
        }
        if (state_of_process.compare_exchange_strong(state, made, std::memory_order_acq_rel)) state = made;
        generation_of_process.store(&state->generation, std::memory_order_release);
    }
    while (state->is_beginning.exchange(1, std::memory_order_acquire) != 0) ::syscall(SYS_sched_yield);
    if (state->generation.load(std::memory_order_relaxed) == 0) {
        const std::uint32_t generation = generations.fetch_add(1, std::memory_order_relaxed) + 1;
        state->head = make_file(generation > 1);
        // A fork's child has no constructor to do it, and may end without destructors.
        if (state->head != nullptr && generation > 1) write_texts();
        if (state->head != nullptr) state->generation.store(generation, std::memory_order_release);
    }
    state->is_beginning.store(0, std::memory_order_release);
    return state->head != nullptr;
}

file_part add_chunk() noexcept {
    const blocks::errno_scope errors;
    format::file_header& head = *state_of_process.load(std::memory_order_relaxed)->head;
    if (std::atomic_ref(head.refusal).load(std::memory_order_relaxed) != 0) return {};
    if (const file_part spare = take_spare(); spare.memory != nullptr) return spare;
    const int file = open_file(0);
    if (file < 0) {
        refuse_growth(errno);
        return {};
    }
    file_part added{nullptr, chunk_bytes};
    const std::uint64_t offset = std::atomic_ref(head.file_bytes).fetch_add(chunk_bytes, std::memory_order_relaxed);
    int why = grow(file, offset, chunk_bytes);
    if (why == 0) added.memory = map_part(file, offset, chunk_bytes);
    if (why == 0 && added.memory == nullptr) why = errno;
    close_file(file);
    if (why != 0) refuse_growth(why);
    return added;
}

void release_chunk(format::chunk_header& chunk) noexcept {
    constexpr std::uint32_t least_spare_bytes = 2 * format::page_bytes;
    const blocks::errno_scope errors;
    // An event that was written again may have left bytes behind it.
    const std::size_t touched = sizeof chunk + chunk.used + max_event_bytes;
    const auto used =
        std::min(chunk.bytes, static_cast<std::uint32_t>(align_up(touched, std::size_t{format::page_bytes})));
    const std::uint32_t rest = chunk.bytes - used;
    std::uint32_t unmapped = chunk.bytes;
    if (rest >= least_spare_bytes) {
        spare_parts& spares = state_of_process.load(std::memory_order_relaxed)->spares;
        const spares_scope lock(spares);
        if (spares.count < spare_parts::capacity) {
            chunk.bytes = unmapped = used;
            spares.parts[spares.count++] = {reinterpret_cast<char*>(&chunk) + used, rest};
        }
    }
    static_cast<void>(::munmap(&chunk, unmapped));
}

void note_exit() noexcept {
    format::file_header& head = *state_of_process.load(std::memory_order_relaxed)->head;
    head.last_ns = platform::monotonic_ns();
    std::atomic_ref(head.last_ticks).store(platform::ticks(), std::memory_order_release);
}

}
