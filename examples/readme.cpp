// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The three questions that choose a part: how long is it held, is it one type, who frees it?

#include <cstdio>

#include <tenure/tenure.hpp>

struct monster {
    explicit monster(int start) : health(start) {}
    int health;
};

int main() {
    tenure::pool<monster> monsters; // one type, made and destroyed in any order
    monster* const orc = monsters.construct(250);
    {
        tenure::temp_scope const scope; // scratch of this thread, until the closing brace
        void* const path = tenure::allocate(4096, tenure::lifetime::temp);
        if (path == nullptr || orc == nullptr) return 1; // refused: nothing throws
    }
    void* const results = tenure::allocate(4096, tenure::lifetime::temp_job); // a few frames, freed by any thread
    tenure::deallocate(results, tenure::lifetime::temp_job);
    tenure::next_frame(); // once a frame: blocks that were forgotten are named, with their owners

    std::printf("%zu monster with health %d\n", monsters.size(), orc->health);
    monsters.destroy(orc);
    return monsters.empty() ? 0 : 1;
}
