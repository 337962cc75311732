// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/tag.hpp>

#include <atomic>
#include <cstring>

#include <tenure/base/at_fork.hpp>
#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI {

TENURE_THREAD_LOCAL detail::thread_tag detail::current_tag{};

namespace {

using detail::max_tags;
constexpr std::uint16_t other_tag = 1;
constexpr std::size_t table_size = 2 * max_tags; // a power of two: at most half full
constexpr std::size_t max_name_bytes = 65536;

struct tag_name {
    const char* text;
    std::size_t length;
};

// Static, because tags may be created before and after all other objects exist. Untouched until used.
struct registry {
    std::atomic<bool> is_locked; // held while a name is copied; not std::mutex, which the drop-in malloc cannot link
    std::atomic<std::uint16_t> entries[table_size]{}; // hash table of ids; 0: empty; written once, after the name
    tag_name names[max_tags]{{"(no tag)", 8}, {"(other)", 7}};
    std::uint16_t count = 2;
    std::size_t used_bytes = 0;
    char text[max_name_bytes]{};
};
constinit registry tags{};

class registry_lock {
public:
    registry_lock() noexcept { detail::lock_tags(); }
    ~registry_lock() { detail::unlock_tags(); }
    registry_lock(const registry_lock&) = delete;
    registry_lock& operator=(const registry_lock&) = delete;
};

std::size_t hash_of(std::string_view name) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
}

/// The hash table's entry that holds `name`, or the empty one where it belongs.
std::atomic<std::uint16_t>& entry_for(std::string_view name, std::uint16_t& found) noexcept {
    for (std::size_t index = hash_of(name);; ++index) {
        std::atomic<std::uint16_t>& candidate = tags.entries[index & (table_size - 1)];
        found = candidate.load(std::memory_order_acquire);
        if (found == 0 || std::string_view{tags.names[found].text, tags.names[found].length} == name) return candidate;
    }
}

}

void detail::lock_tags() noexcept {
    for (unsigned look = 0; tags.is_locked.exchange(true, std::memory_order_acquire); ++look)
        host::let_others_run(look);
}

void detail::unlock_tags() noexcept { tags.is_locked.store(false, std::memory_order_release); }

tag tag::named(std::string_view name) noexcept {
    std::uint16_t found = 0;
    entry_for(name, found);
    if (found != 0) return tag{found};
    const registry_lock lock;
    std::atomic<std::uint16_t>& place = entry_for(name, found);
    if (found != 0) return tag{found};
    if (tags.count == max_tags || name.size() > max_name_bytes - tags.used_bytes) return tag{other_tag};
    char* const copy = tags.text + tags.used_bytes;
    if (!name.empty()) std::memcpy(copy, name.data(), name.size());
    tags.used_bytes += name.size();
    tags.names[tags.count] = {copy, name.size()};
    place.store(tags.count, std::memory_order_release);
    return tag{tags.count++};
}

std::size_t tag::count() noexcept {
    const registry_lock lock;
    return tags.count;
}

std::string_view tag::name() const noexcept {
    if (id_ >= max_tags) return "(unknown tag)";
    return {tags.names[id_].text, tags.names[id_].length};
}

}
