// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// From EASTL's allocators to Tenure. EASTL itself is not needed: this compiles what EASTL asks a program for.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

#include <tenure/tenure.hpp>

/// EASTL's default allocator calls these two operators, which the program defines.
void* operator new[](std::size_t bytes, const char*, int, unsigned, const char*, int) {
    return tenure::heap::process().allocate(bytes);
}
void* operator new[](std::size_t bytes, std::size_t alignment, std::size_t offset, const char*, int, unsigned,
                     const char*, int) {
    return offset == 0 ? tenure::heap::process().allocate(bytes, alignment) : nullptr;
}

namespace {

/// An allocator of EASTL's form over an arena, a pool, a heap: eastl::vector<int, eastl_allocator<tenure::arena>>.
template<class Allocator>
class eastl_allocator {
public:
    explicit eastl_allocator(Allocator& from, const char* name = "tenure") noexcept : from_(&from), name_(name) {}
    void* allocate(std::size_t bytes, int = 0) noexcept { return from_->allocate(bytes, tenure::default_alignment); }
    void* allocate(std::size_t bytes, std::size_t alignment, std::size_t offset, int = 0) noexcept {
        return offset == 0 ? from_->allocate(bytes, alignment) : nullptr;
    }
    void deallocate(void* block, std::size_t bytes) noexcept { // without the alignment of the allocation
        if constexpr (requires { from_->deallocate(block); })
            from_->deallocate(block);
        else
            from_->deallocate(block, bytes);
    }
    [[nodiscard]] const char* get_name() const noexcept { return name_; }
    void set_name(const char* name) noexcept { name_ = name; }
    friend bool operator==(const eastl_allocator& a, const eastl_allocator& b) noexcept { return a.from_ == b.from_; }
    friend bool operator!=(const eastl_allocator& a, const eastl_allocator& b) noexcept { return !(a == b); }

private:
    Allocator* from_;
    const char* name_;
};

/// What a container of EASTL does with its allocator.
template<class Allocator>
bool use(Allocator allocator) {
    void* const nodes = allocator.allocate(100);
    void* const line = allocator.allocate(256, 64, 0);
    allocator.set_name("nodes");
    const bool good = nodes != nullptr && line != nullptr && allocator.allocate(256, 64, 8) == nullptr;
    allocator.deallocate(line, 256);
    allocator.deallocate(nodes, 100);
    return good && allocator == allocator;
}

bool in_every_allocator() {
    tenure::arena scratch;
    tenure::heap level;
    return use(eastl_allocator(scratch)) && use(eastl_allocator(level));
}

/// eastl::fixed_vector<int, 64> → a vector in Temp.
std::size_t fixed_vector_after() {
    const tenure::temp_scope scope;
    std::vector<int, tenure::stl_allocator<int, tenure::temp>> near_by;
    near_by.reserve(64); // no call of malloc; more than 64 are allowed, too
    near_by.push_back(1);
    return near_by.size();
}

/// eastl::fixed_pool → a block_pool over memory of your own.
bool fixed_pool_after() {
    alignas(64) static unsigned char buffer[64 * 1024];
    tenure::static_buffer_source memory(buffer, sizeof buffer);
    tenure::block_pool nodes(48, 16, memory);
    void* const first = nodes.allocate();
    const bool good = nodes.owns(first);
    nodes.deallocate(first);
    return good;
}

bool operators_after() {
    void* const block = operator new[](100, "name", 0, 0U, __FILE__, __LINE__);
    void* const line = operator new[](100, 64, 0, "name", 0, 0U, __FILE__, __LINE__);
    const bool good = block != nullptr && reinterpret_cast<std::uintptr_t>(line) % 64 == 0;
    tenure::heap::process().deallocate(block);
    tenure::heap::process().deallocate(line);
    return good;
}

}

int main() {
    const bool good = in_every_allocator() && fixed_vector_after() == 1 && fixed_pool_after() && operators_after();
    std::puts(good ? "as EASTL asks" : "not as EASTL asks");
    return good ? 0 : 1;
}
