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
/// A resource does not know its containers. Over Temp, checked builds report a string or a vector of numbers that grows
/// inside a temp_scope younger than its memory: the new block begins with the bytes of the old one. Other containers
/// are reported when they free memory that has ended.
///
/// Compile time   0.3 s for each file that includes it, for <memory_resource>.

#include <cstddef>
#include <memory_resource>

#include <tenure/adapt/allocator_reference.hpp>
#include <tenure/base/bad_alloc.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

/// What a resource remembers of its newest block: nothing, unless the allocator ends blocks by scopes.
struct no_growth {
    constexpr explicit no_growth(const auto&) noexcept {}
    constexpr void note(const void*, std::size_t) const noexcept {}
    constexpr void check_free(const void*, std::size_t) const noexcept {}
};
template<class Allocator>
struct growth_in {
    using type = no_growth;
};
template<class Allocator>
requires(checks::caller&& requires { typename Allocator::resource_origin; }) struct growth_in<Allocator> {
    using type = typename Allocator::resource_origin;
};

}

template<allocator Allocator>
class resource_adaptor final : public std::pmr::memory_resource {
public:
    resource_adaptor() noexcept requires detail::stateless_allocator<Allocator> : growth_(Allocator{}) {}

    /// Requires  `from` outlives the adaptor.
    explicit resource_adaptor(Allocator& from) noexcept : from_(from), growth_(from) {}

private:
    [[nodiscard]] void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (!from_.check_present()) throw_bad_alloc();
        auto&& from = from_.get();
        void* const block = from.allocate(bytes, alignment);
        if (block == nullptr) [[unlikely]]
            throw_bad_alloc();
        growth_.note(block, bytes);
        return block;
    }

    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept override {
        if (!from_.check_present()) return;
        growth_.check_free(block, bytes);
        auto&& from = from_.get();
        from.deallocate(block, bytes, alignment);
    }

    /// Two adaptors are equal only if they are the same object: run-time type information is not available.
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    detail::allocator_reference<Allocator> from_;
    [[no_unique_address]] typename detail::growth_in<Allocator>::type growth_;
};

template<class Allocator>
resource_adaptor(Allocator&) -> resource_adaptor<Allocator>;

}
