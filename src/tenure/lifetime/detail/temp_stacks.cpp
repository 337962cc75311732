// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <utility>

#include <tenure/base/tag.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>

// The functions of Temp work on one stack: its position is in the thread-local words, its record is record.scratch. The
// second stack, and those of a temp_state, take their place for the time of a call or longer.

namespace tenure::inline TENURE_ABI::detail {

void exchange_position(temp_position& with) noexcept {
    std::swap(this_thread().temp_cursor, with.cursor);
    std::swap(this_thread().temp_limit, with.limit);
    std::swap(this_thread().temp_chunk, with.chunk);
    std::swap(this_thread().temp_floor, with.floor);
}

on_second_stack::on_second_stack(thread_record& record) noexcept : record_(record) {
    exchange_position(record.stacks().second);
    record.scratch = &record.stacks().second_record;
    this_thread_tag().count_second = &count_second_stack;
}

on_second_stack::~on_second_stack() {
    exchange_position(record_.stacks().second);
    record_.scratch = &record_.stacks().first_record;
}

void release_stacks(temp_stacks& stacks) noexcept {
    exchange_position(stacks.first);
    release_stack(stacks.first_record);
    exchange_position(stacks.first);
    if (!is_in_use(stacks.second_record)) return;
    exchange_position(stacks.second);
    release_stack(stacks.second_record);
    exchange_position(stacks.second);
}

void release_temp(thread_record& record) noexcept {
    temp_stacks& own = record.own_stacks;
    if (this_thread().record == &record) {
        record.stacks().user = nullptr;
        switch_stacks(record, own); // the thread may end while it uses a temp_state
        count_tagged_stacks(record, this_thread_tag().id);
    }
    own.first = {};
    exchange_position(own.first);
    release_stacks(own);
}

}
