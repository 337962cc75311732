// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The process's own malloc inside the drop-in, which has taken over the public names. musl has no other names for its
/// functions, so the loader is asked for those behind the drop-in. A static program has no loader: there is nothing
/// to pass through to, and requests are refused.

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/dropin/detail/figures.hpp>
#include <tenure/platform/symbol.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

/// A function of the C library, which is looked up at its first call.
template<class Function>
class theirs {
public:
    constexpr explicit theirs(const char* name) noexcept : name_(name) {}
    [[nodiscard]] Function* find() noexcept {
        Function* call = known_.load(std::memory_order_relaxed);
        if (call == nullptr) {
            call = reinterpret_cast<Function*>(platform::next_symbol(name_));
            known_.store(call, std::memory_order_relaxed);
        }
        return call;
    }

private:
    const char* name_;
    std::atomic<Function*> known_{nullptr}; // relaxed: code of the C library, there before every thread
};

constinit theirs<void*(std::size_t)> their_malloc("malloc");
constinit theirs<void*(std::size_t, std::size_t)> their_calloc("calloc");
constinit theirs<void*(void*, std::size_t)> their_realloc("realloc");
constinit theirs<void*(std::size_t, std::size_t)> their_aligned_alloc("aligned_alloc"); // memalign() would call ours
constinit theirs<void(void*)> their_free("free");
constinit theirs<std::size_t(void*)> their_usable_size("malloc_usable_size");

}

namespace dropin {

std::size_t c_library_bytes() noexcept { return 0; } // musl does not count

}

namespace host {

void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t size = std::max<std::size_t>(bytes, 1);
    if (alignment > default_alignment) {
        auto* const call = their_aligned_alloc.find();
        return call != nullptr ? call(alignment, size) : nullptr;
    }
    auto* const call = their_malloc.find();
    return call != nullptr ? call(size) : nullptr;
}

void* process_allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment <= default_alignment) {
        auto* const call = their_calloc.find();
        return call != nullptr ? call(1, std::max<std::size_t>(bytes, 1)) : nullptr;
    }
    void* const block = process_allocate(bytes, alignment);
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
}

void* process_reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment <= default_alignment) {
        auto* const call = their_realloc.find();
        return call != nullptr ? call(block, std::max<std::size_t>(bytes, 1)) : nullptr;
    }
    void* const fresh = process_allocate(bytes, alignment); // realloc does not keep an alignment
    if (fresh == nullptr) return nullptr;
    std::memcpy(fresh, block, std::min(bytes, process_usable(block)));
    process_deallocate(block);
    return fresh;
}

void process_deallocate(void* block) noexcept {
    if (auto* const call = their_free.find(); call != nullptr) call(block);
}

std::size_t process_usable(const void* block) noexcept {
    auto* const call = their_usable_size.find();
    return call != nullptr ? call(const_cast<void*>(block)) : 0;
}

}

}
