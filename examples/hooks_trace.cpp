// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Hooks that write a trace file without a profiler's library: the Trace Event Format, which ui.perfetto.dev and
// chrome://tracing open. It shows each slow call on its thread, the frames, and the heap's bytes as a graph.
//
//   example_hooks_trace trace.json

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <tenure/base/hooks.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

/// Keeps events in an array: a hook must not allocate, and a write to a file would make each call slower.
class trace {
public:
    /// Phases of the format: B and E are a call's begin and end, i is a moment, C a counter.
    void add(char phase, std::string_view name, std::size_t value = 0) noexcept {
        const std::size_t index = count_.fetch_add(1, std::memory_order_relaxed);
        if (index < events_.size()) events_[index] = {now_us(), name, value, this_thread(), phase};
    }

    /// Once no thread adds events. Returns whether the file has all events.
    [[nodiscard]] bool write(const char* path) const {
        std::FILE* const file = std::fopen(path, "w");
        if (file == nullptr) return false;
        std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", file);
        const std::size_t count = count_.load();
        const std::size_t kept = count < events_.size() ? count : events_.size();
        for (std::size_t index = 0; index < kept; ++index) {
            write_event(file, events_[index]);
            std::fputs(index + 1 < kept ? ",\n" : "\n]}\n", file);
        }
        return std::fclose(file) == 0 && kept == count;
    }

private:
    struct event {
        double us;
        std::string_view name;
        std::size_t value;
        unsigned thread;
        char phase;
    };

    [[nodiscard]] static double now_us() noexcept {
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    [[nodiscard]] unsigned this_thread() noexcept {
        thread_local const unsigned number = ++thread_count_;
        return number;
    }
    /// A call that allocates is told as "of Temp", one that frees as "a block of TempJob".
    static void write_event(std::FILE* file, const event& each) {
        const bool is_call = each.phase == 'B' || each.phase == 'E';
        const char* const verb = !is_call ? "" : each.name.starts_with("of ") ? "allocation " : "free of ";
        std::fprintf(file, R"({"ph": "%c", "ts": %.3f, "pid": 1, "tid": %u, "cat": "memory", "name": "%s%.*s")",
                     each.phase, each.us, each.thread, verb, static_cast<int>(each.name.size()), each.name.data());
        if (each.phase == 'i') std::fputs(R"(, "s": "p")", file);
        if (each.phase == 'B' || each.phase == 'C') std::fprintf(file, R"(, "args": {"bytes": %zu})", each.value);
        std::fputs("}", file);
    }

    std::array<event, 16'384> events_;
    std::atomic<std::size_t> count_{0};
    std::atomic<unsigned> thread_count_{0};
};
trace events;

constexpr tenure::allocation_hooks hooks{
    [](std::string_view what, std::size_t bytes, void*) noexcept { events.add('B', what, bytes); },
    [](std::string_view what, void*) noexcept { events.add('E', what); }, nullptr, nullptr, nullptr};

void simulate() {
    for (int count = 0; count < 200; ++count) static_cast<void>(tenure::allocate(1000, tenure::lifetime::temp));
    tenure::reset_temp();
}

}

int main(int argc, char** argv) {
    tenure::set_hooks(&hooks);
    void* level = nullptr;
    for (int frame = 0; frame < 10; ++frame) {
        events.add('i', "frame");
        std::thread worker(simulate);
        simulate();
        worker.join();
        if (frame == 3) level = tenure::heap::process().allocate(std::size_t{8} << 20);
        if (frame == 7) tenure::heap::process().deallocate(level);
        events.add('C', "process heap", tenure::heap::process().stats().live_bytes);
        tenure::next_frame();
    }
    tenure::set_hooks(nullptr);
    const char* const path = argc > 1 ? argv[1] : "tenure-trace.json";
    const bool is_written = events.write(path);
    std::printf("%s%s\n", is_written ? "open in ui.perfetto.dev: " : "could not write all events to ", path);
    return is_written ? 0 : 1;
}
