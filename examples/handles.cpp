// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A mixer plays a sound that the program may free at any time: handles, leases, and a list of live handles.

#include <cstdio>

#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/fixed_utf8_string.hpp>
#include <tenure/buffer/huge_array.hpp>

namespace {

/// Copyable. Each copy detects when the samples were freed.
struct sound {
    tenure::fixed_utf8_string name;
    tenure::fixed_buffer<float> samples;
};

/// Returns   the sum of the samples; 0 when the sound was freed.
float mix(const sound& from) {
    const auto held = from.samples.lease(); // no thread can free it before the end of the scope
    if (!held) return 0;
    float sum = 0;
    for (const float sample : held) sum += sample; // as fast as through a pointer
    return sum;
}

}

int main() {
    const sound steps{tenure::fixed_utf8_string::make("steps"), tenure::fixed_buffer<float>::make(48'000)};
    if (!steps.name || !steps.samples) return 1; // out of memory
    steps.samples[100] = 0.5f;                   // checked: live and in range

    const sound copy = steps;
    std::printf("%.*s: %.1f\n", static_cast<int>(copy.name.size_bytes()), copy.name.view().data(),
                static_cast<double>(mix(copy)));

    {
        const auto held = copy.samples.lease();
        if (steps.samples.deallocate() != tenure::status::still_held) return 1;
    }
    if (steps.samples.deallocate() != tenure::status::ok) return 1;
    if (copy.samples.is_live() || mix(copy) != 0) return 1; // the copy detects it

    // Four billion numbers. Only touched pages use memory.
    const auto heights = tenure::huge_array<float>::make(4'000'000'000);
    if (heights) heights[3'999'999'999] = 1;

    // The name was not freed. List live handles at any time, or at exit with TENURE_HANDLE_REPORT=text.
    tenure::handle_table::process().for_each_live(
        [](const tenure::handle_info& info) { std::printf("live: %s of %zu bytes\n", info.kind, info.which.bytes); });
    return copy.name.deallocate() == tenure::status::ok ? 0 : 1;
}
