// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program that imports the module and includes no header of the library.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

import tenure;

int in_another_unit(); // second.cpp

namespace {

struct monster : tenure::small_object {
    explicit monster(int start) : health(start) {}
    int health;
};

class node : public tenure::affinity_object<tenure::affinities::nodes> {
public:
    int value = 3;
};

bool lifetimes() {
    const tenure::tag_scope owner{"module"};
    const tenure::temp_scope scope;
    auto* const text = static_cast<char*>(tenure::allocate(32, tenure::lifetime::temp));
    const std::span<float> distances = scope.allocate<float>(100);
    void* const job = tenure::allocate(200, tenure::lifetime::temp_job, 64);
    tenure::deallocate(job, 200, tenure::lifetime::temp_job);
    const auto frames = tenure::frame_clock::now();
    tenure::chunked_list<int> list(tenure::lifetime::persistent);
    return text != nullptr && distances.size() == 100 && job != nullptr && list.emplace_back(1) != nullptr &&
           frames == tenure::frame_clock::now() && tenure::default_alignment == 16;
}

bool objects() {
    tenure::pool<long> numbers;
    long* const number = numbers.construct(5L);
    tenure::shared_pool<long> shared;
    const auto owned = tenure::make_unique_in(shared, 6L);
    const tenure::unique<monster> one{tenure::make<monster>(7)};
    monster* const small = new monster(8);
    node* const visited = new node;
    tenure::handle_pool<int> handles(100);
    const tenure::pool_handle<int> handle = handles.construct(9);
    const bool good = number != nullptr && *number + *owned == 11 && one->health + small->health == 15 &&
                      visited->value == 3 && handles.get(handle) != nullptr && numbers.size() == 1;
    for (long& each : numbers) numbers.destroy(&each);
    delete visited;
    delete small;
    return good && numbers.empty();
}

bool containers() {
    tenure::arena scratch;
    std::vector<int, tenure::stl_allocator<int, tenure::arena>> numbers(scratch);
    numbers.push_back(1);
    tenure::resource_adaptor resource(scratch);
    std::pmr::vector<std::pmr::string> names(&resource);
    names.emplace_back("a name that is too long to be stored inside the string object");
    return scratch.owns(numbers.data()) && scratch.owns(names.front().data());
}

bool ranges_and_buffers() {
    tenure::offset_allocator device(1 << 20);
    const tenure::offset_range range = device.allocate(1000, 256);
    const bool good = static_cast<bool>(range) && range.offset % 256 == 0;
    device.deallocate(range);
    const auto heights = tenure::fixed_buffer<float>::make(1000);
    const bool is_live = heights.is_live();
    static_cast<void>(heights.deallocate());
    return good && is_live && !heights.is_live() && device.usage().range_count == 0;
}

/// An allocator of this program fits the module's concept and its block source.
class counted final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        ++acquired;
        return behind_.acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override { behind_.release(block, bytes); }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return behind_.threads(); }

    int acquired = 0;

private:
    tenure::block_source& behind_ = tenure::page_source::process();
};
static_assert(tenure::allocator<tenure::arena> && !tenure::allocator<int>);

bool sources() {
    counted source;
    tenure::heap level({.name = "level"}, source);
    void* const block = level.allocate(100);
    level.deallocate(block);
    return block != nullptr && source.acquired != 0;
}

}

int main() {
    const bool good = lifetimes() && objects() && containers() && ranges_and_buffers() && sources();
    tenure::next_frame();
    char text[64];
    tenure::format_printf(text, sizeof text, "level %d, %s", tenure::check_level(), good ? "ok" : "not ok");
    std::puts(text);
    return good && in_another_unit() == 7 && tenure::check_level() == EXPECTED_LEVEL ? 0 : 1;
}
