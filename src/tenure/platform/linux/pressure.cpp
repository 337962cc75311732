// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/pressure.hpp>

#include <cstring>
#include <string_view>

#include <tenure/platform/linux/system_file.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// The path of a file in a control group, in a fixed buffer.
class group_path {
public:
    /// The group of this process, of version 2; the root where there is none.
    explicit group_path(const pressure_files& files) noexcept {
        char text[2048];
        root_length_ = length_ = std::strlen(files.groups);
        if (length_ > longest_root) return; // not a folder of the system
        std::memcpy(path_, files.groups, length_);
        const std::string_view groups = read_system_file(files.own_group, text, sizeof text);
        constexpr std::string_view unified = "0::/"; // the first line, or a line of its own
        std::size_t at = groups.find(unified);
        while (at != 0 && at != std::string_view::npos && groups[at - 1] != '\n') at = groups.find(unified, at + 1);
        if (at == std::string_view::npos) return;
        const std::string_view from{groups.data() + at + unified.size(), groups.size() - at - unified.size()};
        const std::size_t length = from.find('\n') == std::string_view::npos ? from.size() : from.find('\n');
        if (length == 0 || length >= sizeof path_ - length_ - longest_name - 1) return;
        path_[length_++] = '/';
        std::memcpy(path_ + length_, from.data(), length);
        length_ += length;
    }

    /// Reads a file of the group, without a last line that the buffer cuts off.
    std::string_view read(std::string_view name, char* buffer, std::size_t capacity) noexcept {
        if (length_ > sizeof path_ - longest_name - 1) return {};
        std::memcpy(path_ + length_, name.data(), name.size());
        path_[length_ + name.size()] = 0;
        const std::string_view text = read_system_file(path_, buffer, capacity);
        return text.size() < capacity ? text : text.substr(0, text.rfind('\n') + 1);
    }

    /// Goes to the parent. Returns   false at the root.
    bool go_up() noexcept {
        if (length_ == root_length_) return false;
        while (path_[--length_] != '/') {}
        return true;
    }

private:
    static constexpr std::size_t longest_name = 32, longest_root = 256;
    char path_[1024]{};
    std::size_t root_length_ = 0, length_ = 0;
};

[[nodiscard]] std::size_t number_of(std::string_view text, std::string_view field) noexcept {
    const std::size_t at = text.find(field);
    return at == std::string_view::npos ? 0 : number_after(text, at + field.size());
}

/// Whether less than a tenth of the group's limit is left. Cached files do not count: the system drops them first.
[[nodiscard]] bool is_near_limit(group_path& group) noexcept {
    char text[4096];
    const std::size_t limit = number_after(group.read("/memory.max", text, sizeof text), 0); // "max" reads as zero
    if (limit == 0) return false;
    const std::size_t used = number_after(group.read("/memory.current", text, sizeof text), 0);
    if (used < limit - limit / 10) return false;
    const std::string_view parts = group.read("/memory.stat", text, sizeof text);
    const std::size_t files = number_of(parts, "\ninactive_file") + number_of(parts, "\nactive_file");
    return used - (files < used ? files : used) >= limit - limit / 10;
}

/// Whether some tasks waited for memory for a tenth of the last ten seconds: tasks of the group, where it reports them.
/// A busy neighbour makes those of the whole machine wait.
[[nodiscard]] bool is_under_pressure(group_path& group, const char* machine) noexcept {
    char text[256];
    std::string_view some = group.read("/memory.pressure", text, sizeof text);
    if (some.empty()) some = read_system_file(machine, text, sizeof text);
    return number_of(some, "some avg10=") >= 10;
}

}

bool is_memory_short(const pressure_files& files) noexcept {
    constexpr int max_levels = 16;
    group_path group(files);
    if (is_under_pressure(group, files.machine)) return true;
    for (int level = 0; level < max_levels; ++level) {
        if (is_near_limit(group)) return true;
        if (!group.go_up()) break;
    }
    return false;
}

}
