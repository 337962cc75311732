// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Manages the ranges of a 64 MiB GPU buffer over many frames. The allocator never touches the buffer itself.

#include <cstdint>
#include <cstdio>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t alignment = 256; // the device's minimum alignment of uniform buffer offsets
constexpr unsigned frames_in_flight = 2;

/// Draws a frame with its own mesh. Returns   false when there is no room for the mesh.
bool draw_frame(tenure::offset_allocator& buffer) {
    const tenure::offset_range mesh = buffer.allocate(5 * mebibyte + 100, alignment);
    if (!mesh) return false; // no free range is large enough
    // ... the program writes at mesh.offset, and the device reads it until this frame and the next have ended
    buffer.deallocate_after(mesh, frames_in_flight);
    tenure::next_frame();
    return true;
}

void print(const tenure::offset_allocator& buffer) {
    const tenure::offset_usage now = buffer.usage();
    std::printf("%zu ranges, %zu free ranges, %.1f of %.1f MiB free, largest %.1f MiB\n", now.range_count,
                now.free_count, static_cast<double>(now.free) / mebibyte, static_cast<double>(now.capacity) / mebibyte,
                static_cast<double>(now.largest_free) / mebibyte);
}

}

int main() {
    tenure::offset_allocator buffer(64 * mebibyte);

    const tenure::offset_range constants = buffer.allocate(1000, alignment);
    const tenure::offset_range vertices = buffer.allocate(40 * mebibyte, alignment);
    std::printf("constants at %llu, vertices at %llu\n", static_cast<unsigned long long>(constants.offset),
                static_cast<unsigned long long>(vertices.offset));
    if (!constants || !vertices || vertices.offset % alignment != 0) return 1;

    for (int frame = 0; frame < 100; ++frame) {
        if (!draw_frame(buffer)) return 1;
    }
    print(buffer); // the latest meshes are not free yet: their frames have not ended

    tenure::offset_range textures = buffer.allocate(48 * mebibyte, alignment);
    if (textures) return 1;
    if (!buffer.grow(128 * mebibyte)) return 1; // the program made a larger buffer; existing ranges stay
    textures = buffer.allocate(48 * mebibyte, alignment);
    print(buffer);

    for (unsigned frame = 0; frame < frames_in_flight; ++frame) tenure::next_frame();
    buffer.collect();
    buffer.walk([](std::uint64_t offset, std::uint64_t size, bool is_free) {
        std::printf("%10llu  %10llu  %s\n", static_cast<unsigned long long>(offset),
                    static_cast<unsigned long long>(size), is_free ? "free" : "allocated");
    });

    for (const tenure::offset_range range : {constants, vertices, textures}) buffer.deallocate(range);
    print(buffer);
    return buffer.usage().largest_free == buffer.capacity() ? 0 : 1; // all memory is one free range again
}
