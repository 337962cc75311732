// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Tracy's rules: zones of a thread end in the reverse order of their begins; a block begins once, and only a block that
// has begun may end. Tracy ends a connection that breaks the second one.

#include <map>
#include <mutex>
#include <vector>

#include "stand_in.hpp"
#include "tracy/Tracy.hpp"
#include "tracy/TracyC.h"

namespace stand_in {

namespace {

thread_local std::vector<std::uint32_t> open_zones;
thread_local std::uint32_t last_zone = 0;

struct known_blocks {
    std::mutex mutex;
    std::map<const void*, std::size_t> live;
    std::size_t begun = 0;
    std::size_t frames = 0;

    ~known_blocks() { require(frames == 0 || begun > 0, "frames have ended, and no block was told"); }
};
known_blocks blocks;

bool is_open(zone which) { return !open_zones.empty() && open_zones.back() == which.number; }

}

zone begin_zone(const char* name) {
    require(name != nullptr, "a zone needs a name");
    open_zones.push_back(++last_zone);
    return {last_zone};
}

void name_zone(zone which, const char* text, std::size_t bytes) {
    require(is_open(which), "a zone is named while it is the innermost one");
    require(text != nullptr && bytes > 0 && bytes <= 65'535, "a zone's text has 1 to 65535 bytes");
}

void set_value_of_zone(zone which, std::uint64_t) {
    require(is_open(which), "a zone gets its value while it is the innermost one");
}

void end_zone(zone which) {
    require(is_open(which), "zones end in the reverse order of their begins");
    open_zones.pop_back();
}

void begin_block(const void* block, std::size_t bytes) {
    const std::lock_guard lock(blocks.mutex);
    require(block != nullptr && blocks.live.emplace(block, bytes).second, "a block begins while it is not live");
    ++blocks.begun;
}

void end_block(const void* block) {
    const std::lock_guard lock(blocks.mutex);
    require(blocks.live.erase(block) == 1, "a block ends that has begun");
}

void end_frame() {
    const std::lock_guard lock(blocks.mutex);
    ++blocks.frames;
}

}
