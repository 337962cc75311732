// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/scratch.hpp>

#include <tenure/lifetime/detail/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

using detail::on_second_stack;
using detail::this_thread;
using detail::thread_record;

constinit temp_stack temp_stack::the_first{temp_stack::for_library{}};
constinit temp_stack temp_stack::the_second{temp_stack::for_library{}};

void* temp_stack::allocate_second(std::size_t bytes, std::size_t alignment) noexcept {
    thread_record* const record = detail::record_of_this_thread();
    if (record == nullptr) return nullptr;
    const on_second_stack second(*record);
    return temp::allocate(bytes, alignment);
}

void temp_stack::deallocate_second(void* block, std::size_t bytes) noexcept {
    thread_record* const record = this_thread().record;
    if (record == nullptr) return temp::deallocate(block, bytes); // reports it in checked builds
    const on_second_stack second(*record);
    temp::deallocate(block, bytes);
}

bool temp_stack::owns(const void* pointer) const noexcept {
    thread_record* const record = this_thread().record;
    if (!is_second() || record == nullptr) return temp::owns(pointer);
    const on_second_stack second(*record);
    return temp::owns(pointer);
}

temp_stats temp_stack::stats() const noexcept {
    thread_record* const record = this_thread().record;
    if (!is_second() || record == nullptr) return temp::stats();
    const on_second_stack second(*record);
    return temp::stats();
}

bool temp_stack::valid() const noexcept {
    thread_record* const record = this_thread().record;
    if (!is_second() || record == nullptr) return temp::valid();
    const on_second_stack second(*record);
    return temp::valid();
}

void scratch_scope::open_checked() noexcept {
    thread_record* const record = detail::record_of_this_thread();
    if (!stack_.is_second() || record == nullptr) {
        depth_ = temp_scope::open();
        return;
    }
    const on_second_stack second(*record);
    depth_ = temp_scope::open();
}

void scratch_scope::end_slow() noexcept {
    thread_record* const record = this_thread().record;
    if (record == nullptr) {
        if (checks::caller && depth_ != 0) detail::report_scope_elsewhere(static_cast<std::uint32_t>(depth_ >> 32));
        return;
    }
    const auto end = [this]() noexcept {
        if (!checks::caller || temp_scope::close(depth_)) temp_scope::rewind_slow(cursor_, chunk_);
    };
    if (!stack_.is_second()) return end();
    const on_second_stack second(*record);
    end();
}

}
