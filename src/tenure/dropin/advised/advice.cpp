// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/detail/advice.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/dropin/detail/advice_file.hpp>
#include <tenure/dropin/detail/early.hpp>
#include <tenure/heap/detail/profile/mapping_lines.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/heap/detail/small/heap_shard.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/output_file.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constinit advice_file advice{};
constinit std::uint16_t tags[max_groups + 1]{}; ///< by group; written before there is a site

constinit platform::mutex finding_mutex;
constinit std::atomic<bool> is_anything_missing{false}; ///< a site whose objects are not all loaded
constinit std::atomic<std::uint32_t> slow_calls{0};

/// Notes where the objects' code is mapped.
struct object_finder {
    detail::mapping_lines lines;
    std::uint64_t path_hash = 0; ///< of the file that was mapped last
    std::uintptr_t begin = 0;    ///< its first mapping
    bool is_found[advice_file::max_objects]{};

    void take(const detail::mapping_line& line) noexcept {
        if (line.name.empty() || line.name.front() != '/') return;
        const std::uint64_t hash = hash_of_path(line.name);
        if (line.offset == 0) {
            begin = line.begin;
            path_hash = hash;
        }
        if (line.rights[2] != 'x' || hash != path_hash) return;
        platform::build_id id;
        bool is_id_read = false;
        for (advised_object* each = advice.begin_of_objects(); each != advice.end_of_objects(); ++each) {
            bool& is_known = is_found[each - advice.begin_of_objects()];
            if (is_known) continue;
            if (each->id.count != 0 && !is_id_read) {
                id = platform::build_id_at(begin);
                is_id_read = true;
            }
            const bool is_same = each->id.count == 0 ? each->path_hash == hash
                                                     : id.count == each->id.count &&
                                                           std::equal(id.bytes, id.bytes + id.count, each->id.bytes);
            if (!is_same) continue;
            is_known = true;
            move(*each, line);
        }
    }

    /// An object that is at another place than before, or no longer there, has no sites.
    static void move(advised_object& object, const detail::mapping_line& line) noexcept {
        if (object.begin == line.begin && object.end == line.end && object.offset == line.offset) return;
        forget(object);
        object.begin = line.begin;
        object.end = line.end;
        object.offset = line.offset;
    }
    static void forget(advised_object& object) noexcept {
        if (object.begin == 0) return;
        advised_sites.remove(object.begin, object.end);
        const auto number = static_cast<std::uint8_t>(&object - advice.begin_of_objects());
        for (advised_site* each = advice.begin_of_sites(); each != advice.end_of_sites(); ++each) {
            if (std::find(each->objects, each->objects + each->count, number) != each->objects + each->count)
                each->is_added = false;
        }
        object.begin = object.end = 0;
    }
    void forget_missing() noexcept {
        for (advised_object* each = advice.begin_of_objects(); each != advice.end_of_objects(); ++each) {
            if (!is_found[each - advice.begin_of_objects()]) forget(*each);
        }
    }
};
constinit object_finder finder{};

/// Returns   whether all its objects are loaded.
[[nodiscard]] bool find_positions(const advised_site& site, std::uintptr_t* positions) noexcept {
    for (std::size_t frame = 0; frame < site.count; ++frame) {
        const advised_object& object = advice.begin_of_objects()[site.objects[frame]];
        const std::uint64_t inside = site.offsets[frame] - object.offset;
        if (object.begin == 0 || inside == 0 || inside > object.end - object.begin) return false;
        positions[frame] = object.begin + inside;
    }
    return true;
}

/// Requires  the mutex.
void find_sites() noexcept {
    char buffer[4096];
    std::fill(std::begin(finder.is_found), std::end(finder.is_found), false);
    const bool is_read = platform::read_in_parts(
        platform::mappings_file, buffer, sizeof buffer,
        [](void* context, std::string_view part) noexcept {
            auto& self = *static_cast<object_finder*>(context);
            self.lines.read(part, [&self](const detail::mapping_line& line) { self.take(line); });
        },
        &finder);
    if (!is_read) return;
    finder.forget_missing();
    bool misses_any = false;
    for (advised_site* each = advice.begin_of_sites(); each != advice.end_of_sites(); ++each) {
        std::uintptr_t positions[max_site_frames];
        if (each->is_added || each->is_hopeless) continue;
        if (!find_positions(*each, positions)) {
            misses_any = true;
            continue;
        }
        each->is_added = advised_sites.add(positions, each->count, each->group);
        each->is_hopeless = !each->is_added;
    }
    is_anything_missing.store(misses_any, std::memory_order_relaxed);
}

void report_unreadable(const char* path) noexcept {
    report_text text;
    text.text("TENURE_ADVICE=").text(path).text(" has no effect: ").text(advice.why());
    if (advice.line() > 1) text.text(" (line ").number(advice.line()).text(")");
    text.text(". Write the file again with `tenure advise -o FILE`.");
    report(report_kind::notice, text.view());
}

/// One after another, so that a tag leads to its group. If another thread makes one in between, the frees of some
/// groups take the slow path.
void make_tags() noexcept {
    for (unsigned group = 1; group <= max_groups; ++group) {
        report_text name;
        name.text("advice ");
        advice.name_of_group(group).empty() ? name.number(group) : name.text(advice.name_of_group(group));
        tags[group] = tag::named(name.view()).id();
    }
}

/// At the start: the libraries that the program is linked to are mapped, and nothing of the program has run.
__attribute__((constructor)) void follow_advice() noexcept {
    if constexpr (advised == advised_calls::all) return make_tags();
    const char* const path = host::environment("TENURE_ADVICE");
    if (path == nullptr || *path == '\0') return;
    if (!advice.read(path)) return report_unreadable(path);
    make_tags();
    const platform::lock_guard lock(finding_mutex);
    find_sites();
}

/// The calling thread's cache for a group; nullptr if it is not known. The drop-in never allocates under another tag,
/// so the current cache is a main one.
[[nodiscard]] TENURE_ALWAYS_INLINE detail::thread_cache* cache_of_group(unsigned group) noexcept {
    const detail::thread_cache* const present = detail::process_cache();
    return present != nullptr ? present->known[group - 1] : nullptr;
}

[[nodiscard]] TENURE_ALWAYS_INLINE bool pop_from(detail::thread_cache& cache, void*& block, std::size_t bytes,
                                                 std::size_t alignment) noexcept {
    if (bytes <= detail::table_limit_bytes && alignment <= default_alignment) [[likely]]
        return detail::pop(block, blocks_for<default_alignment>(cache, bytes));
    const bool is_small = bytes <= detail::max_small_bytes && alignment <= detail::max_small_bytes;
    return is_small && detail::pop(block, cache.of_class[detail::class_for(bytes, alignment)]);
}

/// Remembers the cache that the heap has opened for the group, if it has.
void note_cache(unsigned group) noexcept {
    detail::thread_cache* const present = detail::process_cache();
    if (present == nullptr) return;
    detail::thread_cache* each = present->main;
    while (each != nullptr && each->tag != tags[group]) each = each->next_of_thread;
    present->main->known[group - 1] = each;
}

}

advice_figures advice_now() noexcept {
    advice_figures now;
    const advised_site* const end = advice.end_of_sites();
    for (const advised_site* each = advice.begin_of_sites(); each != end; ++each) {
        ++now.sites;
        now.found += std::size_t{each->is_added};
    }
    return now;
}

void look_for_sites_again() noexcept {
    if (!is_anything_missing.load(std::memory_order_relaxed)) [[likely]]
        return;
    constexpr std::uint32_t first_look = 64;
    const std::uint32_t calls = slow_calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (calls < first_look || (calls & (calls - 1)) != 0 || !finding_mutex.try_lock()) return;
    const int saved = errno;
    find_sites();
    finding_mutex.unlock();
    errno = saved;
}

bool deallocate_in_group(detail::thread_cache& main, void* block) noexcept {
    if (detail::class_number_at(block, detail::max_segment_bytes) != detail::tagged_class || main.is_counting)
        return false;
    const detail::small_page& page = detail::heap_segment::page_of(block, detail::max_segment_bytes);
    const detail::heap_shard* const owner = page.owner.load(detail::memory_order::acquire);
    const std::size_t index = owner != nullptr ? std::size_t{owner->tag} - tags[1] : max_groups;
    if (index >= max_groups || main.known[index] == nullptr) return false;
    detail::thread_cache& mine = *main.known[index];
    return mine.tag == owner->tag && page.samples() == 0 && detail::push_into_tagged(mine, page.class_index, block);
}

void* allocate_in_group(unsigned group, std::size_t bytes, std::size_t alignment, detail::fill how,
                        const void* caller) noexcept {
    detail::thread_cache* const cache = cache_of_group(group);
    void* block = nullptr;
    if (cache != nullptr && pop_from(*cache, block, bytes, alignment)) [[likely]]
        return how == detail::fill::zero ? std::memset(block, 0, bytes) : block;
    block = allocate_tagged(tags[group], bytes, alignment, how, caller);
    if (cache == nullptr) note_cache(group);
    look_for_sites_again();
    return block;
}

void* reallocate_in_group(unsigned group, void* block, std::size_t bytes, const void* caller) noexcept {
    if (block == nullptr) return allocate_in_group(group, bytes, default_alignment, detail::fill::none, caller);
    if (bytes == 0) {
        deallocate(block);
        return nullptr;
    }
    return is_early(block) ? move_early(block, bytes) : reallocate_tagged(tags[group], block, bytes, caller);
}

}
