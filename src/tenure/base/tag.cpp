// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/tag.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>

#include <tenure/base/at_fork.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/debug_layout.hpp>
#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
TENURE_DEFINE_THREAD_LOCAL(thread_tag, this_thread_tag)
}

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
    // Acquired by the exchange, released by the store: a lock.
    std::atomic<bool> is_locked; // held while a name is copied; not std::mutex, which the drop-in malloc cannot link
    // Released after the name of the tag, which who acquires a number reads without the lock.
    std::atomic<std::uint16_t> entries[table_size]{}; // hash table of ids; 0: empty; written once, after the name
    tag_name names[max_tags]{};                       // without the built-in ones
    std::uint16_t named_count = 0;                    // likewise
    std::size_t used_bytes = 0;
    char text[max_name_bytes]{};
};
TENURE_BEHIND_OTHERS(9) constinit registry tags{};

}

constinit const debug_layout::tag_list debug_layout::names_of_tags{
    &tags.names, max_tags, sizeof(tag_name), offsetof(tag_name, text), offsetof(tag_name, length)};

namespace {

constexpr std::string_view built_in_names[] = {"(no tag)", "(other)"};
constexpr auto built_in_count = static_cast<std::uint16_t>(std::size(built_in_names));

std::string_view name_of(std::uint16_t id) noexcept {
    return id < built_in_count ? built_in_names[id] : std::string_view{tags.names[id].text, tags.names[id].length};
}

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
        if (found == 0 || name_of(found) == name) return candidate;
    }
}

}

bool detail::known_place::end_elsewhere(thread_tag& thread) const noexcept {
    if (thread_ != &thread) {
        report_misuse("a tag_scope ended on another thread than it began on", nullptr,
                      "End each scope on its thread: the other thread keeps the tag, and this thread's tag is "
                      "unchanged.");
        return false;
    }
    if (depth_ > thread.open_scopes) return false; // it ended, and was reported, with a scope around it
    thread.open_scopes = depth_ - 1;
    report_misuse("tag_scopes ended out of order", nullptr,
                  "End scopes in the reverse order of their beginning. The scopes inside this one have ended with it.");
    return true;
}

void detail::lock_tags() noexcept {
    for (unsigned look = 0; tags.is_locked.exchange(true, std::memory_order_acquire); ++look)
        host::let_others_run(look);
}

void detail::unlock_tags() noexcept { tags.is_locked.store(false, std::memory_order_release); }
bool detail::are_tags_locked() noexcept { return tags.is_locked.load(std::memory_order_relaxed); }

tag tag::named(std::string_view name) noexcept {
    std::uint16_t found = 0;
    entry_for(name, found);
    if (found != 0) return from_id(found);
    const registry_lock lock;
    std::atomic<std::uint16_t>& place = entry_for(name, found);
    if (found != 0) return from_id(found);
    const auto id = static_cast<std::uint16_t>(built_in_count + tags.named_count);
    if (id == max_tags || name.size() > max_name_bytes - tags.used_bytes) return from_id(other_tag);
    char* const copy = tags.text + tags.used_bytes;
    if (!name.empty()) std::memcpy(copy, name.data(), name.size());
    tags.used_bytes += name.size();
    tags.names[id] = {copy, name.size()};
    ++tags.named_count;
    place.store(id, std::memory_order_release);
    return from_id(id);
}

std::size_t tag::count() noexcept {
    const registry_lock lock;
    return std::size_t{built_in_count} + tags.named_count;
}

std::string_view tag::name() const noexcept {
    if (id_ >= max_tags) return "(unknown tag)";
    return name_of(id_);
}

}
