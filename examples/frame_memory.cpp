// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A simulation thread writes draw commands that a renderer reads one frame later. Nobody frees them.

#include <cstdio>
#include <new>
#include <thread>

#include <tenure/lifetime/frame_memory.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

struct command {
    int object;
    const command* next;
};

/// The first command of a frame's list; two copies, one per frame.
using command_lists = tenure::frame_buffered<const command*>;

void simulate(int frame, tenure::frame_memory& memory, command_lists& lists) {
    const command* first = nullptr;
    for (int object = 0; object < 1000; ++object) {
        void* const place = memory.allocate(sizeof(command), alignof(command));
        if (place != nullptr) first = ::new (place) command{frame * 1000 + object, first};
    }
    lists.current() = first;
}

/// Draws what the former frame has left.
long long render(const command_lists& lists) {
    long long sum = 0;
    for (const command* each = lists.previous(); each != nullptr; each = each->next) sum += each->object;
    return sum;
}

}

int main() {
    tenure::frame_memory memory(2); // this frame and the next: double buffering
    command_lists lists;
    long long drawn = 0;
    for (int frame = 0; frame < 100; ++frame) {
        std::thread simulation([&] { simulate(frame, memory, lists); });
        drawn += render(lists);
        simulation.join();
        tenure::next_frame();
    }
    std::printf("drawn: %lld, held: %zu bytes\n", drawn, memory.stats().reserved_bytes);
    return drawn == 4'900'450'500 ? 0 : 1;
}
