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
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>
#include <tenure/platform/unrelocated.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constinit advice_file advice{};
constinit std::uint16_t tags[max_groups + 1]{}; ///< by group; written before there is a site

// A lock: acquired by the exchange that sets it, released by the store of zero.
constinit std::atomic<std::uint64_t> looking_process{0}; ///< whose thread looks; in the child of a fork, that is nobody
// The rest is relaxed: flags and a counter by which nothing else is read.
constinit std::atomic<bool> may_change{false}; ///< a site has an object that was not there at the start
constinit std::atomic<std::uint32_t> slow_calls{0};
constinit std::atomic<bool> has_match{false}; ///< an object was loaded, at the start or later

/// Notes where the objects' code is mapped.
struct object_finder {
    detail::mapping_lines lines;
    std::uint64_t path_hash = 0;   ///< of the file that was mapped last
    std::uintptr_t base = 0;       ///< its first mapping
    std::uint64_t last_offset = 0; ///< of its last mapping
    std::uintptr_t id_base = 0;    ///< the file of which `id` is
    platform::build_id id;
    mapped_code found[advice_file::max_objects]{};

    void begin() noexcept {
        lines = {};
        path_hash = base = last_offset = id_base = 0;
        for (mapped_code& each : found) each.count = 0;
    }

    void take(const detail::mapping_line& line) noexcept {
        if (line.name.empty() || line.name.front() != '/') return;
        const std::uint64_t hash = hash_of_path(line.name);
        // Small files have several mappings of their first page, one behind the other.
        if (line.offset == 0 && (hash != path_hash || last_offset != 0)) {
            base = line.begin;
            path_hash = hash;
        }
        if (hash != path_hash) return;
        last_offset = line.offset;
        if (line.rights[2] != 'x') return;
        for (advised_object* each = advice.begin_of_objects(); each != advice.end_of_objects(); ++each) {
            if (each->is_permanent || !is_of(*each)) continue;
            mapped_code& code = found[each - advice.begin_of_objects()];
            // A second copy of a file has no sites.
            if (code.count == mapped_code::max_ranges || (code.count != 0 && code.base != base)) continue;
            code.base = base;
            code.ranges[code.count++] = {line.begin, line.end, line.offset};
        }
    }
    /// Whether the present file is the object.
    [[nodiscard]] bool is_of(const advised_object& object) noexcept {
        if (object.id.count != 0 && id_base != base) {
            id = platform::build_id_at(base);
            id_base = base;
        }
        if (object.id.count == 0 || id.count == 0) return object.path_hash == path_hash;
        return id.count == object.id.count && std::equal(id.bytes, id.bytes + id.count, object.id.bytes);
    }

    /// An object that is at another place than before, or no longer there, has no sites.
    void move_all() const noexcept {
        for (advised_object* each = advice.begin_of_objects(); each != advice.end_of_objects(); ++each) {
            const mapped_code& now = found[each - advice.begin_of_objects()];
            if (each->is_permanent || each->code.is_same(now)) continue;
            forget(*each);
            each->code = now;
        }
    }
    static void forget(const advised_object& object) noexcept {
        for (std::size_t index = 0; index < object.code.count; ++index)
            advised_sites.remove(object.code.ranges[index].begin, object.code.ranges[index].end);
        const auto number = static_cast<std::uint8_t>(&object - advice.begin_of_objects());
        for (advised_site* each = advice.begin_of_sites(); each != advice.end_of_sites(); ++each) {
            if (std::find(each->objects, each->objects + each->count, number) != each->objects + each->count)
                each->is_added = false;
        }
    }
};
constinit char part_of_mappings[4096]{}; // not on the stack of a call of malloc
constinit object_finder finder{};

/// The address of an offset in a file; zero if no code is mapped there.
[[nodiscard]] std::uintptr_t address_in(const mapped_code& code, std::uint64_t offset) noexcept {
    for (std::size_t index = 0; index < code.count; ++index) {
        const code_range& range = code.ranges[index];
        const std::uint64_t inside = offset - range.offset;
        if (inside != 0 && inside <= range.end - range.begin) return range.begin + inside;
    }
    return 0;
}

/// Returns   whether all its objects are loaded.
[[nodiscard]] bool find_positions(const advised_site& site, std::uintptr_t* positions) noexcept {
    for (std::size_t frame = 0; frame < site.count; ++frame) {
        positions[frame] = address_in(advice.begin_of_objects()[site.objects[frame]].code, site.offsets[frame]);
        if (positions[frame] == 0) return false;
    }
    return true;
}

/// The frames of a site whose objects were not there at the start, as bits.
[[nodiscard]] unsigned unloadable_frames(const advised_site& site) noexcept {
    unsigned found = 0;
    for (unsigned frame = 0; frame < site.count; ++frame) {
        const bool is_permanent = advice.begin_of_objects()[site.objects[frame]].is_permanent;
        found |= is_permanent ? 0 : 1u << frame;
    }
    return found;
}

enum class moment : std::uint8_t { start, later };

/// Requires  no other thread of the process is in it.
void find_sites(moment when) noexcept {
    finder.begin();
    const bool is_read = platform::read_in_parts(
        platform::mappings_file, part_of_mappings, sizeof part_of_mappings,
        [](void* context, std::string_view part) noexcept {
            auto& self = *static_cast<object_finder*>(context);
            self.lines.read(part, [&self](const detail::mapping_line& line) { self.take(line); });
        },
        &finder);
    if (!is_read) return;
    finder.move_all();
    for (advised_object* each = advice.begin_of_objects(); each != advice.end_of_objects(); ++each) {
        if (each->code.count == 0) continue;
        if (when == moment::start) each->is_permanent = true;
        has_match.store(true, std::memory_order_relaxed);
    }
    bool has_later_object = false;
    for (advised_site* each = advice.begin_of_sites(); each != advice.end_of_sites(); ++each) {
        std::uintptr_t positions[max_site_frames];
        if (each->is_hopeless) continue;
        const unsigned unloadable = unloadable_frames(*each);
        has_later_object = has_later_object || unloadable != 0;
        if (each->is_added || !find_positions(*each, positions)) continue;
        each->is_added = advised_sites.add(positions, each->count, each->group, unloadable);
        each->is_hopeless = !each->is_added;
    }
    may_change.store(has_later_object, std::memory_order_relaxed);
}

void report_unreadable(const char* path) noexcept {
    report_text text;
    text.text("TENURE_ADVICE=").text(path).text(" has no effect: ").text(advice.why());
    if (advice.line() > 1) text.text(" (line ").number(advice.line()).text(")");
    text.text(". `tenure advise -o FILE` writes one.");
    report(report_kind::notice, text.view());
}

/// One after another, so that a tag leads to its group. If another thread makes one in between, the frees of some
/// groups take the slow path.
void make_tags() noexcept {
    unsigned last = advised == advised_calls::all ? max_groups : 0;
    for (unsigned group = 1; group <= max_groups; ++group) {
        if (!advice.name_of_group(group).empty()) last = group;
    }
    for (unsigned group = 1; group <= last; ++group) {
        report_text name;
        name.text("advice ").number(group).text(" ").text(advice.name_of_group(group));
        tags[group] = tag::named(name.view()).id();
    }
}

/// At the start: the libraries that the program is linked to are mapped. Their constructors may have run, so blocks of
/// call sites may lie in ordinary pages.
TENURE_AMONG_CONSTRUCTORS(follow_advice) {
    if constexpr (advised == advised_calls::all) return make_tags();
    const char* const path = host::environment("TENURE_ADVICE");
    if (path == nullptr || *path == '\0') return;
    if (!advice.read(path)) return report_unreadable(path);
    make_tags();
    find_sites(moment::start);
    if (advice.begin_of_sites() != advice.end_of_sites()) prepare_warning();
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

/// The size of a small block in a page of a group or an ordinary one; zero if the heap must be asked.
[[nodiscard]] std::size_t room_of_small(const void* block) noexcept {
    const bool is_special = (address_of(block) & (detail::max_segment_bytes - 1)) == 0;
    if (detail::process_cache() == nullptr || is_special) return 0;
    const std::size_t number = detail::class_number_at(block, detail::max_segment_bytes);
    if (number == detail::tagged_class)
        return detail::class_bytes(detail::heap_segment::page_of(block, detail::max_segment_bytes).class_index);
    return number < detail::small_class_count ? detail::class_bytes(number) : 0;
}

/// Remembers the cache that the heap has opened for the group, if it has.
void note_cache(unsigned group) noexcept {
    const detail::thread_cache* const present = detail::process_cache();
    if (present == nullptr) return;
    detail::thread_cache& main = *present->main;
    detail::thread_cache* each = main.next_of_thread; // the main cache has no tag
    while (each != nullptr && each->tag != tags[group]) each = each->next_of_thread;
    main.known[group - 1] = each;
}

}

advice_figures advice_now() noexcept {
    advice_figures now;
    const advised_site* const end = advice.end_of_sites();
    for (const advised_site* each = advice.begin_of_sites(); each != end; ++each) {
        ++now.sites;
        now.found += std::size_t{each->is_added};
    }
    now.has_match = has_match.load(std::memory_order_relaxed);
    return now;
}

bool look_for_sites_now() noexcept {
    const std::uint64_t own = platform::process_id();
    std::uint64_t present = looking_process.load(std::memory_order_relaxed);
    if (present == own || !looking_process.compare_exchange_strong(present, own, std::memory_order_acquire))
        return false;
    find_sites(moment::later);
    looking_process.store(0, std::memory_order_release);
    return true;
}

void look_for_sites_again() noexcept {
    if (!may_change.load(std::memory_order_relaxed)) [[likely]]
        return;
    constexpr std::uint32_t first_look = 64, warning_look = 4096, last_look = std::uint32_t{1} << 26;
    const std::uint32_t calls = slow_calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (calls < first_look || (calls & (calls - 1)) != 0) return;
    const int saved = errno;
    if (look_for_sites_now() && calls == last_look) may_change.store(false, std::memory_order_relaxed);
    if (calls == warning_look) warn_of_no_match(warned_when::running);
    errno = saved;
}

bool deallocate_in_group(detail::thread_cache& main, void* block) noexcept {
    if (detail::class_number_at(block, detail::max_segment_bytes) != detail::tagged_class || main.is_counting)
        return false;
    const detail::small_page& page = detail::heap_segment::page_of(block, detail::max_segment_bytes);
    const detail::heap_shard* const owner = page.owner.load(detail::memory_order::acquire);
    const std::size_t index = owner != nullptr ? std::size_t{owner->tag} - tags[1] : max_groups;
    if (index >= max_groups || tags[index + 1] != owner->tag) return false;
    if (main.known[index] == nullptr) { // the first block of the group on this thread
        const int saved = errno;        // there may be no memory for a cache
        static_cast<void>(detail::process_cache_or_open_for(owner->tag));
        errno = saved;
        note_cache(static_cast<unsigned>(index + 1));
        if (main.known[index] == nullptr) return false;
    }
    detail::thread_cache& mine = *main.known[index];
    return mine.tag == owner->tag && page.samples() == 0 && detail::push_into_tagged(mine, page.class_index, block);
}

void* allocate_in_group(unsigned group, std::size_t bytes, std::size_t alignment, detail::fill how,
                        const void* caller) noexcept {
    detail::thread_cache* const cache = cache_of_group(group);
    void* block = nullptr;
    if (cache != nullptr && pop_from(*cache, block, bytes, alignment)) [[likely]]
        return how == detail::fill::zero ? std::memset(block, 0, bytes) : block;
    if (!platform::is_relocated()) return allocate_early(bytes, alignment); // zeroed; errno cannot be read yet
    const int saved = errno;
    block = allocate_tagged(tags[group], bytes, alignment, how, caller);
    if (cache == nullptr) note_cache(group);
    look_for_sites_again();
    if (block != nullptr) return block;
    errno = saved;
    return how == detail::fill::zero ? allocate_zeroed_slow(bytes, alignment) : allocate_slow(bytes, alignment);
}

void* reallocate_in_group(unsigned group, void* block, std::size_t bytes, const void* caller) noexcept {
    if (block == nullptr) return allocate_in_group(group, bytes, default_alignment, detail::fill::none, caller);
    if (bytes == 0) {
        deallocate(block);
        return nullptr;
    }
    if (is_early(block)) return move_early(block, bytes);
    if (const std::size_t room = room_of_small(block); bytes <= room && bytes >= room / 2) return block;
    const int saved = errno;
    if (void* const moved = reallocate_tagged(tags[group], block, bytes, caller); moved != nullptr) return moved;
    void* const moved = detail::process_reallocate(block, bytes); // from ordinary pages
    if (moved != nullptr) errno = saved;
    return moved;
}

}
