// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// From the virtual blocks of the Vulkan Memory Allocator to offset_allocator. Their lines are in docs/guide/migrate.md;
// these are the new ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/offset/offset_allocator.hpp>

int main() {
    tenure::offset_allocator block(16 << 20);
    const tenure::offset_range mesh = block.allocate(4096, 256);
    if (!mesh) return 1; // no free range fits: an empty range, and nothing changed
    const std::uint64_t offset = mesh.offset;

    std::vector<int> user_data(100); // indexed by range.id, where a virtual block stores a pointer
    user_data.resize(std::max<std::size_t>(user_data.size(), mesh.id + 1));
    user_data[mesh.id] = 7;

    const tenure::offset_usage usage = block.usage();
    std::printf("at %llu, %zu ranges, %llu bytes free\n", static_cast<unsigned long long>(offset), usage.range_count,
                static_cast<unsigned long long>(usage.free));

    std::string json;
    block.write_json([](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); }, &json);

    block.deallocate(mesh);
    const bool is_empty = block.usage().range_count == 0;
    block.clear();
    return is_empty && !json.empty() && user_data[mesh.id] == 7 ? 0 : 1;
}
