// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Combines the symbols, the mapping and the blocks of a worker into one sentence.

#include "bench/harness/mallocs/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>

#include "bench/harness/mallocs/malloc_calls.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t max_asked = 1000;

std::string real_path(const std::string& path) {
    char* const found = ::realpath(path.c_str(), nullptr);
    const std::string result = found != nullptr ? found : path;
    std::free(found);
    return result;
}

bool is_mapped(const std::string& path) {
    std::ifstream maps("/proc/self/maps");
    const std::string wanted = real_path(path);
    for (std::string line; std::getline(maps, line);) {
        if (line.ends_with(wanted)) return true;
    }
    return false;
}

}

block_proof::block_proof(route how, std::string_view library, std::string_view type)
    : how_(how), library_(library), type_(type), in_use_before_(counted_bytes_in_use()) {}

void block_proof::ask(std::span<void* const> live, const block_owner& owner) {
    const std::size_t count = std::min(live.size(), max_asked);
    if (owner.owns != nullptr) {
        for (std::size_t i = 0; i < count; ++i) {
            acknowledged_ += std::size_t{owner.owns(owner.asked, live[i * live.size() / count])};
        }
        put_to_owner_ += count;
    } else if (owner.alive != nullptr) {
        acknowledged_ += std::min(owner.alive(owner.asked), live.size());
        put_to_owner_ += live.size();
        counts_ = true;
    } else {
        return;
    }
    query_ = owner.query;
}

void block_proof::witness(std::span<void* const> live, std::size_t bytes_each, const block_owner& owner) {
    if (live.empty()) return;
    shown_ += live.size();
    if (!witnessed_) {
        const std::size_t now = counted_bytes_in_use();
        // Half is enough, because some blocks may reuse memory freed during program start, which counts as in use all
        // along.
        counted_ = now > in_use_before_ && now - in_use_before_ >= live.size() * bytes_each / 2;
        witnessed_ = true;
    }
    ask(live, owner);
    if (how_ != route::process_malloc) return;
    const malloc_calls& calls = process_malloc_calls();
    if (calls.owns == nullptr) return;
    const std::size_t count = std::min(live.size(), max_asked);
    for (std::size_t i = 0; i < count; ++i) owned_ += std::size_t{calls.owns(live[i * live.size() / count])};
    asked_ += count;
}

std::string block_proof::wrong_symbol(const std::string& expected) const {
    for (const char* name : {"malloc", "free"}) {
        const std::string object = object_of_symbol(name);
        if (!same_file(object, expected))
            return fmt::format("{} resolves into {}, not into {}", name, object, expected);
    }
    for (const char* name : {"_Znwm", "_ZdlPvm"}) { // operator new(size_t), operator delete(void*, size_t)
        const std::string object = object_of_symbol(name);
        const bool runtime =
            object.find("libstdc++") != std::string::npos || object.find("libc++") != std::string::npos;
        if (!runtime && !same_file(object, expected)) {
            return fmt::format("{} resolves into {}, not into {} or the C++ runtime", name, object, expected);
        }
    }
    return {};
}

proof_verdict block_proof::conclude_malloc() const {
    const std::string expected = library_.empty() ? c_library_object() : std::string{library_};
    std::string wrong = wrong_symbol(expected);
    if (!wrong.empty()) return {false, std::move(wrong)};
    if (!is_mapped(expected)) return {false, fmt::format("{} is not mapped", expected)};
    const malloc_calls& calls = process_malloc_calls();
    if (calls.owns != nullptr) {
        return {owned_ == asked_, fmt::format("malloc resolves into {}; {} of {} blocks asked are its own by {}",
                                              real_path(expected), owned_, asked_, calls.query)};
    }
    if (library_.empty()) {
        return {counted_, fmt::format("malloc resolves into {}; mallinfo2 {} the {} blocks first shown",
                                      real_path(expected), counted_ ? "counts" : "does not count", shown_)};
    }
    if (same_file(object_of_symbol("mallinfo2"), expected)) {
        return {counted_ || !calls.counts, // those of other mallocs may count only some blocks, or none
                fmt::format("malloc, free and operator new resolve into {}, whose mallinfo2 {} the {} blocks first "
                            "shown",
                            real_path(expected), counted_ ? "counts" : "does not count", shown_)};
    }
    return {true, fmt::format("malloc, free and operator new resolve into {}, whose functions were called; it has "
                              "no known call to ask for its blocks; the C library's heap {}",
                              real_path(expected), counted_ ? "grew by them, so it lies behind" : "did not grow")};
}

std::string block_proof::words_of_owner() const {
    if (counts_) return fmt::format("{} of {} blocks shown are counted by {}", acknowledged_, put_to_owner_, query_);
    return fmt::format("{} of {} blocks asked are its own by {}", acknowledged_, put_to_owner_, query_);
}

proof_verdict block_proof::conclude_inlined() const {
    if (query_.empty()) {
        return {true, fmt::format("{} called directly; it has no call to ask for its blocks; {} shown", type_, shown_)};
    }
    return {!owner_denies(), fmt::format("{} called directly; {}", type_, words_of_owner())};
}

proof_verdict block_proof::conclude_offsets() const {
    const std::string object = object_of_symbol(offset_library_mark);
    if (!same_file(object, std::string{library_})) {
        return {false, fmt::format("{} resolves into {}, not into {}", offset_library_mark, object, library_)};
    }
    return {true, fmt::format("{} resolves into {}; it has no call to ask for its ranges; {} shown",
                              offset_library_mark, real_path(object), shown_)};
}

proof_verdict block_proof::conclude() const {
    if (!witnessed_) return {false, "the worker showed none of the allocator's blocks"};
    if (how_ == route::inlined) return conclude_inlined();
    if (how_ == route::offset_library) return conclude_offsets();
    proof_verdict made = conclude_malloc();
    if (!query_.empty()) {
        made.proven = made.proven && !owner_denies();
        made.text += "; " + words_of_owner();
    }
    return made;
}

}
