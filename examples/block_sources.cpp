// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Block sources provide an allocator's memory: a static buffer, counted requests, huge pages, or your own source.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tenure/arena/arena.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/pool.hpp>

namespace {

struct particle {
    float position[3], velocity[3];
    std::uint64_t color[5];
};
static_assert(sizeof(particle) == 64);

/// Makes no system calls. When the buffer is full, construct() returns nullptr.
bool from_a_static_buffer() {
    static unsigned char buffer[64 * 1024];
    tenure::static_buffer_source source(buffer, sizeof buffer);
    tenure::pool<particle> particles(source);
    std::size_t made = 0;
    while (made < 10'000 && particles.construct() != nullptr) ++made;
    std::printf("64 KiB held more than 400 particles of 64 bytes: %s\n", made > 400 ? "yes" : "no");
    return made > 400;
}

/// Counts the blocks an allocator requests from the system.
bool counted() {
    tenure::counting_source source(tenure::page_source::process());
    {
        tenure::arena scratch(256 * 1024, source);
        for (int index = 0; index < 1000; ++index) {
            if (scratch.allocate(100) == nullptr) return false;
        }
        std::printf("1000 allocations, %zu request\n", source.requests());
    }
    std::printf("blocks not released: %zu\n", source.live_blocks());
    return source.live_blocks() == 0;
}

/// Huge pages cause fewer page faults and TLB misses in large data. The system may ignore the request; nothing else
/// changes.
bool from_huge_pages() {
    tenure::page_source huge(tenure::page_size::huge);
    tenure::pool<double> numbers(huge);
    return numbers.construct(1.0) != nullptr;
}

/// Your own source: it acquires and releases blocks and states which threads may call it and its maximum block size.
class malloc_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    }
    void release(void* block, std::size_t) noexcept override { std::free(block); }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
    [[nodiscard]] std::size_t max_bytes() const noexcept override { return 1 << 20; } // limits segment sizes
};

bool from_my_own_source() {
    malloc_source source;
    tenure::pool<double> numbers(source);
    return numbers.construct(1.0) != nullptr;
}

}

int main() { return from_a_static_buffer() && counted() && from_huge_pages() && from_my_own_source() ? 0 : 1; }
