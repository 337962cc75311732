// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A ring in a mapped GPU buffer for what changes each frame (uniforms, vertices, uploads), as Vulkan renderers have it.
// Threads take ranges without a lock; a frame's ranges become free when the GPU has finished the frame. The buffer here
// is ordinary memory; with Vulkan it is the mapping of a host-visible VkBuffer, and the offset goes into the
// descriptor.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <tenure/base/align.hpp>
#include <tenure/platform/page_source.hpp>

namespace {

class frame_ring {
public:
    static constexpr std::uint64_t frames_in_flight = 2;
    static constexpr std::size_t alignment = 256; // minUniformBufferOffsetAlignment is at most this

    explicit frame_ring(std::size_t bytes) : bytes_(bytes) {
        mapped_ = static_cast<unsigned char*>(tenure::page_source::process().acquire(bytes, 65'536));
    }
    ~frame_ring() {
        if (mapped_ != nullptr) tenure::page_source::process().release(mapped_, bytes_);
    }
    frame_ring(const frame_ring&) = delete;
    frame_ring& operator=(const frame_ring&) = delete;

    [[nodiscard]] bool is_made() const { return mapped_ != nullptr; }

    /// An offset in the buffer, for this frame; nothing if the frames in flight fill it. Any thread.
    [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes) {
        const std::size_t size = tenure::align_up(bytes, alignment);
        std::uint64_t at = head_.load(std::memory_order_relaxed);
        for (;;) {
            // A range does not wrap around the end: it begins at the next round.
            const std::uint64_t begin = at % bytes_ + size > bytes_ ? (at / bytes_ + 1) * bytes_ : at;
            if (size > bytes_ || begin + size - tail_ > bytes_) return std::nullopt;
            if (head_.compare_exchange_weak(at, begin + size, std::memory_order_relaxed)) return begin % bytes_;
        }
    }
    [[nodiscard]] unsigned char* at(std::size_t offset) const { return mapped_ + offset; }

    /// Once a frame, after the fence of the frame that is `frames_in_flight` old was waited for. No thread takes.
    void begin_frame() {
        if (frame_ != 0) ends_[(frame_ - 1) % frames_in_flight] = head_.load(std::memory_order_relaxed);
        tail_ = ends_[frame_ % frames_in_flight]; // where the frame ended that the GPU has finished
        ++frame_;
    }

private:
    std::size_t bytes_;
    unsigned char* mapped_ = nullptr;
    std::atomic<std::uint64_t> head_{0}; // bytes taken since the start; modulo the size it is the offset
    std::uint64_t tail_ = 0;
    std::array<std::uint64_t, frames_in_flight> ends_{}; // of the latest frames
    std::uint64_t frame_ = 0;
};

}

int main() {
    frame_ring ring(std::size_t{1} << 20);
    if (!ring.is_made()) return 1;
    std::atomic<int> refused{0};
    for (int frame = 0; frame < 100; ++frame) {
        ring.begin_frame();
        std::vector<std::thread> workers;
        for (int worker = 0; worker < 2; ++worker) {
            workers.emplace_back([&ring, &refused, frame] {
                for (int object = 0; object < 100; ++object) {
                    const std::optional<std::size_t> offset = ring.take(1000);
                    if (offset.has_value())
                        std::memset(ring.at(*offset), frame, 1000);
                    else
                        ++refused;
                }
            });
        }
        for (std::thread& each : workers) each.join();
    }
    std::printf("refused: %d\n", refused.load());
    return refused == 0 && !ring.take(std::size_t{2} << 20).has_value() ? 0 : 1;
}
