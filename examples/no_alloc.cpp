// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The callback of a sound mixer must never wait for memory. It declares that it does not allocate, and names its region
// for `tenure watch`. When checks are on, an allocation ends the program with the call stack: `no_alloc broken` calls
// make(), which tenure::checked detects; `no_alloc careless` calls operator new, which the hardened drop-in detects.
// One function also declares that it frees nothing and takes no lock: `tenure watch --region marks --fail-on free,lock`
// verifies it.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/arena/arena.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/region.hpp>
#include <tenure/heap/make.hpp>

namespace {

constexpr std::size_t frame_count = 512;

struct mixer {
    float sum[frame_count] = {};
    int clipped = 0;
};

void note_clipping(const mixer& from) {
    const tenure::allow_alloc_scope permission; // rare, so allocation is allowed here
    const std::string text = "clipped " + std::to_string(from.clipped) + " times, which is worth a line of text";
    std::puts(text.c_str());
}

void mix(mixer& to, const float* voice) {
    const tenure::no_alloc_scope promise;
    const tenure::region_scope region("mix");
    for (std::size_t frame = 0; frame < frame_count; ++frame) {
        to.sum[frame] += voice[frame];
        if (to.sum[frame] > 1.0F) ++to.clipped;
    }
    if (to.clipped != 0) note_clipping(to);
}

float loudest(const mixer& from) {
    const tenure::no_wait_scope promise; // no allocation, no free, no lock
    float most = 0;
    for (const float each : from.sum) most = each > most ? each : most;
    return most;
}

void break_promise(const mixer& with) {
    const tenure::no_alloc_scope promise;
    tenure::destroy(tenure::make<mixer>(with)); // reported here
}

void break_promise_carelessly(const mixer& with) {
    const tenure::no_alloc_scope promise;
    const std::vector<float> copy(with.sum, with.sum + frame_count); // reported here
    if (copy[0] > 1.0F) std::puts("loud");
}

}

int main(int count, char** arguments) {
    tenure::arena memory; // the callback's memory is allocated in advance
    auto* const voice = static_cast<float*>(memory.allocate(frame_count * sizeof(float)));
    auto* const sound = tenure::make<mixer>();
    if (voice == nullptr || sound == nullptr) return 1;
    for (std::size_t frame = 0; frame < frame_count; ++frame) voice[frame] = frame == 0 ? 2.0F : 0.25F;
    tenure::mark("sound begins");
    mix(*sound, voice);
    const std::string_view way = count > 1 ? arguments[1] : "";
    if (way == "broken") break_promise(*sound);
    if (way == "careless") break_promise_carelessly(*sound);
    std::printf("%d frames clipped, the loudest at %.2f\n", sound->clipped, static_cast<double>(loudest(*sound)));
    tenure::destroy(sound);
    return 0;
}
