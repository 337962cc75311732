// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Libraries that are loaded and unloaded, and the loader's own allocations.

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "preloaded.hpp"

namespace {

std::string plugin_path() {
    const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (tests / "libdropin_plugin.so").string();
}

class plugin : public testing::Test {
protected:
    void SetUp() override { ASSERT_FALSE(dropin_name().empty()); }
};

TEST_F(plugin, is_loaded_used_by_threads_and_unloaded_again_and_again) {
    std::vector<char*> kept; // freed when what allocated it is gone
    std::size_t settled = 0;
    for (int turn = 0; turn < 300; ++turn) {
        void* const handle = ::dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(handle, nullptr) << ::dlerror();
        auto* const text = reinterpret_cast<char* (*)(int)>(::dlsym(handle, "plugin_text"));
        ASSERT_NE(text, nullptr);
        char* from_thread = nullptr;
        std::thread{[&] { from_thread = text(turn); }}.join();
        kept.push_back(from_thread);
        kept.push_back(text(turn));
        ASSERT_EQ(::dlclose(handle), 0);
        if (turn == 50) settled = resident_bytes();
    }
    EXPECT_LT(resident_bytes(), settled + (std::size_t{4} << 20));
    for (char* each : kept) {
        EXPECT_EQ(std::strlen(each), 100u);
        std::free(each);
    }
}

TEST_F(plugin, questions_that_the_loader_cannot_answer_allocate_their_messages) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int turn = 0; turn < 200; ++turn) {
                EXPECT_EQ(::dlsym(RTLD_DEFAULT, "no_such_function"), nullptr);
                EXPECT_NE(::dlerror(), nullptr);
                EXPECT_EQ(::dlopen("no_such_library.so", RTLD_NOW), nullptr);
            }
        });
    }
    for (std::thread& each : threads) each.join();
}

}
