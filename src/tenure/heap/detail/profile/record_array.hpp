// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An array in mapped memory that doubles when it is full: what a heap can use for its own records.

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/checked/record_memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   one at a time.
template<class T>
class record_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    constexpr record_array() noexcept = default;
    ~record_array() = default; // lives as long as the process
    record_array(const record_array&) = delete;
    record_array& operator=(const record_array&) = delete;

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return data_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data_[index]; }
    [[nodiscard]] std::span<const T> all() const noexcept { return {data_, count_}; }

    /// Returns   false when out of memory; nothing changes then.
    [[nodiscard]] bool reserve(std::size_t more) noexcept {
        constexpr std::size_t first_bytes = 16 * 1024;
        if (count_ + more <= room_) return true;
        std::size_t room = room_ == 0 ? first_bytes / sizeof(T) : 2 * room_;
        while (room < count_ + more) room *= 2;
        void* const memory = map_records(room * sizeof(T));
        if (memory == nullptr) return false;
        if (room_ != 0) {
            std::memcpy(memory, data_, count_ * sizeof(T));
            unmap_records(data_, room_ * sizeof(T));
        }
        data_ = static_cast<T*>(memory);
        room_ = room;
        return true;
    }
    /// Requires  reserve() has made room.
    void append(const T& value) noexcept { data_[count_++] = value; }
    void clear() noexcept { count_ = 0; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    T* data_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

}
