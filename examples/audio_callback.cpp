// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// An audio callback that must neither allocate from the system nor wait: its voices and scratch memory are prepared
// before, and a no_wait_scope lets checked builds and `tenure watch` report what breaks the promise.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <thread>

#include <tenure/base/no_wait.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

constexpr std::size_t samples_per_call = 256;

struct voice {
    float phase = 0;
    float step = 0;
};

class mixer {
public:
    /// On the audio thread, before the first callback.
    [[nodiscard]] bool prepare() {
        for (std::size_t index = 0; index < voices_.size(); ++index)
            voices_[index].step = 0.01F * static_cast<float>(index + 1);
        // The scratch block is allocated here, outside the promise, and used in every callback.
        scratch_ =
            static_cast<float*>(tenure::allocate(samples_per_call * sizeof(float), tenure::lifetime::persistent));
        return scratch_ != nullptr;
    }
    void finish() { tenure::deallocate(scratch_, tenure::lifetime::persistent); }

    void callback(float* output) {
        const tenure::no_wait_scope promise;
        for (std::size_t index = 0; index < samples_per_call; ++index) output[index] = 0;
        for (voice& each : voices_) {
            for (std::size_t index = 0; index < samples_per_call; ++index)
                scratch_[index] = std::sin(each.phase += each.step);
            for (std::size_t index = 0; index < samples_per_call; ++index) output[index] += scratch_[index] / 8;
        }
    }

private:
    std::array<voice, 8> voices_{};
    float* scratch_ = nullptr;
};

}

int main() {
    bool is_ready = false;
    float loudest = 0;
    std::thread audio([&] {
        mixer sound;
        is_ready = sound.prepare();
        if (!is_ready) return;
        std::array<float, samples_per_call> output{};
        for (int call = 0; call < 100; ++call) {
            sound.callback(output.data());
            for (const float sample : output) loudest = std::max(loudest, std::fabs(sample));
        }
        sound.finish();
    });
    audio.join();
    std::printf("loudest sample: %.2f\n", static_cast<double>(loudest));
    return is_ready && loudest > 0 && loudest <= 1 ? 0 : 1;
}
