// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// usage: host PLUGIN [LIBRARY THAT STAYS]

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

namespace {

void require(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "host: %s\n", what.c_str());
    std::exit(1);
}

bool is_mapped(const std::string& file) {
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        if (line.find("/" + file) != std::string::npos) return true;
    }
    return false;
}

/// Whether a thread of the library runs.
bool has_background_thread() {
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::ifstream file{task.path() / "comm"};
        std::string name;
        if (std::getline(file, name) && name == "tenure") return true;
    }
    return false;
}

/// Waits until it does, or does not: its name comes a moment after its start, and the system lists it a moment longer
/// than it can be joined.
bool background_thread_is(bool there) {
    for (int look = 0; look < 5000; ++look) {
        if (has_background_thread() == there) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return false;
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

using entry = int();

struct loaded {
    void* handle;
    entry* use;
};

loaded load(const std::string& path) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    require(handle != nullptr, handle == nullptr ? dlerror() : "");
    auto* const use = reinterpret_cast<entry*>(dlsym(handle, "use_plugin"));
    require(use != nullptr, "the plug-in has no entry");
    return {handle, use};
}

void unload(const loaded& plugin, const std::string& path) {
    require(dlclose(plugin.handle) == 0, "dlclose failed");
    require(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr, "the plug-in is still loaded after dlclose");
    require(!is_mapped(name_of(path)), "the plug-in is still mapped after dlclose");
}

}

int main(int count, char** arguments) {
    require(count == 2 || count == 3, "usage: host PLUGIN [LIBRARY THAT STAYS]");
    const std::string path = arguments[1];

    // More often than the static thread-local block has room for copies: what one leaves the next must get.
    for (int turn = 0; turn < 20; ++turn) {
        const loaded plugin = load(path);
        int first = -1, second = -1;
        std::thread one{[&] { first = plugin.use(); }};
        std::thread two{[&] { second = plugin.use(); }};
        one.join();
        two.join();
        require(first == 0 && second == 0 && plugin.use() == 0, "using the plug-in failed");
        require(background_thread_is(true), "the library has no background thread");
        // At every moment of its life: it sleeps for half a second at first.
        if (turn % 4 == 3) std::this_thread::sleep_for(std::chrono::milliseconds{480 + turn});
        unload(plugin, path);
        require(count == 3 || background_thread_is(false), "the thread of the copy is still there after dlclose");
    }

    // A thread that used the plug-in outlives it: its end must not call into memory that is gone.
    const loaded plugin = load(path);
    std::promise<int> used;
    std::promise<void> unloaded;
    std::thread survivor{[&] {
        used.set_value(plugin.use());
        unloaded.get_future().wait();
    }};
    require(used.get_future().get() == 0, "using the plug-in failed");
    unload(plugin, path);
    unloaded.set_value();
    survivor.join();

    if (count == 3) require(is_mapped(arguments[2]), std::string{arguments[2]} + " was unloaded, and must stay");
    std::puts("unloaded 21 times");
}
