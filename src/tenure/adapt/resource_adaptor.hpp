// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// resource_adaptor: a std::pmr::memory_resource over any allocator of this library.
///
/// `resource_adaptor resource{scratch}; std::pmr::string name{&resource};` Compared with stl_allocator it costs one
/// more virtual call, and all allocators share one container type. Throws std::bad_alloc when the allocator is out of
/// memory. Threads: as the allocator. Moves: as stl_allocator.
///
/// A resource does not know its containers. Over Temp, checked builds report a container that frees memory whose scope
/// or frame has ended, but not its growth inside a temp_scope younger than the container, as stl_allocator does.
///
/// Compile time   0.3 s for each file that includes it, for <memory_resource>.

#include <cstddef>
#include <memory_resource>

#include <tenure/adapt/allocator_reference.hpp>
#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

template<allocator Allocator>
class resource_adaptor final : public std::pmr::memory_resource {
public:
    resource_adaptor() noexcept requires detail::stateless_allocator<Allocator>
    = default;

    /// Requires  `from` outlives the adaptor.
    explicit resource_adaptor(Allocator& from) noexcept : from_(from) {}

private:
    [[nodiscard]] void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (!from_.check_present()) throw_bad_alloc();
        auto&& from = from_.get();
        void* const block = from.allocate(bytes, alignment);
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        return block;
    }

    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept override {
        if (!from_.check_present()) return;
        auto&& from = from_.get();
        from.deallocate(block, bytes, alignment);
    }

    /// Two adaptors are equal only if they are the same object: run-time type information is not available.
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    detail::allocator_reference<Allocator> from_;
};

template<class Allocator>
resource_adaptor(Allocator&) -> resource_adaptor<Allocator>;

}
