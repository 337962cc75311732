// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Traces of tenure record: any bytes, and any bytes as the events of a valid file, are either read or refused with a
// reason. What is read keeps the promises of a trace, and can be packed and read again.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/replay/advice/block_lives.hpp"
#include "observe/replay/affinity/co_access.hpp"
#include "observe/trace/part/trace_part.hpp"
#include "observe/trace/report/trace_export.hpp"
#include "observe/trace/report/trace_text.hpp"
#include "observe/trace/trace_figures.hpp"
#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "operations.hpp"
#include "trace/raw_trace.hpp"
#include "trace/trace_order.hpp"

namespace {

constexpr std::uint64_t max_events = 200'000, max_stack_bytes = 1 << 20;
const tenure::lab::trace_limits limits{.events = max_events, .stack_bytes = max_stack_bytes};

void require_few_frames(const tenure::lab::trace& found) {
    std::uint64_t frames = 0;
    for (const tenure::lab::trace_stack& each : found.stacks) frames += each.frames.size();
    fuzz::require(frames <= max_stack_bytes / 8, "call stacks stay below their limit");
}

/// Parts are read from files.
void read_part(const std::string& bytes) {
    const int file = ::memfd_create("trace", MFD_CLOEXEC);
    fuzz::require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                  "a file in memory can be written");
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    for (const std::uint64_t from_ns : {std::uint64_t{0}, std::uint64_t{50}, std::uint64_t{100'000}}) {
        const tenure::lab::trace part = tenure::lab::load_part(path, from_ns, 2'000'000, limits);
        require_few_frames(part);
        const std::string broken = broken_promise(part);
        fuzz::require(!part.ok() || broken.empty(), broken.c_str());
    }
    ::close(file);
}

void read(const std::string& bytes) {
    const tenure::lab::trace found = tenure::lab::read_trace(bytes, limits);
    if (!found.ok()) return;
    require_few_frames(found);
    const std::string broken = broken_promise(found);
    fuzz::require(broken.empty(), broken.c_str());
    const tenure::lab::trace_figures figures = tenure::lab::figures_of(found);
    fuzz::require(!tenure::lab::to_text(found, figures, bytes.size()).empty(), "a trace has a text");
    fuzz::require(!tenure::lab::to_json(found, figures, bytes.size()).empty(), "a trace has JSON");
    const tenure::lab::co_access together = tenure::lab::find_co_access(found, tenure::lab::lives_of(found));
    for (const tenure::lab::site_pair& each : together.pairs)
        fuzz::require(each.learned.near <= each.learned.accesses && each.checked.near_pairs <= each.checked.pairs &&
                          each.chance >= 0 && each.chance <= 1,
                      "of accesses, at most all are near");
    const auto pass = [](std::string_view text) { return !text.empty(); };
    tenure::lab::export_csv(found, pass);
    tenure::lab::export_json_lines(found, pass);
    const tenure::lab::trace part = tenure::lab::cut_trace(found, found.events.size(), 1'000'000'000);
    const tenure::lab::trace written = tenure::lab::read_trace(tenure::lab::write_trace(part), {2 * max_events});
    fuzz::require(written.ok() && written.events.size() == part.events.size(), "a part is written as it is");
    read_part(bytes);
    const auto packed = tenure::lab::pack_trace(bytes);
    fuzz::require(packed.ok(), "what is read can be packed");
    const tenure::lab::trace again = tenure::lab::read_trace(packed.bytes, limits);
    fuzz::require(again.ok() && again.events.size() == found.events.size(), "the packed file has the same events");
    fuzz::require(again.windows.size() == found.windows.size(), "the packed file has the same accesses");
    read_part(packed.bytes);
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    const std::string_view all(reinterpret_cast<const char*>(bytes), count);
    read(std::string(all));
    // Two threads, or two chunks of one: the first byte says where the second begins, and whether there are stacks, and
    // of what.
    if (count == 0) return 0;
    raw_chunk allocating(0, 0, 0, 1000);
    allocating.allocate(0, 100).allocate(0, 200).resize(300, 0, 0).free_own(1);
    read(raw_trace({allocating, raw_chunk::text(tenure::lab::trace_format::chunk_kind::accesses, 0, all)}));
    const std::size_t half = count * (bytes[0] / 2) / 128;
    const std::uint32_t has_stacks = bytes[0] % 2, has_free_stacks = bytes[0] / 2 % 2;
    for (const std::uint32_t thread : {1U, 0U}) {
        raw_chunk first(0, 0, 0, 1000),
            second(thread, 1 - thread, thread == 1 ? 0 : 1 << 20, thread == 1 ? 1000 : 50'000);
        read(
            raw_trace({first.plain(all.substr(0, half)), second.plain(all.substr(half))}, has_stacks, has_free_stacks));
    }
    return 0;
}
