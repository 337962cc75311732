// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// A profile of the process heap: who holds its memory? `tenure profile caches.heapprofile` shows the file.

#include <cstdio>
#include <vector>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>

namespace {

using buffer = std::vector<char, tenure::stl_allocator<char, tenure::heap>>;

/// Keeps what it was asked for, and nobody ever removes anything.
std::vector<buffer> load_sessions(std::size_t count) {
    std::vector<buffer> sessions;
    for (std::size_t each = 0; each < count; ++each) sessions.emplace_back(2000, 's', tenure::heap::process());
    return sessions;
}

/// Needs memory for a moment.
std::size_t answer_requests(std::size_t count) {
    std::size_t bytes = 0;
    for (std::size_t each = 0; each < count; ++each) bytes += buffer(700, 'a', tenure::heap::process()).size();
    return bytes;
}

}

int main() {
    // One byte in 64 KiB: eight times as many samples as the default, for a program that holds little.
    const tenure::status started = tenure::heap_profile::start(65'536);
    if (started == tenure::status::unsupported) std::puts("the heap's blocks come from malloc: there is no profile");
    if (started != tenure::status::ok) return started == tenure::status::unsupported ? 0 : 1;
    const std::vector<buffer> sessions = load_sessions(20'000);
    std::printf("%zu bytes answered\n", answer_requests(100'000));
    const char* const path = "caches.heapprofile";
    const bool is_saved = tenure::heap_profile::save(path) == tenure::status::ok;
    tenure::heap_profile::stop();
    std::printf(is_saved ? "saved %s: `tenure profile %s` shows who holds what\n" : "cannot write %s\n", path, path);
    return is_saved ? 0 : 1;
}
