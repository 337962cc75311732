// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <atomic>

#include <tenure/platform/background.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/windows/system.hpp>
#include <tenure/platform/windows/thread_copies.hpp>

// The system announces the end of every thread, whoever has started it, twice. First it calls the function of a slot of
// fiber-local storage (FlsAlloc), without a lock: there the thread gives back what it holds. Then it tells each module,
// under the loader's lock (DLL_THREAD_DETACH): destructors of thread_local objects run there, and what they have used
// of the library is given back by a function behind them (.CRT$XLX).

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::size_t max_functions = 8;
constexpr std::uint32_t max_rounds = 4;

struct end_slots {
    platform::mutex mutex;
    // Written under the lock; released, and acquired by the ends of threads.
    std::atomic<thread_end_function> functions[max_functions]{};
    std::atomic<DWORD> fiber_slot{FLS_OUT_OF_INDEXES};
};
constinit end_slots slots_of_process{};

struct thread_ends {
    std::uint32_t wanted = 0; ///< a bit for each function
    std::uint32_t rounds = 0;
    bool is_ending = false, is_announced = false;
};
TENURE_OWN_THREAD_LOCAL(thread_ends, ends_of_thread)

void call_round(thread_ends& ends) noexcept {
    ++ends.rounds;
    ends.is_ending = true;
    const std::uint32_t wanted = ends.wanted;
    ends.wanted = 0;
    for (std::size_t index = 0; index < max_functions; ++index) {
        if ((wanted >> index & 1) == 0) continue;
        if (const auto function = slots_of_process.functions[index].load(std::memory_order_acquire)) function();
    }
}

/// Also called when a fiber is deleted, perhaps by another thread, and for all threads when the slot is freed.
void __stdcall end_of_fiber_slot(void* distance) noexcept {
    if (is_process_ending() || reinterpret_cast<std::uintptr_t>(distance) != thread_copy()) return;
    if (::IsThreadAFiber() != 0) return; // it may go on with another fiber
    if (slots_of_process.fiber_slot.load() == FLS_OUT_OF_INDEXES) return;
    thread_ends& ends = ends_of_thread();
    ends.is_announced = false;
    if (ends.rounds < max_rounds) call_round(ends);
}

[[nodiscard]] DWORD fiber_slot() noexcept {
    DWORD slot = slots_of_process.fiber_slot.load(std::memory_order_acquire);
    if (slot != FLS_OUT_OF_INDEXES) return slot;
    const lock_guard lock(slots_of_process.mutex);
    slot = slots_of_process.fiber_slot.load(std::memory_order_relaxed);
    if (slot != FLS_OUT_OF_INDEXES) return slot;
    slot = ::FlsAlloc(&end_of_fiber_slot);
    slots_of_process.fiber_slot.store(slot, std::memory_order_release);
    return slot;
}

/// Without a slot, the thread's end is told under the loader's lock alone.
void announce(thread_ends& ends) noexcept {
    if (ends.is_announced || ends.is_ending) return;
    const kept_error kept;
    const DWORD slot = fiber_slot();
    ends.is_announced = slot == FLS_OUT_OF_INDEXES || ::FlsSetValue(slot, reinterpret_cast<void*>(thread_copy())) != 0;
}

/// The index of the function's slot, created for a new function; max_functions when none is left.
std::size_t slot_of(thread_end_function function) noexcept {
    for (std::size_t index = 0; index < max_functions; ++index) {
        if (slots_of_process.functions[index].load(std::memory_order_acquire) == function) return index;
    }
    const lock_guard lock(slots_of_process.mutex);
    for (std::size_t index = 0; index < max_functions; ++index) {
        const thread_end_function present = slots_of_process.functions[index].load(std::memory_order_acquire);
        if (present == function) return index;
        if (present != nullptr) continue;
        slots_of_process.functions[index].store(function, std::memory_order_release);
        return index;
    }
    return max_functions;
}

void end_of_thread_in_loader() noexcept {
    if (thread_copy() == 0) return; // it has not used the library
    for (thread_ends& ends = ends_of_thread(); ends.wanted != 0 && ends.rounds < max_rounds;) call_round(ends);
    end_thread_copy();
    ends_of_thread().rounds = max_rounds; // of the last copy: nothing would be called for what it opens
    ends_of_thread().is_ending = true;
}

/// The code of a plug-in goes: the system must not call into it when threads end later.
void end_of_module() noexcept {
    const DWORD slot = slots_of_process.fiber_slot.exchange(FLS_OUT_OF_INDEXES);
    if (slot != FLS_OUT_OF_INDEXES) ::FlsFree(slot);
}

void __stdcall hear_of_threads(void*, DWORD what, void* is_end_of_process) noexcept {
    if (what == DLL_PROCESS_ATTACH) (void)thread_copy(); // takes the slot, before any constructor runs
    if (what == DLL_THREAD_DETACH && !is_process_ending()) end_of_thread_in_loader();
    if (what == DLL_PROCESS_DETACH && is_end_of_process == nullptr) end_of_module();
}

// Behind the compiler's and winpthreads' own functions. The linker keeps it with the functions around it.
extern "C" {
TENURE_IN_SECTION(".CRT$XLX") extern const PIMAGE_TLS_CALLBACK tenure_hears_of_threads;
const PIMAGE_TLS_CALLBACK tenure_hears_of_threads = &hear_of_threads;
}

TENURE_AT_UNLOAD(forget_copies) {
    if (is_unloadable() && !is_process_ending()) forget_thread_copies();
}

}

std::size_t thread_end_rounds() noexcept { return max_rounds; }

bool is_thread_ending() noexcept { return ends_of_thread().is_ending; }

bool has_end_slot(thread_end_function function) noexcept {
    return ends_of_thread().rounds < max_rounds && slot_of(function) != max_functions;
}

bool at_thread_end(thread_end_function function) noexcept {
    thread_ends& ends = ends_of_thread();
    const std::size_t index = ends.rounds < max_rounds ? slot_of(function) : max_functions;
    if (index == max_functions) return false;
    announce(ends);
    ends.wanted |= std::uint32_t{1} << index;
    return true;
}

bool is_process_ending() noexcept {
    using query = BOOLEAN(__stdcall*)();
    static constinit std::atomic<query> known{nullptr}; // relaxed: every thread finds the same code of the system
    query asked = known.load(std::memory_order_relaxed);
    if (asked == nullptr) {
        asked = function_of<query>(L"ntdll.dll", "RtlDllShutdownInProgress");
        if (asked == nullptr) return false;
        known.store(asked, std::memory_order_relaxed);
    }
    return asked() != 0;
}

}
