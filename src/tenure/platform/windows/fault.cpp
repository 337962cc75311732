// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fault.hpp>

#include <atomic>

#include <tenure/base/host.hpp>
#include <tenure/platform/background.hpp>
#include <tenure/platform/windows/stack_walk.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// Released with what the function reads, acquired by the handler of a fault.
constinit std::atomic<fault_function> told[4]{};

[[nodiscard]] fault_access access_of(ULONG_PTR kind) noexcept {
    constexpr ULONG_PTR read = 0, write = 1;
    return kind == read ? fault_access::read : kind == write ? fault_access::write : fault_access::unknown;
}

/// Called before the handlers of the program's frames, also for accesses that these expect.
LONG __stdcall handle_fault(EXCEPTION_POINTERS* information) noexcept {
    const EXCEPTION_RECORD& record = *information->ExceptionRecord;
    if (record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || record.NumberParameters < 2)
        return EXCEPTION_CONTINUE_SEARCH;
    const kept_error kept;
    const fault what{reinterpret_cast<const void*>(record.ExceptionInformation[1]),
                     access_of(record.ExceptionInformation[0]), information->ContextRecord};
    for (const std::atomic<fault_function>& each : told) {
        const fault_function function = each.load(std::memory_order_acquire);
        if (function != nullptr && function(what)) break;
    }
    return EXCEPTION_CONTINUE_SEARCH;
}

constinit std::atomic<bool> is_fault_reported{false}; // a lock: acquired by the exchange, released by the store

[[nodiscard]] bool begin_fault_report() noexcept {
    constexpr unsigned max_looks = 2'000;
    for (unsigned look = 0; look < max_looks; ++look) {
        if (!is_fault_reported.exchange(true, std::memory_order_acq_rel)) return true;
        host::let_others_run(look);
    }
    return false;
}

}

std::size_t fault::walk_stack(void** frames, std::size_t capacity) const noexcept {
    CONTEXT at = *static_cast<const CONTEXT*>(context);
    host::readable_span known;
    return walk_from(at, frames, capacity, 0, known, nullptr);
}

// The handler runs on the stack of the thread, which has its usual size.
void report_fault(void (*write)(const fault&, const void* argument) noexcept, const fault& what,
                  const void* argument) noexcept {
    if (!begin_fault_report()) return;
    write(what, argument);
    is_fault_reported.store(false, std::memory_order_release);
}

bool on_fault(fault_function function) noexcept {
    // Sequentially consistent: it elects who installs the handler. The handler does not read it.
    static constinit std::atomic<int> state{0}; // 0: not installed, 1: installed, 2: refused
    bool is_listed = false;
    for (std::atomic<fault_function>& each : told) {
        fault_function present = nullptr;
        is_listed = each.compare_exchange_strong(present, function, std::memory_order_acq_rel) || present == function;
        if (is_listed) break;
    }
    if (is_unloadable()) return false; // the handler would stay when its code is gone
    constexpr ULONG first = 1;
    int expected = 0;
    if (state.compare_exchange_strong(expected, 1) && ::AddVectoredExceptionHandler(first, &handle_fault) == nullptr)
        state.store(2);
    return is_listed && state.load() != 2;
}

}
