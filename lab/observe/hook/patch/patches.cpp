// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Writes the planned jumps into functions of the program, and detects when these functions return.
///
///     function:  jmp thunk            thunk:  push number; jmp entry
///                int3 …                       moved instructions; jmp function + bytes
///
/// The entry preserves every register: a compiler that sees caller and callee of a static function relies on registers
/// that the callee does not use. Exceptions search unwind tables by return address, so the address of
/// tenure_hook_return has a table entry that leads unwinders to the real return address.

#include "observe/hook/patch/patches.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/interpose/real.hpp"
#include "observe/hook/record/regions.hpp"

namespace tenure::lab::hook {

namespace {

constexpr std::uint32_t max_entered = 64;

// The table in which unwinders find the replaced return addresses. It is at a fixed address and indexed by the stack
// address, because an unwind table can express nothing else.
constexpr std::uintptr_t returns_at = 0x6e54'0000'0000, returns_bytes = std::uintptr_t{8} << 20U;
constexpr std::uintptr_t returns_mask = returns_bytes - sizeof(std::uintptr_t);

[[nodiscard]] std::uintptr_t& return_of(const std::uintptr_t* slot) noexcept {
    return *reinterpret_cast<std::uintptr_t*>(returns_at + (reinterpret_cast<std::uintptr_t>(slot) & returns_mask));
}
/// False when another thread uses the entry: its stack is a multiple of the table's size away.
[[nodiscard]] bool take_line(const std::uintptr_t* slot) noexcept {
    std::uintptr_t free = 0;
    return __atomic_compare_exchange_n(&return_of(slot), &free, *slot, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
void give_line(const std::uintptr_t* slot) noexcept { __atomic_store_n(&return_of(slot), 0, __ATOMIC_RELAXED); }

struct patch {
    planned_patch plan;
    std::uintptr_t function = 0; ///< address in the process; 0: not patched yet
    std::uintptr_t moved = 0;    ///< copy of its first instructions, followed by the jump back
    std::uint32_t region = no_region;
};

constinit patch patches[max_patches] = {};
constinit std::uint32_t patch_count = 0;
constinit bool has_returns = false; // the table is mapped

// Functions that have not returned. An entry that was left by a jump (longjmp) stays as long as the hook's return
// address is in its slot: if it is on another stack of the thread it may still be alive, and its real return address is
// stored nowhere else.
struct entered_function {
    std::uintptr_t* slot;
    std::uintptr_t real;
    std::uint32_t depth; // number of regions around its own
    bool has_left;       // its region has ended
};
constinit thread_local entered_function entered[max_entered] = {};
constinit thread_local std::uint32_t entered_count = 0;

}

}

extern "C" {

void tenure_hook_entry();  // patched functions jump here with their number on the stack, above the return address
void tenure_hook_return(); // and return here
[[gnu::visibility("hidden")]] constinit int tenure_hook_registers = 0; // 0: SSE, 1: AVX, 2: AVX-512

[[gnu::visibility("hidden"), gnu::used]] std::uintptr_t tenure_hook_enter(std::uintptr_t number, std::uintptr_t* slot);
[[gnu::visibility("hidden"), gnu::used]] std::uintptr_t tenure_hook_leave(std::uintptr_t* slot);
}

// Both preserve all registers that a function may leave unchanged. Each returns to the address in the word that it
// leaves on the stack.
__asm__(R"(
        .text
        .macro TENURE_SAVE
        push %rax
        push %rcx
        push %rdx
        push %rsi
        push %rdi
        push %r8
        push %r9
        push %r10
        push %r11
        push %rbx
        mov %rsp, %rbx
        sub $2112, %rsp
        and $-64, %rsp
        cmpl $1, tenure_hook_registers(%rip)
        jb 1f
        je 2f
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 %zmm\n, \n*64(%rsp)
        .endr
        .irp n, 0,1,2,3,4,5,6,7
        kmovq %k\n, 2048+\n*8(%rsp)
        .endr
        jmp 3f
2:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovups %ymm\n, \n*32(%rsp)
        .endr
        jmp 3f
1:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups %xmm\n, \n*16(%rsp)
        .endr
3:
        .endm
        .macro TENURE_RESTORE
        cmpl $1, tenure_hook_registers(%rip)
        jb 4f
        je 5f
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 \n*64(%rsp), %zmm\n
        .endr
        .irp n, 0,1,2,3,4,5,6,7
        kmovq 2048+\n*8(%rsp), %k\n
        .endr
        jmp 6f
5:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovups \n*32(%rsp), %ymm\n
        .endr
        jmp 6f
4:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups \n*16(%rsp), %xmm\n
        .endr
6:      mov %rbx, %rsp
        pop %rbx
        pop %r11
        pop %r10
        pop %r9
        pop %r8
        pop %rdi
        pop %rsi
        pop %rdx
        pop %rcx
        pop %rax
        .endm

        .globl tenure_hook_entry
        .hidden tenure_hook_entry
        .type tenure_hook_entry, @function
tenure_hook_entry:
        TENURE_SAVE
        mov 80(%rbx), %rdi
        lea 88(%rbx), %rsi
        cld
        call tenure_hook_enter
        mov %rax, 80(%rbx)
        TENURE_RESTORE
        ret
        .size tenure_hook_entry, . - tenure_hook_entry

        // Unwinders look up the byte before a return address. The entry that they find there says: the stack pointer
        // stays the same (CFA - 8; an unwinder would mistake a frame with the same CFA for the inner one), and the real
        // return address is in the table at 0x6e5400000000, at offset (CFA - 16) & 0x7ffff8.
        .cfi_startproc
        .cfi_def_cfa %rsp, 8
        .cfi_escape 0x16, 0x07, 0x03, 0x08, 0x08, 0x1c
        .cfi_escape 0x10, 0x10, 0x13, 0x08, 0x10, 0x1c, 0x0c, 0xf8, 0xff, 0x7f, 0x00, 0x1a
        .cfi_escape 0x0e, 0x00, 0x00, 0x00, 0x00, 0x54, 0x6e, 0x00, 0x00, 0x22
        nop
        .globl tenure_hook_return
        .hidden tenure_hook_return
        .type tenure_hook_return, @function
tenure_hook_return:
        push $0
        TENURE_SAVE
        lea 80(%rbx), %rdi
        cld
        call tenure_hook_leave
        mov %rax, 80(%rbx)
        TENURE_RESTORE
        ret
        .size tenure_hook_return, . - tenure_hook_return
        .cfi_endproc
)");

namespace tenure::lab::hook {

namespace {

[[nodiscard]] std::uintptr_t return_address() noexcept { return reinterpret_cast<std::uintptr_t>(&tenure_hook_return); }

// A signal handler may interrupt the code below and call a watched function. That call is not recorded.
constinit thread_local volatile bool is_busy = false;

class busy {
public:
    busy() noexcept { is_busy = true; }
    ~busy() { is_busy = false; }
    busy(const busy&) = delete;
    busy& operator=(const busy&) = delete;
};

void leave_region(entered_function& of) noexcept {
    if (!of.has_left) leave_at(of.depth); // a mark that began inside the function stays open
    of.has_left = true;
}

/// Removes functions that a jump or an exception has left: their return slots are at or below `slot`.
void forget_below(const std::uintptr_t* slot) noexcept {
    for (std::uint32_t index = entered_count; index-- > 0;) {
        entered_function& each = entered[index];
        if (each.slot > slot) break;
        leave_region(each);
    }
    while (entered_count > 0 && entered[entered_count - 1].has_left &&
           *entered[entered_count - 1].slot != return_address()) {
        give_line(entered[entered_count - 1].slot);
        --entered_count;
    }
}

// A function's region has the name that the user asked for.
[[nodiscard]] std::uint32_t region_of(patch& of) noexcept {
    if (of.region != no_region) return of.region;
    of.region =
        hook::region_of(region_kind::function, of.function, of.function, of.plan.name, std::strlen(of.plan.name));
    return of.region;
}

void write_code(unsigned char*& to, const void* bytes, std::size_t count) noexcept {
    std::memcpy(to, bytes, count);
    to += count;
}

/// jmp to the address in the next word
void write_jump(unsigned char*& to, std::uintptr_t target) noexcept {
    constexpr unsigned char jump[] = {0xFF, 0x25, 0, 0, 0, 0};
    write_code(to, jump, sizeof jump);
    write_code(to, &target, sizeof target);
}

constexpr long page = 4096;
constexpr std::intptr_t reach = std::intptr_t{1} << 30U; // half a jump's reach; the rest is for moved targets

/// Maps a page within reach of a function and of the targets of its first instructions.
[[nodiscard]] unsigned char* page_near(std::uintptr_t function) noexcept {
    constexpr std::intptr_t step = std::intptr_t{1} << 20U;
    for (std::intptr_t distance = step; distance < reach; distance += step) {
        for (const std::intptr_t each : {-distance, distance}) { // below first: the heap grows above the program
            const long at = static_cast<long>((function + static_cast<std::uintptr_t>(each)) & ~std::uintptr_t{4095});
            constexpr int no_replace = 0x10'0000;
            const long got =
                raw_call(SYS_mmap, at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | no_replace, -1, 0);
            if (got == at) return reinterpret_cast<unsigned char*>(got);
            if (got > 0 || got < -4095) raw_call(SYS_munmap, got, page);
        }
    }
    return nullptr;
}

enum class other_threads : std::uint8_t { none, some, unknown };

/// Whether another thread could execute the code while it is written. The link count of /proc/self/task is two plus one
/// for each thread. Without /proc it is unknown.
[[nodiscard]] other_threads find_other_threads() noexcept {
    struct stat about {};
    constexpr unsigned own_links = 2;
    if (raw_call(SYS_stat, reinterpret_cast<long>("/proc/self/task"), reinterpret_cast<long>(&about)) != 0)
        return other_threads::unknown;
    return about.st_nlink == own_links + 1 ? other_threads::none : other_threads::some;
}

constexpr std::uint32_t jump_bytes = 5;

/// Whether the jump replaces one instruction within one aligned word, so that a single store replaces it.
[[nodiscard]] bool is_one_store(const planned_patch& plan, std::uintptr_t function) noexcept {
    return plan.first_bytes >= jump_bytes && function % sizeof(std::uint64_t) <= sizeof(std::uint64_t) - jump_bytes;
}

/// Makes every thread refetch its instructions. With `is_asked` it only registers the process. Returns   false when the
/// kernel does not support it.
[[nodiscard]] bool refetch(bool is_asked) noexcept {
    constexpr long expedited_core = 32, register_expedited_core = 64; // commands of membarrier(), Linux 4.16 and later
    return raw_call(SYS_membarrier, is_asked ? register_expedited_core : expedited_core, 0, 0) == 0;
}

/// Writes the first five bytes. No thread executes the remaining bytes of the old instruction.
void write_at_once(std::uintptr_t function, const unsigned char* bytes) noexcept {
    auto* const word = reinterpret_cast<std::uint64_t*>(function & ~std::uintptr_t{sizeof(std::uint64_t) - 1});
    std::uint64_t changed = *word;
    std::memcpy(reinterpret_cast<unsigned char*>(&changed) + function % sizeof changed, bytes, jump_bytes);
    __atomic_store_n(word, changed, __ATOMIC_SEQ_CST);
    static_cast<void>(refetch(false)); // cannot fail: the registration succeeded
}

/// Writes the code that the jump leads to, then the function's first instructions and the jump back. Returns   the
/// address of these instructions; 0 when their targets are out of reach.
[[nodiscard]] std::uintptr_t write_thunk(unsigned char* code, const planned_patch& plan, std::uintptr_t base,
                                         std::uint32_t number) noexcept {
    *code++ = 0x68; // push
    write_code(code, &number, sizeof number);
    write_jump(code, reinterpret_cast<std::uintptr_t>(&tenure_hook_entry));
    const auto moved = reinterpret_cast<std::uintptr_t>(code);
    write_code(code, plan.moved, plan.moved_bytes);
    write_jump(code, base + plan.address + plan.bytes);
    for (std::uint32_t index = 0; index < plan.fixes; ++index) {
        const code_fix& fix = plan.fix[index];
        if (fix.kind != fix_kind::distance) {
            const std::uint64_t address = base + fix.target;
            const auto half = static_cast<std::uint32_t>(fix.kind == fix_kind::low_half ? address : address >> 32U);
            std::memcpy(reinterpret_cast<void*>(moved + fix.at), &half, sizeof half);
            continue;
        }
        const auto distance = static_cast<std::int64_t>(base + fix.target - (moved + fix.next));
        const auto short_distance = static_cast<std::int32_t>(distance);
        if (distance != short_distance) return 0;
        std::memcpy(reinterpret_cast<void*>(moved + fix.at), &short_distance, sizeof short_distance);
    }
    return moved;
}

[[nodiscard]] bool set_rights(std::uintptr_t first, std::uintptr_t bytes, int rights) noexcept {
    return raw_call(SYS_mprotect, static_cast<long>(first), static_cast<long>(bytes), rights) == 0;
}

/// Writes the jump to the begin of the function. Returns   nullptr, or the reason for the failure; the function is then
/// unchanged.
[[nodiscard]] const char* write_to_function(const planned_patch& plan, std::uintptr_t function,
                                            const unsigned char* thunk) noexcept {
    constexpr auto page_mask = static_cast<std::uintptr_t>(page - 1);
    const std::uintptr_t first = function & ~page_mask;
    const std::uintptr_t bytes = ((function + plan.bytes + page_mask) & ~page_mask) - first;
    const auto distance = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(thunk) -
                                                    static_cast<std::intptr_t>(function + jump_bytes));
    const other_threads others = find_other_threads();
    const bool at_once = others != other_threads::none;
    if (at_once && (!is_one_store(plan, function) || !refetch(true))) {
        return others == other_threads::unknown
                   ? " is not watched: without /proc it is unknown whether other threads are executing it"
                   : " is not watched: other threads may be executing its first instructions";
    }
    if (!set_rights(first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
        return " is not watched: the system does not allow writing to code";
    unsigned char jump[max_patched_bytes];
    std::memset(jump, 0xCC, sizeof jump); // breakpoints behind the jump; never executed
    jump[0] = 0xE9;
    std::memcpy(jump + 1, &distance, sizeof distance);
    const auto write = [&](const unsigned char* code) noexcept {
        if (at_once) return write_at_once(function, code);
        std::memcpy(reinterpret_cast<void*>(function), code, plan.bytes);
    };
    write(jump);
    if (set_rights(first, bytes, PROT_READ | PROT_EXEC)) return nullptr;
    write(plan.original);
    return set_rights(first, bytes, PROT_READ | PROT_EXEC)
               ? " is not watched: the system did not make its code read-only again at the first attempt"
               : " is not watched: the system does not make its code read-only again; the code stays writable";
}

[[nodiscard]] const char* apply(patch& to, std::uintptr_t base, std::uint32_t number) noexcept {
    const std::uintptr_t function = base + to.plan.address;
    if (std::memcmp(reinterpret_cast<const void*>(function), to.plan.original, to.plan.bytes) != 0) {
        return " is not watched: its first bytes in the process differ from those in its file";
    }
    unsigned char* const thunk = page_near(function);
    if (thunk == nullptr) return " is not watched: there is no free page within reach of it";
    const std::uintptr_t moved = write_thunk(thunk, to.plan, base, number);
    const char* refusal = nullptr;
    if (moved == 0) refusal = " is not watched: its first instructions refer to addresses out of reach";
    if (refusal == nullptr && !set_rights(reinterpret_cast<std::uintptr_t>(thunk), page, PROT_READ | PROT_EXEC))
        refusal = " is not watched: the system does not allow executing memory that was written";
    if (refusal == nullptr) {
        to.moved = moved;
        __atomic_store_n(&to.function, function, __ATOMIC_RELEASE); // before a thread can reach it through the jump
        refusal = write_to_function(to.plan, function, thunk);
    }
    return refusal; // the page stays mapped: a thread may have taken a jump that was removed again
}

/// Whether the module is that file. Programs that the watched program starts read the plan too.
[[nodiscard]] bool is_file_of(const dl_phdr_info& module, const char* path, bool is_first) noexcept {
    struct stat wanted {
    }, found{};
    const char* const name = is_first ? "/proc/self/exe" : module.dlpi_name;
    return name != nullptr && *name != '\0' &&
           raw_call(SYS_stat, reinterpret_cast<long>(path), reinterpret_cast<long>(&wanted)) == 0 &&
           raw_call(SYS_stat, reinterpret_cast<long>(name), reinterpret_cast<long>(&found)) == 0 &&
           wanted.st_ino == found.st_ino && wanted.st_dev == found.st_dev;
}

/// Whether the bytes are code of the module.
[[nodiscard]] bool has_code(const dl_phdr_info& module, std::uint64_t address, std::uint64_t bytes) noexcept {
    for (int index = 0; index < module.dlpi_phnum; ++index) {
        const ElfW(Phdr)& part = module.dlpi_phdr[index];
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && address >= part.p_vaddr &&
            address - part.p_vaddr <= part.p_memsz && bytes <= part.p_memsz - (address - part.p_vaddr)) {
            return true;
        }
    }
    return false;
}

int apply_to_module(dl_phdr_info* module, std::size_t, void* data) noexcept {
    auto& index_of_module = *static_cast<std::uint32_t*>(data);
    for (std::uint32_t index = 0; index < patch_count; ++index) {
        patch& each = patches[index];
        if (__atomic_load_n(&each.function, __ATOMIC_RELAXED) != 0 ||
            !is_file_of(*module, each.plan.module, index_of_module == 0))
            continue;
        if (!has_code(*module, each.plan.address, each.plan.bytes)) continue; // the file has changed
        const char* const refusal = apply(each, module->dlpi_addr, index);
        if (refusal != nullptr) {
            note_notice(refusal, each.plan.name);
            __atomic_store_n(&each.function, 1, __ATOMIC_RELAXED); // do not try again
        }
    }
    ++index_of_module;
    return 0;
}

}

void read_plan(const char* path) noexcept {
    if (path == nullptr || *path == '\0') return;
    const long file = raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    while (patch_count < max_patches) {
        const long got =
            raw_call(SYS_read, file, reinterpret_cast<long>(&patches[patch_count].plan), sizeof(planned_patch));
        if (got != static_cast<long>(sizeof(planned_patch))) break;
        ++patch_count;
    }
    raw_call(SYS_close, file);
    constexpr int no_replace = 0x10'0000;
    has_returns =
        raw_call(SYS_mmap, static_cast<long>(returns_at), static_cast<long>(returns_bytes), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | no_replace, -1, 0) == static_cast<long>(returns_at);
    if (__builtin_cpu_supports("avx")) tenure_hook_registers = __builtin_cpu_supports("avx512bw") ? 2 : 1;
}

namespace {

/// Whether the processor has a shadow stack, which detects replaced return addresses.
[[nodiscard]] bool has_shadow_stack() noexcept {
    constexpr long status = 0x5005; // of arch_prctl(), Linux 6.6 and later
    std::uint64_t features = 0;
    return raw_call(SYS_arch_prctl, status, reinterpret_cast<long>(&features)) == 0 && (features & 1U) != 0;
}

}

void apply_patches() noexcept {
    bool is_done = true;
    for (std::uint32_t index = 0; index < patch_count; ++index) {
        is_done = is_done && __atomic_load_n(&patches[index].function, __ATOMIC_RELAXED) != 0;
    }
    if (is_done) return;
    if (has_shadow_stack() || !has_returns) {
        for (std::uint32_t index = 0; index < patch_count; ++index) {
            if (__atomic_exchange_n(&patches[index].function, 1, __ATOMIC_RELAXED) == 0) // do not try again
                note_notice(has_returns ? " is not watched: its process has a shadow stack"
                                        : " is not watched: its process uses addresses that the hook needs",
                            patches[index].plan.name);
        }
        return;
    }
    std::uint32_t module = 0;
    using iterate = int(int (*)(dl_phdr_info*, std::size_t, void*), void*);
    real<iterate>(call::dl_iterate_phdr)(apply_to_module, &module);
}

std::uintptr_t replaced_return(std::uintptr_t found, std::uintptr_t slot) noexcept {
    if (found != return_address()) return 0;
    for (std::uint32_t index = entered_count; index-- > 0;) {
        if (reinterpret_cast<std::uintptr_t>(entered[index].slot) == slot) return entered[index].real;
    }
    return 0;
}

void forget_patch_regions() noexcept {
    for (patch& each : patches) each.region = no_region;
    for (std::uint32_t index = 0; index < entered_count; ++index) entered[index].has_left = true;
}

void forget_entered() noexcept {
    const busy no_handler;
    while (entered_count > 0) {
        leave_region(entered[entered_count - 1]);
        give_line(entered[--entered_count].slot);
    }
}

bool is_return_of_ours(std::uintptr_t address) noexcept { return address == return_address(); }

}

using namespace tenure::lab::hook;

std::uintptr_t tenure_hook_enter(std::uintptr_t number, std::uintptr_t* slot) {
    patch& of = patches[number];
    // A watched function that tail-calls another leaves the hook's return address in place already. On a stack other
    // than the thread's own, the hook could not tell later whether the frame still exists.
    const bool is_own = is_on_own_stack(reinterpret_cast<std::uintptr_t>(slot));
    if (!chosen.is_on || !is_own || is_busy || *slot == return_address()) return of.moved;
    const busy no_handler;
    forget_below(slot);
    // Slots of two stacks may share an entry of the table. The second call is not watched meanwhile.
    if (entered_count == max_entered || !take_line(slot)) {
        note_unseen_entry();
        return of.moved;
    }
    entered[entered_count] = {slot, *slot, this_thread.depth, false};
    enter(region_of(of), 0);
    ++entered_count;
    *slot = return_address();
    return of.moved;
}

std::uintptr_t tenure_hook_leave(std::uintptr_t* slot) {
    const busy no_handler;
    for (std::uint32_t index = entered_count; index-- > 0;) {
        if (entered[index].slot != slot) continue;
        const std::uintptr_t to = entered[index].real;
        for (std::uint32_t inner = entered_count; inner-- > index;) leave_region(entered[inner]);
        for (std::uint32_t later = index; later + 1 < entered_count; ++later) entered[later] = entered[later + 1];
        --entered_count;
        give_line(slot);
        return to;
    }
    __builtin_trap(); // only a replaced return address leads here
}

extern "C" {

// An exception ends the functions that it passes through: those whose return slots are below the catcher's frame, or
// right at its end, where the slot of this call is.
void* __cxa_begin_catch(void* exception) {
    auto* const frame = static_cast<std::uintptr_t*>(__builtin_frame_address(0));
    if (!is_busy && is_on_own_stack(reinterpret_cast<std::uintptr_t>(frame))) {
        const busy no_handler;
        forget_below(frame + 1);
    }
    return real<void*(void*)>(call::begin_catch)(exception);
}
}
