// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The nodes of the scene experiment: counted, virtual and visited, like VulkanSceneGraph's.
///
/// A memory has the static functions `allocate(kind, bytes)`, which returns nullptr when out of memory, and
/// `deallocate(kind, block, bytes)`. The kind groups objects that are visited together.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "bench/experiments/heap/heap_blocks.hpp"

namespace tenure::lab {

enum class kind : std::uint8_t { objects, data, nodes };
inline constexpr std::size_t kind_count = 3;

/// For containers and allocate_shared.
template<class T, class Memory, kind Kind>
struct kind_allocator {
    using value_type = T;
    template<class U>
    struct rebind {
        using other = kind_allocator<U, Memory, Kind>;
    };
    kind_allocator() = default;
    template<class U>
    kind_allocator(const kind_allocator<U, Memory, Kind>&) {}
    T* allocate(std::size_t count) {
        void* const block = Memory::allocate(Kind, count * sizeof(T));
        if (block == nullptr) refused();
        return static_cast<T*>(block);
    }
    void deallocate(T* block, std::size_t count) { Memory::deallocate(Kind, block, count * sizeof(T)); }
    friend bool operator==(const kind_allocator&, const kind_allocator&) { return true; }
};

/// `new` and `delete` of a class in a kind's memory.
template<class Memory, kind Kind>
struct of_kind {
    static void* operator new(std::size_t bytes) {
        void* const block = Memory::allocate(Kind, bytes);
        if (block == nullptr) refused();
        return block;
    }
    static void operator delete(void* block, std::size_t bytes) { Memory::deallocate(Kind, block, bytes); }
};

template<class Memory>
struct scene_nodes {
    class node;

    class visitor {
    public:
        virtual ~visitor() = default;
        virtual void apply(node& visited) = 0;
    };

    /// Attached to a node and not read by traversals: an array of data and a name.
    struct attachment : of_kind<Memory, kind::objects> {
        attachment(std::uint32_t bytes, std::uint32_t stamp) : data_bytes(bytes), name_bytes(24 + stamp % 25) {
            data = kind_allocator<unsigned char, Memory, kind::data>{}.allocate(data_bytes);
            name = kind_allocator<char, Memory, kind::objects>{}.allocate(name_bytes);
            std::memset(data, static_cast<int>(1 + stamp % 255), data_bytes);
            std::memset(name, 'a' + static_cast<int>(stamp % 26), name_bytes);
        }
        ~attachment() {
            kind_allocator<unsigned char, Memory, kind::data>{}.deallocate(data, data_bytes);
            kind_allocator<char, Memory, kind::objects>{}.deallocate(name, name_bytes);
        }
        attachment(const attachment&) = delete;
        attachment& operator=(const attachment&) = delete;
        /// Whether every byte still has its value.
        [[nodiscard]] bool intact() const {
            for (std::uint32_t i = 1; i < data_bytes; ++i)
                if (data[i] != data[0]) return false;
            for (std::uint32_t i = 1; i < name_bytes; ++i)
                if (name[i] != name[0]) return false;
            return data[0] != 0;
        }

        std::uint32_t data_bytes, name_bytes;
        unsigned char* data;
        char* name;
    };

    /// 24 bytes, like vsg::Node: a table of functions, a reference count, auxiliary data.
    class node : public of_kind<Memory, kind::nodes> {
    public:
        node() = default;
        node(const node&) = delete;
        node& operator=(const node&) = delete;
        virtual ~node() { delete auxiliary_; }
        virtual void traverse(visitor&) {}
        virtual void accept(visitor& from) { from.apply(*this); }
        [[nodiscard]] virtual std::size_t bytes() const { return sizeof *this; } ///< with its children's array

        void refer() { references_.fetch_add(1, std::memory_order_relaxed); }
        void unrefer() {
            if (references_.fetch_sub(1, std::memory_order_seq_cst) == 1) delete this;
        }
        void attach(std::uint32_t bytes, std::uint32_t stamp) { auxiliary_ = new attachment(bytes, stamp); }
        [[nodiscard]] const attachment* attached() const { return auxiliary_; }
        [[nodiscard]] unsigned references() const { return references_.load(std::memory_order_relaxed); }

    private:
        std::atomic<unsigned> references_{0};
        attachment* auxiliary_ = nullptr;
    };

    /// A counting reference.
    class reference {
    public:
        reference() = default;
        explicit reference(node* to) : node_(to) {
            if (node_ != nullptr) node_->refer();
        }
        reference(reference&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
        reference& operator=(reference&& other) noexcept {
            std::swap(node_, other.node_);
            return *this;
        }
        ~reference() {
            if (node_ != nullptr) node_->unrefer();
        }
        [[nodiscard]] node* get() const { return node_; }

    private:
        node* node_ = nullptr;
    };

    class quad_group final : public node {
    public:
        void traverse(visitor& from) override {
            for (const reference& child : children) child.get()->accept(from);
        }
        [[nodiscard]] std::size_t bytes() const override { return sizeof *this; }
        std::array<reference, 4> children;
    };

    class group final : public node {
    public:
        void traverse(visitor& from) override {
            for (const reference& child : children) child.get()->accept(from);
        }
        [[nodiscard]] std::size_t bytes() const override {
            return sizeof *this + children.capacity() * sizeof(reference);
        }
        std::vector<reference, kind_allocator<reference, Memory, kind::nodes>> children;
    };

    /// The same tree with std::shared_ptr; the counts are in front of the objects.
    class shared_node {
    public:
        shared_node() = default;
        shared_node(const shared_node&) = delete;
        shared_node& operator=(const shared_node&) = delete;
        virtual ~shared_node() = default;
        virtual void count(std::size_t& visited) { ++visited; }
        [[nodiscard]] virtual std::size_t bytes() const { return sizeof *this; }
    };
    using shared_reference = std::shared_ptr<shared_node>;

    class shared_group final : public shared_node {
    public:
        void count(std::size_t& visited) override {
            ++visited;
            for (const shared_reference& child : children) child->count(visited);
        }
        [[nodiscard]] std::size_t bytes() const override {
            return sizeof *this + children.capacity() * sizeof(shared_reference);
        }
        std::vector<shared_reference, kind_allocator<shared_reference, Memory, kind::nodes>> children;
    };

    template<class T>
    [[nodiscard]] static std::shared_ptr<T> make_shared_node() {
        return std::allocate_shared<T>(kind_allocator<T, Memory, kind::nodes>{});
    }
};

}
