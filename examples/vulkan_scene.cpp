// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A scene graph, drawn by Vulkan: each frame replaces a sixteenth of the scene, moves every node, records a draw
// command for each visible mesh, and waits for the device. The allocator of the nodes and their data is an option, and
// the times of each step are printed. No window is opened.
//
// usage: vulkan_scene [--allocator NAME] [--levels N] [--frames N] [--validated]
// Exits with 77 if there is no device. With --validated, also exits with 77 if the validation layer is not installed.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vulkan_scene/nodes.hpp"
#include "vulkan_scene/renderer.hpp"

namespace {

constexpr int left_out = 77;

struct options {
    unsigned levels = 7;
    unsigned frames = 200;
    bool must_be_validated = false;
    bool asks_for_help = false;
};

void print_usage() {
    std::printf("usage: vulkan_scene [--allocator NAME] [--levels N] [--frames N] [--validated]\n\n"
                "  --allocator NAME  memory of the nodes and their data (default: affinity)\n");
    for (const scene::allocator& each : scene::allocators)
        std::printf("      %-20s%s\n", std::string(each.name).c_str(), std::string(each.note).c_str());
    std::printf("  --levels N        levels of groups, 2 to 11 (default: 7); each has four times as many meshes\n"
                "  --frames N        frames to draw, 1 to 1000000 (default: 200)\n"
                "  --validated       fail on messages of the Vulkan validation layer\n");
}

int refuse(const std::string& why) {
    std::fprintf(stderr, "vulkan_scene: %s See --help.\n", why.c_str());
    return 2;
}

bool read_number(std::string_view text, unsigned least, unsigned most, unsigned& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= least && value <= most;
}

/// Returns   0, or the exit code.
int read_options(int count, char** arguments, options& wanted) {
    for (int index = 1; index < count; ++index) {
        const std::string_view name = arguments[index];
        if (name == "--help" || name == "-h") {
            wanted.asks_for_help = true;
            return 0;
        }
        if (name == "--validated") {
            wanted.must_be_validated = true;
            continue;
        }
        if (name.find('=') != std::string_view::npos)
            return refuse("write the value after a space: \"" + std::string(name.substr(0, name.find('='))) + " " +
                          std::string(name.substr(name.find('=') + 1)) + "\".");
        if (name != "--allocator" && name != "--levels" && name != "--frames")
            return refuse("unknown option \"" + std::string(name) + "\".");
        if (index + 1 == count) return refuse(std::string(name) + " needs a value.");
        const std::string value = arguments[++index];
        if (name == "--levels" && !read_number(value, 2, 11, wanted.levels))
            return refuse("--levels " + value + " is not a number from 2 to 11.");
        if (name == "--frames" && !read_number(value, 1, 1'000'000, wanted.frames))
            return refuse("--frames " + value + " is not a number from 1 to 1000000.");
        if (name != "--allocator") continue;
        const auto* const found = std::find_if(std::begin(scene::allocators), std::end(scene::allocators),
                                               [&](const scene::allocator& each) { return each.name == value; });
        if (found == std::end(scene::allocators)) {
            std::string names;
            for (const scene::allocator& each : scene::allocators)
                names += (names.empty() ? "" : ", ") + std::string(each.name);
            return refuse("there is no allocator \"" + value + "\"; choose one of " + names + ".");
        }
        scene::chosen = found;
    }
    return 0;
}

class stopwatch {
public:
    /// Milliseconds since the last lap.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The times of one step, a number for each frame.
struct step {
    const char* name;
    std::vector<double> times;

    void print() {
        std::sort(times.begin(), times.end());
        std::printf("%-16s %9.3f %9.3f\n", name, times[times.size() / 2], times.back());
    }
};

/// Destroys a subtree two levels below the root and creates it anew, as a program does that loads tiles.
void replace(scene::group& root, unsigned number, unsigned levels, std::minstd_rand& random) {
    const unsigned outer = number / 4 % 4, inner = number % 4;
    const float x = outer % 2 == 0 ? 0.25f : 0.75f, y = outer < 2 ? 0.25f : 0.75f;
    const scene::area place{x + (inner % 2 == 0 ? -0.125f : 0.125f), y + (inner < 2 ? -0.125f : 0.125f), 0.125f};
    auto& parent = static_cast<scene::group&>(*root.children[outer]);
    parent.children[inner].reset();
    parent.children[inner] = scene::make_tree(place, levels - 2, random);
}

/// Returns   whether something was drawn.
bool run(scene::renderer& to, const options& wanted) {
    std::minstd_rand random(1);
    stopwatch watch;
    const std::unique_ptr<scene::node> tree = scene::make_tree({0.5f, 0.5f, 0.5f}, wanted.levels, random);
    const double made = watch.lap();
    auto& root = static_cast<scene::group&>(*tree);
    step replaced{"replace", {}}, moved{"move", {}}, recorded{"cull and record", {}}, submitted{"submit and wait", {}};
    std::size_t draws = 0;
    for (unsigned frame = 0; frame < wanted.frames; ++frame) {
        const float around = static_cast<float>(frame % 64) / 64;
        const scene::area view{0.25f + around / 2, 0.75f - around / 2, 0.25f};
        watch.lap();
        replace(root, frame, wanted.levels, random);
        replaced.times.push_back(watch.lap());
        static_cast<void>(root.move(static_cast<float>(frame) / 32));
        moved.times.push_back(watch.lap());
        to.begin_frame(view);
        root.draw(view, to);
        to.end_frame();
        recorded.times.push_back(watch.lap());
        to.submit();
        submitted.times.push_back(watch.lap());
        draws += to.draws();
    }
    const std::size_t meshes = std::size_t{1} << 2 * wanted.levels, nodes = (meshes * 4 - 1) / 3;
    std::printf("%zu nodes, of which %zu are meshes; created in %.3f ms\n", nodes, meshes, made);
    std::printf("%u frames with %zu draw commands on average\n\n", wanted.frames, draws / wanted.frames);
    std::printf("%-16s %9s %9s\n", "ms per frame", "median", "worst");
    for (step* each : {&replaced, &moved, &recorded, &submitted}) each->print();
    const std::size_t filled = to.filled_pixels();
    std::printf("\nthe last image has %zu filled pixels of %u\n", filled,
                scene::renderer::pixels * scene::renderer::pixels);
    return filled != 0;
}

}

int main(int count, char** arguments) {
    options wanted;
    if (const int code = read_options(count, arguments, wanted); code != 0) return code;
    if (wanted.asks_for_help) {
        print_usage();
        return 0;
    }
    if (!scene::chosen->open()) return refuse("the group of the nodes cannot be configured.");
    const bool is_validated = wanted.must_be_validated && scene::renderer::layer_is_there();
    if (wanted.must_be_validated && !is_validated) {
        std::printf("left out: the Vulkan validation layer is not installed\n");
        return left_out;
    }
    scene::renderer drawing;
    if (!drawing.open(is_validated)) {
        std::printf("left out: no Vulkan device\n");
        return left_out;
    }
    std::printf("device: %s\nallocator: %s\n", drawing.device_name().c_str(), std::string(scene::chosen->name).c_str());
    bool is_drawn = false;
    try {
        is_drawn = run(drawing, wanted);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "vulkan_scene: out of memory. Use fewer --levels.\n");
        return 1;
    }
    if (drawing.complaints != 0) std::printf("validation: %d messages\n", drawing.complaints);
    return is_drawn && drawing.complaints == 0 ? 0 : 1;
}
