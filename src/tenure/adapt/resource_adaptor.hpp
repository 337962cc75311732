// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// std::pmr over any allocator of this library.
///
/// `resource_adaptor resource{scratch}; std::pmr::string name{&resource};` One virtual call more than stl_allocator,
/// and one container type for all allocators. Throws std::bad_alloc when the allocator refuses. Threads: as the
/// allocator below.

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
        auto&& from = from_.get();
        void* const block = from.allocate(bytes, alignment);
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        return block;
    }

    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept override {
        auto&& from = from_.get();
        from.deallocate(block, bytes, alignment);
    }

    /// Without run-time type information the question is only whether it is the same object.
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    detail::allocator_reference<Allocator> from_;
};

template<class Allocator>
resource_adaptor(Allocator&) -> resource_adaptor<Allocator>;

}
