// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// memfd and mmap. The file: a head, then for each plan its head, threads, routes, places, neighbours and operations,
/// each at a multiple of 16 bytes.

#include "observe/replay/plan/plan_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace tenure::lab {

namespace {

constexpr std::uint64_t magic = 0x326e616c70756e74; // "tnuplan2"

struct file_head {
    std::uint64_t magic, plans;
};

struct plan_head {
    std::uint64_t ops, threads, routes, places, neighbours, slot_count, shared_slot_count, calls, peak_op, peak_bytes;
};

constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

bool write_whole(int descriptor, const void* from, std::size_t bytes) {
    const char* place = static_cast<const char*>(from);
    while (bytes != 0) {
        const ssize_t count = ::write(descriptor, place, bytes);
        if (count <= 0) return false;
        place += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

template<class T>
bool write_list(int descriptor, const std::vector<T>& list) {
    const std::size_t bytes = list.size() * sizeof(T);
    constexpr char zeros[16] = {};
    return write_whole(descriptor, list.data(), bytes) && write_whole(descriptor, zeros, rounded(bytes) - bytes);
}

/// Takes objects from the front of a mapping.
class cursor {
public:
    explicit cursor(std::span<const std::byte> bytes) : left_(bytes) {}

    template<class T>
    std::span<const T> take(std::size_t count) {
        const std::size_t bytes = rounded(count * sizeof(T));
        if (count > left_.size() / sizeof(T) || bytes > left_.size()) {
            is_whole_ = false;
            return {};
        }
        const std::span<const T> taken(reinterpret_cast<const T*>(left_.data()), count);
        left_ = left_.subspan(bytes);
        return taken;
    }
    [[nodiscard]] bool is_whole() const { return is_whole_; }

private:
    std::span<const std::byte> left_;
    bool is_whole_ = true;
};

}

plan_view view_of(const replay_plan& plan) {
    return {plan.ops,        plan.threads,           plan.routes, plan.places,  plan.neighbours,
            plan.slot_count, plan.shared_slot_count, plan.calls,  plan.peak_op, plan.peak_bytes};
}

plan_file::~plan_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

plan_file::plan_file(plan_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::string plan_file::write(std::span<const replay_plan* const> plans) {
    const int made = ::memfd_create("tenure-plan", MFD_CLOEXEC);
    // Workers inherit the copy. Its high number keeps their own descriptors from replacing it.
    descriptor_ = made < 0 ? -1 : ::fcntl(made, F_DUPFD, 100);
    if (made >= 0) ::close(made);
    if (descriptor_ < 0) return "not enough memory for the operations of the replay";
    const file_head head{magic, plans.size()};
    bool is_written = write_whole(descriptor_, &head, sizeof head);
    for (const replay_plan* const each : plans) {
        const plan_head one{each->ops.size(),        each->threads.size(), each->routes.size(),     each->places.size(),
                            each->neighbours.size(), each->slot_count,     each->shared_slot_count, each->calls,
                            each->peak_op,           each->peak_bytes};
        is_written = is_written && write_whole(descriptor_, &one, sizeof one) &&
                     write_list(descriptor_, each->threads) && write_list(descriptor_, each->routes) &&
                     write_list(descriptor_, each->places) && write_list(descriptor_, each->neighbours) &&
                     write_list(descriptor_, each->ops);
    }
    return is_written ? "" : "not enough memory for the operations of the replay";
}

std::vector<plan_view> map_plans(int descriptor) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0 || found.st_size <= 0) return {};
    const std::size_t bytes = static_cast<std::size_t>(found.st_size);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (mapped == MAP_FAILED) return {};
    cursor from({static_cast<const std::byte*>(mapped), bytes});
    const std::span<const file_head> head = from.take<file_head>(1);
    if (head.empty() || head[0].magic != magic) return {};
    std::vector<plan_view> plans;
    for (std::uint64_t i = 0; i < head[0].plans; ++i) {
        const std::span<const plan_head> one = from.take<plan_head>(1);
        if (one.empty()) return {};
        plan_view view;
        view.threads = from.take<plan_thread>(one[0].threads);
        view.routes = from.take<plan_route>(one[0].routes);
        view.places = from.take<plan_place>(one[0].places);
        view.neighbours = from.take<std::uint32_t>(one[0].neighbours);
        view.ops = from.take<plan_op>(one[0].ops);
        view.slot_count = one[0].slot_count;
        view.shared_slot_count = one[0].shared_slot_count;
        view.calls = one[0].calls;
        view.peak_op = one[0].peak_op;
        view.peak_bytes = one[0].peak_bytes;
        if (!from.is_whole()) return {};
        plans.push_back(view);
    }
    return plans;
}

}
