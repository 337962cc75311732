// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The usage of each subsystem per frame, with the frames in which a budget was exceeded: run it with a file name, then
// `tenure usage FILE --html usage.html` draws it.

#include <cstdio>

#include <tenure/base/tag.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/frame_usage_log.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A level loader that grows until its budget refuses, and drops its textures then.
class loader {
public:
    void load() {
        const tenure::tag_scope scope(owner_);
        if (count_ == max_count) drop(); // in passthrough no budget refuses
        void* const texture = tenure::heap::process().allocate(mebibyte);
        if (texture != nullptr)
            textures_[count_++] = texture;
        else
            drop();
    }
    void drop() {
        while (count_ > 0) tenure::heap::process().deallocate(textures_[--count_]);
    }

private:
    static constexpr std::size_t max_count = 64;
    tenure::tag owner_{"level loader"};
    void* textures_[max_count]{};
    std::size_t count_ = 0;
};

bool write(const tenure::frame_usage_log& log, const char* path) {
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return false;
    const auto append = [](void* into, std::string_view piece) {
        std::fwrite(piece.data(), 1, piece.size(), static_cast<std::FILE*>(into));
    };
    log.write(append, file);
    return std::fclose(file) == 0;
}

}

int main(int argc, char** argv) {
    tenure::set_budget(tenure::tag("level loader"), {40 * mebibyte, 30 * mebibyte});
    tenure::frame_usage_log log({.frame_count = 300});
    loader level;
    void* world = nullptr;
    for (int frame = 0; frame < 120; ++frame) {
        level.load();
        {
            const tenure::tag_scope scope("physics");
            if (frame == 10) world = tenure::heap::process().allocate(12 * mebibyte);
            static_cast<void>(tenure::allocate(std::size_t(1000 + frame % 20 * 500), tenure::lifetime::temp));
        }
        log.record(); // before the frame ends: next_frame() empties Temp
        tenure::next_frame();
    }
    level.drop();
    tenure::heap::process().deallocate(world);
    return log.size() == 120 && (argc < 2 || write(log, argv[1])) ? 0 : 1;
}
