// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/background.hpp>

#include <atomic>
#include <cstddef>

#include <tenure/platform/clock.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

using background_function = void (*)() noexcept;

struct own_thread_state {
    // Written by the thread that starts it, after the previous one has ended.
    background_function function = nullptr;
    HANDLE wake = nullptr;  ///< an event: the thread is to stop
    HANDLE ended = nullptr; ///< an event: the thread runs no code of this module any more
    HANDLE thread = nullptr;
    // Sequentially consistent: each changes once in the life of the thread, and guards nothing.
    std::atomic<bool> has_begun{false}; ///< to run code of this module
    std::atomic<background_phase> phase{background_phase::none};
    std::atomic<bool> is_stopped{false}; ///< once true, it stays true: nothing can start a thread
};
constinit own_thread_state own{};

using describe_function = HRESULT(__stdcall*)(HANDLE, const wchar_t*);
constinit describe_function describe_thread = nullptr;

// At load: a thread that starts the background thread may hold a lock for which the holder of the loader's lock waits.
TENURE_AT_LOAD(find_describe_thread) {
    describe_thread = function_of<describe_function>(L"kernelbase.dll", "SetThreadDescription");
}

// Asks the loader for nothing, whose lock an unloading thread has while it waits for this one. The last call is a jump:
// it returns to the system. So once the event is set, this module may be unloaded.
DWORD __stdcall run(void*) noexcept {
    own.has_begun.store(true);
    if (describe_thread != nullptr) describe_thread(::GetCurrentThread(), L"tenure");
    own.phase.store(background_phase::running);
    own.function();
    own.phase.store(background_phase::none);
    const HANDLE ended = own.ended;
    return static_cast<DWORD>(::SetEvent(ended));
}

void wait_until_ended() noexcept {
    constexpr DWORD longest_ms = 10'000;
    if (own.thread == nullptr) return;
    ::WaitForSingleObject(own.ended, longest_ms);
    ::CloseHandle(own.thread);
    own.thread = nullptr;
}

/// A new thread waits for the loader's lock before it begins. If the unloading thread has it, the new one never may: it
/// is taken back. It holds nothing.
void take_back_new_thread() noexcept {
    if (own.thread == nullptr || own.has_begun.load()) return;
    ::SuspendThread(own.thread);
    CONTEXT seen{};
    seen.ContextFlags = CONTEXT_CONTROL;
    ::GetThreadContext(own.thread, &seen); // waits until it is suspended
    if (own.has_begun.load()) {
        ::ResumeThread(own.thread);
        return;
    }
    ::TerminateThread(own.thread, 0);
    ::WaitForSingleObject(own.thread, INFINITE);
    ::CloseHandle(own.thread);
    own.thread = nullptr;
}

// When a plug-in with a static copy is unloaded, the thread must not go on in code that is gone. The caller holds the
// loader's lock, which a thread needs to end, so this waits for the event and not for the thread. At the end of the
// process the thread has been stopped already.
__attribute__((destructor)) void stop_when_unloaded() noexcept {
    if (is_process_ending() || !is_unloadable()) return;
    own.is_stopped.store(true);
    if (own.wake != nullptr) ::SetEvent(own.wake);
    take_back_new_thread();
    wait_until_ended();
    if (own.wake != nullptr) ::CloseHandle(own.wake);
    if (own.ended != nullptr) ::CloseHandle(own.ended);
    own.wake = own.ended = nullptr;
}

[[nodiscard]] bool has_events() noexcept {
    if (own.wake == nullptr) own.wake = ::CreateEventW(nullptr, TRUE, FALSE, nullptr);
    if (own.ended == nullptr) own.ended = ::CreateEventW(nullptr, TRUE, FALSE, nullptr);
    return own.wake != nullptr && own.ended != nullptr;
}

}

bool is_unloadable() noexcept {
#if defined(TENURE_SHARED) || defined(TENURE_DROPIN)
    return false; // module.cpp
#else
    return module_of(&own) != ::GetModuleHandleW(nullptr);
#endif
}

background_start start_background(background_function function) noexcept {
    constexpr std::size_t stack_bytes = std::size_t{256} * 1024;
    if (own.is_stopped.load() || is_process_ending()) return background_start::impossible;
    const kept_error kept;
    wait_until_ended();
    if (!has_events()) return background_start::refused;
    ::ResetEvent(own.ended);
    own.function = function;
    own.has_begun.store(false);
    own.phase.store(background_phase::passing);
    own.thread = ::CreateThread(nullptr, stack_bytes, &run, nullptr, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
    if (own.thread == nullptr) {
        own.phase.store(background_phase::none);
        return background_start::refused;
    }
    return background_start::started;
}

bool sleep_in_background(std::uint64_t time_ns) noexcept {
    constexpr std::uint64_t ns_per_ms = 1'000'000, longest_ms = 0x7FFF'FFFF;
    const std::uint64_t ms = (time_ns + ns_per_ms - 1) / ns_per_ms;
    ::WaitForSingleObject(own.wake, static_cast<DWORD>(ms < longest_ms ? ms : longest_ms));
    return !own.is_stopped.load();
}

bool is_background_stopped() noexcept { return own.is_stopped.load(std::memory_order_relaxed); }

background_phase phase_of_background() noexcept { return own.phase.load(); }

void forget_background() noexcept {}

}
