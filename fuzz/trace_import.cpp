// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Recordings of other tools: any bytes are either read or refused with a reason. What is read keeps the promises of a
// trace, and can be written and read again.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/trace/import/trace_import.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/trace/trace_writer.hpp"
#include "operations.hpp"
#include "trace/trace_order.hpp"

namespace {

using tenure::lab::recording_format;

void read(std::string_view text, recording_format format) {
    tenure::lab::import_limits limits;
    limits.events = 20'000;
    limits.table_bytes = 4 << 20;
    limits.text_bytes = 4 << 20; // a few compressed bytes are a long text
    limits.threads = 100;
    const tenure::lab::trace found = tenure::lab::import_trace(text, format, limits);
    if (!found.ok()) {
        fuzz::require(found.events.empty(), "what is refused has no events");
        return;
    }
    const std::string broken = broken_promise(found);
    fuzz::require(broken.empty(), broken.c_str());
    fuzz::require(found.events.size() <= limits.events, "the limit of events holds");
    const tenure::lab::trace again = tenure::lab::read_trace(tenure::lab::write_trace(found), {limits.events});
    fuzz::require(again.ok() && again.events.size() == found.events.size(), "it is written as it is");
    fuzz::require(again.mappings.size() == found.mappings.size(), "its mappings are written as they are");
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    const std::string_view all(reinterpret_cast<const char*>(bytes), count);
    read(all, recording_format::by_content);
    // Without the first lines, which mutations seldom find.
    read(all, recording_format::android);
    read(std::string("v 10400 3\nx 2 /p\n").append(all), recording_format::heaptrack);
    return 0;
}
