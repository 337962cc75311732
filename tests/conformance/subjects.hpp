// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Everything that fits `tenure::allocator`, made over a block source that the test hands it.
///
/// A subject says what it can serve, gives its allocator, and drops everything that it still holds.

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <ostream>
#include <vector>

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/base/allocator.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/shared_pool.hpp>

namespace conformance {

using tenure::part;

struct alignas(64) object {
    unsigned char bytes[320];
};

/// What most have in common: any size, any alignment.
struct any_size {
    static constexpr std::size_t max_bytes = 200'000;
    static constexpr std::size_t max_alignment = 4096;
};

struct arena_subject : any_size {
    static constexpr part which = part::arena;
    explicit arena_subject(tenure::block_source& source) : allocator(4096, source) {}
    void drop() {
        allocator.clear();
        allocator.trim();
    }
    tenure::arena allocator;
};

/// Temp takes chunks from the source as soon as its budget is used up; these budgets are small.
struct temp_subject : any_size {
    static constexpr part which = part::temp;
    explicit temp_subject(tenure::block_source& source) { tenure::temp_job::set_source(source); }
    ~temp_subject() {
        drop();
        tenure::temp_job::set_source(tenure::page_source::process());
    }
    void drop() {
        tenure::reset_temp();
        tenure::temp_job::trim();
    }
    tenure::temp allocator;
};

struct temp_job_subject : any_size {
    static constexpr part which = part::temp_job;
    explicit temp_job_subject(tenure::block_source& source) { tenure::temp_job::set_source(source); }
    ~temp_job_subject() {
        drop();
        tenure::temp_job::set_source(tenure::page_source::process());
    }
    void drop() {
        const auto free_one = [](void*, const tenure::temp_job_leak& block) {
            leftover() = const_cast<void*>(block.address);
        };
        for (;;) {
            leftover() = nullptr;
            tenure::temp_job::for_each_live(free_one, nullptr);
            if (leftover() == nullptr) break;
            tenure::temp_job::deallocate(leftover());
        }
        tenure::temp_job::trim();
    }
    static void*& leftover() {
        static void* block = nullptr;
        return block;
    }
    tenure::temp_job allocator;
};

struct heap_subject : any_size {
    static constexpr part which = part::heap;
    explicit heap_subject(tenure::block_source& source) : allocator({}, source) {}
    void drop() {
        allocator.clear();
        allocator.trim();
    }
    tenure::heap allocator;
};

/// Block by block it takes little from the source, so that a refusal of any of its first requests is reached.
template<tenure::sharing Threads, tenure::size_on_free Frees, tenure::page_layout Arrangement>
struct affinity_subject : any_size {
    static constexpr part which = part::affinity;
    explicit affinity_subject(tenure::block_source& source)
        : allocator("subject",
                    {.alignment = 8, .block_bytes = 65'536, .sizes = Frees, .layout = Arrangement, .threads = Threads},
                    source) {}
    void drop() {
        allocator.clear();
        allocator.trim();
    }
    tenure::affinity_group allocator;
};

template<class Pool>
struct block_pool_subject {
    static constexpr part which = part::pool;
    static constexpr std::size_t max_bytes = 8192;
    static constexpr std::size_t max_alignment = 4096;
    explicit block_pool_subject(tenure::block_source& source) : allocator(max_bytes, max_alignment, source) {}
    void drop() {
        allocator.clear();
        allocator.trim();
    }
    Pool allocator;
};

template<class Pool>
struct object_pool_subject {
    static constexpr part which = part::pool;
    static constexpr std::size_t max_bytes = sizeof(object);
    static constexpr std::size_t max_alignment = alignof(object);
    explicit object_pool_subject(tenure::block_source& source) : allocator(source) {}
    void drop() {
        allocator.clear();
        allocator.trim();
    }
    Pool allocator;
};

/// An allocator made of a std::pmr resource, which is made of one of ours.
class pmr_allocator {
public:
    explicit pmr_allocator(std::pmr::memory_resource& resource) : resource_(resource) {}
    void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        try {
            return resource_.allocate(bytes, alignment);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
        resource_.deallocate(block, bytes, alignment);
    }
    bool owns(const void*) const noexcept { return true; }

private:
    std::pmr::memory_resource& resource_;
};

template<class Subject>
struct pmr_subject : Subject {
    explicit pmr_subject(tenure::block_source& source) : Subject(source) {}
    static constexpr bool knows_its_own = false;
    tenure::resource_adaptor<decltype(Subject::allocator)> resource{Subject::allocator};
    pmr_allocator allocator{resource};
};

/// An allocator made of stl_allocator, one for each alignment of its value type.
template<class Below>
class stl_backed {
public:
    explicit stl_backed(Below& below) : below_(below) {}
    void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        try {
            return with(alignment, [&](auto typed) -> void* { return typed.allocate(in_values(typed, bytes)); });
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
        with(alignment, [&](auto typed) -> void* {
            using typed_value = typename decltype(typed)::value_type;
            typed.deallocate(static_cast<typed_value*>(block), in_values(typed, bytes));
            return nullptr;
        });
    }
    bool owns(const void*) const noexcept { return true; }

private:
    template<std::size_t Alignment>
    struct alignas(Alignment) value {
        unsigned char bytes[Alignment];
    };
    template<class Typed>
    static std::size_t in_values(const Typed&, std::size_t bytes) {
        const std::size_t size = sizeof(typename Typed::value_type);
        return bytes / size + (bytes % size != 0 || bytes == 0);
    }
    template<class Work>
    void* with(std::size_t alignment, Work&& work) {
        if (alignment <= 1) return work(tenure::stl_allocator<value<1>, Below>(below_));
        if (alignment <= 64) return work(tenure::stl_allocator<value<64>, Below>(below_));
        return work(tenure::stl_allocator<value<4096>, Below>(below_));
    }
    Below& below_;
};

template<class Subject>
struct stl_subject : Subject {
    explicit stl_subject(tenure::block_source& source) : Subject(source) {}
    static constexpr bool knows_its_own = false;
    stl_backed<decltype(Subject::allocator)> allocator{Subject::allocator};
};

/// A subject behind virtual functions, so that each promise is compiled once.
class any_subject {
public:
    any_subject() = default;
    any_subject(const any_subject&) = delete;
    any_subject& operator=(const any_subject&) = delete;
    virtual ~any_subject() = default;

    virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;
    virtual void deallocate(void* block, std::size_t bytes, std::size_t alignment) = 0;
    /// True also where an adaptor cannot say.
    [[nodiscard]] virtual bool owns(const void* pointer) const = 0;
    [[nodiscard]] virtual bool valid() = 0;
    /// Everything allocated is gone, and what can go back to the source goes back.
    virtual void drop() = 0;
};

/// What a test knows of a kind of subject before it makes one.
struct kind {
    const char* name;
    part which;
    std::size_t max_bytes;
    std::size_t max_alignment;
    bool knows_its_own;
    std::unique_ptr<any_subject> (*make)(tenure::block_source& source);

    [[nodiscard]] bool is_passthrough() const { return tenure::passthrough_enabled(which); }
    friend std::ostream& operator<<(std::ostream& out, const kind& each) { return out << each.name; }
};

template<class Subject>
class erased final : public any_subject {
    static_assert(tenure::allocator<decltype(Subject::allocator)>);

public:
    explicit erased(tenure::block_source& source) : subject_(source) {}
    void* allocate(std::size_t bytes, std::size_t alignment) override {
        return subject_.allocator.allocate(bytes, alignment);
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        subject_.allocator.deallocate(block, bytes, alignment);
    }
    [[nodiscard]] bool owns(const void* pointer) const override { return subject_.allocator.owns(pointer); }
    [[nodiscard]] bool valid() override {
        if constexpr (requires { subject_.allocator.valid(); }) return subject_.allocator.valid();
        return true;
    }
    void drop() override { subject_.drop(); }

private:
    Subject subject_;
};

template<class Subject>
kind kind_of(const char* name) {
    return {name, Subject::which, Subject::max_bytes, Subject::max_alignment, !requires {Subject::knows_its_own;
}
, [](tenure::block_source& source) -> std::unique_ptr<any_subject> { return std::make_unique<erased<Subject>>(source); }
};
}

/// Every allocator of the library, and the adaptors over some of them.
inline std::vector<kind> every_kind() {
    using blocks = block_pool_subject<tenure::block_pool>;
    using shared_blocks = block_pool_subject<tenure::shared_block_pool>;
    using objects = object_pool_subject<tenure::pool<object>>;
    using shared_objects = object_pool_subject<tenure::shared_pool<object>>;
    constexpr auto one_thread = tenure::sharing::one_thread, any_thread = tenure::sharing::any_thread;
    constexpr auto found = tenure::size_on_free::optional, given = tenure::size_on_free::required;
    constexpr auto together = tenure::page_layout::mixed, apart = tenure::page_layout::by_size;
    using group = affinity_subject<one_thread, found, together>;
    using shared_group = affinity_subject<any_thread, found, together>;
    return {kind_of<arena_subject>("arena"),
            kind_of<temp_subject>("temp"),
            kind_of<temp_job_subject>("temp_job"),
            kind_of<heap_subject>("heap"),
            kind_of<blocks>("block_pool"),
            kind_of<shared_blocks>("shared_block_pool"),
            kind_of<objects>("pool"),
            kind_of<shared_objects>("shared_pool"),
            kind_of<group>("affinity_group"),
            kind_of<affinity_subject<one_thread, given, apart>>("affinity_group_of_given_sizes_apart"),
            kind_of<shared_group>("shared_affinity_group"),
            kind_of<affinity_subject<any_thread, given, apart>>("shared_affinity_group_of_given_sizes_apart"),
            kind_of<pmr_subject<arena_subject>>("resource_adaptor_over_arena"),
            kind_of<pmr_subject<temp_subject>>("resource_adaptor_over_temp"),
            kind_of<pmr_subject<temp_job_subject>>("resource_adaptor_over_temp_job"),
            kind_of<pmr_subject<heap_subject>>("resource_adaptor_over_heap"),
            kind_of<pmr_subject<blocks>>("resource_adaptor_over_block_pool"),
            kind_of<pmr_subject<shared_objects>>("resource_adaptor_over_shared_pool"),
            kind_of<pmr_subject<group>>("resource_adaptor_over_affinity_group"),
            kind_of<stl_subject<arena_subject>>("stl_allocator_over_arena"),
            kind_of<stl_subject<temp_job_subject>>("stl_allocator_over_temp_job"),
            kind_of<stl_subject<heap_subject>>("stl_allocator_over_heap"),
            kind_of<stl_subject<shared_blocks>>("stl_allocator_over_shared_block_pool"),
            kind_of<stl_subject<shared_group>>("stl_allocator_over_shared_affinity_group")};
}
}
