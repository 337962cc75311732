// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <tenure/heap/heap.hpp>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "new_delete: %s\n", what);
    ++failures;
}

bool is_ours(const void* block) { return tenure::heap::process().owns(block); }

struct alignas(256) wide {
    char content[256];
};

void* volatile seen; // so that no pair of new and delete is left out
template<class T>
T* shown(T* block) {
    seen = block;
    return block;
}

volatile std::size_t beyond = static_cast<std::size_t>(PTRDIFF_MAX);

void use_every_form() {
    auto* const one = shown(new int{1});
    auto* const many = shown(new long[1000]);
    auto* const aligned = shown(new wide);
    auto* const aligned_many = shown(new wide[3]);
    auto* const quiet = shown(new (std::nothrow) int{2});
    expect(is_ours(one) && is_ours(many) && is_ours(aligned) && is_ours(aligned_many) && is_ours(quiet),
           "operator new is another's");
    expect(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0, "an alignment is not kept");
    delete one;
    delete[] many;
    delete aligned;
    delete[] aligned_many;
    delete quiet;
}

void use_the_library() {
    std::ostringstream made; // its code lies in the C++ library
    made << std::string(1000, 'x') << 5;
    const std::string text = made.str();
    expect(is_ours(text.data()), "the C++ library has another operator new");
    std::vector<std::shared_ptr<std::string>> shared(100, std::make_shared<std::string>(text));
    expect(is_ours(shared.data()) && is_ours(shared[0].get()), "a container has another operator new");
}

int handled = 0;

bool throws_bad_alloc() {
    try {
        ::operator delete(::operator new(beyond));
    } catch (const std::bad_alloc&) {
        return true;
    }
    return false;
}

void be_refused() {
    expect(throws_bad_alloc(), "a refusal does not throw");
    std::set_new_handler([] {
        if (++handled == 2) std::set_new_handler(nullptr);
    });
    expect(throws_bad_alloc() && handled == 2, "the new handler is not called until it gives up");
    std::set_new_handler([] { throw std::bad_alloc{}; });
    expect(shown(::operator new(beyond, std::nothrow)) == nullptr, "a quiet refusal is not null");
    expect(shown(::operator new (beyond, std::align_val_t{64}, std::nothrow)) == nullptr, "nor an aligned one");
    std::set_new_handler(nullptr);
}

}

int main() {
    use_every_form();
    use_the_library();
    be_refused();
    std::thread{&use_every_form}.join();
    const std::size_t before = tenure::heap::process().stats().live_count;
    delete shown(new std::string(500, 'y'));
    expect(tenure::heap::process().stats().live_count <= before + 1, "a delete is another's");
    return failures;
}
