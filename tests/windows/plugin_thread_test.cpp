// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Libraries with copies of their own come and go while threads that used them live on.

#include <windows.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/heap/heap.hpp>

namespace {

HMODULE load() { return ::LoadLibraryA("tenure_test_plugin.dll"); }
int use(HMODULE plugin) {
    using function = int (*)();
    const auto called =
        reinterpret_cast<function>(reinterpret_cast<std::uintptr_t>(::GetProcAddress(plugin, "use_plugin")));
    return called != nullptr ? called() : -1;
}

TEST(plugins, are_unloaded_while_threads_that_used_them_live_on) {
    for (int round = 0; round < 20; ++round) {
        const HMODULE plugin = load();
        ASSERT_NE(plugin, nullptr);
        std::atomic<int> stage{0};
        std::thread user([&] {
            EXPECT_EQ(use(plugin), 0);
            stage = 1;
            while (stage != 2) ::Sleep(1);
        });
        while (stage != 1) ::Sleep(1);
        EXPECT_EQ(use(plugin), 0);
        EXPECT_NE(::FreeLibrary(plugin), 0);
        EXPECT_EQ(::GetModuleHandleA("tenure_test_plugin.dll"), nullptr) << "nothing keeps it";
        stage = 2;
        user.join(); // its end calls nothing in the code that is gone
    }
    tenure::heap::process().deallocate(tenure::heap::process().allocate(100));
}

}
