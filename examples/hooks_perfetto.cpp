// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Hooks for Perfetto's SDK: a slice for each slow call, and the number of blocks as a counter. With a file name the
// program writes the trace there; ui.perfetto.dev opens it. examples/hooks_trace.cpp writes a trace without the SDK.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include <perfetto.h>

#include <tenure/base/hooks.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

PERFETTO_DEFINE_CATEGORIES(perfetto::Category("memory").SetDescription("Slow allocations and blocks"));
PERFETTO_TRACK_EVENT_STATIC_STORAGE();

namespace {

std::atomic<std::int64_t> block_count{0};

void call_begin(std::string_view what, std::size_t bytes, void*) noexcept {
    TRACE_EVENT_BEGIN("memory", perfetto::DynamicString(what.data(), what.size()), "bytes", bytes);
}
void call_end(std::string_view, void*) noexcept { TRACE_EVENT_END("memory"); }

// The counts change outside the macro, which does not evaluate its arguments while nothing is recorded.
void block_begin(const void*, std::size_t, void*) noexcept {
    const std::int64_t count = ++block_count;
    TRACE_COUNTER("memory", "blocks", count);
}
void block_end(const void*, void*) noexcept {
    const std::int64_t count = --block_count;
    TRACE_COUNTER("memory", "blocks", count);
}

/// With the last two, threads allocate from heaps without a cache, and every call is slow. Leave them out to see the
/// allocators as they are.
constexpr tenure::allocation_hooks hooks{call_begin, call_end, block_begin, block_end, nullptr};

std::unique_ptr<perfetto::TracingSession> start_tracing() {
    perfetto::TracingInitArgs arguments;
    arguments.backends = perfetto::kInProcessBackend;
    perfetto::Tracing::Initialize(arguments);
    perfetto::TrackEvent::Register();
    perfetto::TraceConfig config;
    config.add_buffers()->set_size_kb(4096);
    config.add_data_sources()->mutable_config()->set_name("track_event");
    std::unique_ptr<perfetto::TracingSession> session = perfetto::Tracing::NewTrace();
    session->Setup(config);
    session->StartBlocking();
    return session;
}

bool write(const char* path, const std::vector<char>& trace) {
    std::FILE* const file = std::fopen(path, "wb");
    if (file == nullptr) return false;
    const bool is_written = std::fwrite(trace.data(), 1, trace.size(), file) == trace.size();
    return std::fclose(file) == 0 && is_written;
}

}

int main(int argc, char** argv) {
    const std::unique_ptr<perfetto::TracingSession> session = start_tracing();
    tenure::set_hooks(&hooks);
    for (int frame = 0; frame < 3; ++frame) {
        for (int count = 0; count < 10; ++count)
            if (tenure::allocate(100, tenure::lifetime::temp) == nullptr) return 1;
        void* const level = tenure::heap::process().allocate(std::size_t{8} << 20);
        tenure::heap::process().deallocate(level);
        tenure::next_frame();
    }
    tenure::set_hooks(nullptr);
    perfetto::TrackEvent::Flush();
    session->StopBlocking();
    const std::vector<char> trace = session->ReadTraceBlocking();
    std::printf("a trace of %zu bytes\n", trace.size());
    return !trace.empty() && (argc < 2 || write(argv[1], trace)) ? 0 : 1;
}
