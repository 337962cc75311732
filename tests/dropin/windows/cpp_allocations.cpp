// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program in C++ that knows nothing of the drop-in: operators, containers, threads, exceptions. The first argument
// says whether its blocks are to be those of the drop-in's heap.

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "owned.h"

namespace {

bool served = false;

void check_served(const void* block) { CHECK((owned(block) != 0) == served); }

void operators_are_served() {
    const std::unique_ptr<int> one(new int(7));
    check_served(one.get());
    const std::unique_ptr<char[]> many(new char[100'000]);
    check_served(many.get());
    CHECK(*one == 7);
    struct alignas(128) aligned {
        char bytes[200];
    };
    for (int turn = 0; turn < 100; ++turn) {
        const std::unique_ptr<aligned> block(new aligned);
        CHECK(reinterpret_cast<std::uintptr_t>(block.get()) % 128 == 0);
    }
}

void containers_are_served() {
    std::map<int, std::string> texts;
    for (int each = 0; each < 2'000; ++each) texts[each] = std::string(static_cast<std::size_t>(each % 300), 'x');
    check_served(texts[299].data());
    check_served(&texts.begin()->second);
    std::vector<int> numbers;
    for (int each = 0; each < 1'000'000; ++each) numbers.push_back(each);
    check_served(numbers.data());
}

void a_refusal_is_bad_alloc() {
    bool is_thrown = false;
    try {
        ::operator delete(::operator new(PTRDIFF_MAX - 100)); // not an expression that compilers may leave out
    } catch (const std::bad_alloc&) {
        is_thrown = true;
    }
    CHECK(is_thrown);
    CHECK(::operator new(PTRDIFF_MAX - 100, std::nothrow) == nullptr);
}

void threads_hand_over_their_blocks() {
    std::vector<std::string> made[4];
    const auto run = [&](auto work) {
        std::vector<std::thread> threads;
        for (std::size_t each = 0; each < 4; ++each) threads.emplace_back([=] { work(each); });
        for (std::thread& each : threads) each.join();
    };
    run([&](std::size_t index) {
        for (std::size_t each = 0; each < 3'000; ++each) made[index].emplace_back(each % 500, 'y');
    });
    run([&](std::size_t index) { made[(index + 1) % 4].clear(); });
}

}

int main(int argc, char** argv) {
    served = argc > 1 && std::string_view{argv[1]} == "served";
    CHECK((find_owns() != nullptr) == served || !served);
    operators_are_served();
    containers_are_served();
    a_refusal_is_bad_alloc();
    threads_hand_over_their_blocks();
}
