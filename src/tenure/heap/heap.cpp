// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <utility>

#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/checked/made_objects.hpp>
#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/heap/detail/debug_layout.hpp>
#include <tenure/heap/detail/profile/heap_samples.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI {

using detail::registered_heap;
using detail::thread_cache;

namespace {

/// The segment size of a heap: the maximum, or small enough that small, large and a few huge blocks fit.
std::size_t segment_bytes_for(std::size_t limit_bytes, const block_source& source) noexcept {
    constexpr std::size_t segments_at_least = 8;
    const std::size_t most = std::min(limit_bytes, source.max_bytes());
    return std::clamp(std::bit_floor(most / segments_at_least), detail::min_segment_bytes, detail::max_segment_bytes);
}

constinit page_source pages_of_process{page_size::ordinary};

constexpr std::string_view of_process = "of the process heap", of_heap = "of a heap";
constexpr std::string_view block_of_process = "a block of the process heap", block_of_heap = "a block of a heap";

// How many rounds of thread-end destructors have run. Destructors between two rounds may use the process heap and open
// a cache again. After the last round no cache is opened, and calls take the slow path.
TENURE_OWN_THREAD_LOCAL(std::size_t, rounds_of_end)
TENURE_OWN_THREAD_LOCAL(bool, is_opening)
// The thread's caches while hooks for blocks are installed. They are kept, because a tag_scope may remember one.
TENURE_OWN_THREAD_LOCAL(thread_cache*, put_aside)
// Elects who sets the options, each of which is atomic or has a lock; the first look is relaxed.
constinit std::atomic<bool> is_set_up{false};

}

/// Starts the background thread if it is wanted: for callers outside the C library.
TENURE_ALWAYS_INLINE void start_wanted_background() noexcept {
    if (detail::is_background_wanted()) [[unlikely]]
        detail::start_background();
}

/// Entry points into heaps for thread ends and forks.
struct heap_events {
    /// Never destroyed: objects of static duration may free to the process heap at the very end.
    union home {
        constexpr home() noexcept
            : value("process", pages_of_process, detail::max_segment_bytes, max_object_bytes,
                    detail::passthrough_form::plain, platform::fork_order::process_heap, fork_steps) {}
        ~home() {}
        registered_heap value;
    };
    static home home_of_process;

    static detail::heap_core& process_core() noexcept { return home_of_process.value.core; }

    static heap_usage usage_of(const registered_heap& home) noexcept {
        heap_usage answer = home.core.usage();
        answer.name = home.name;
        return answer;
    }

    static void list_held(const void* home, const detail::holder_facts&, detail::held_list& to) noexcept {
        const auto& held = *static_cast<const registered_heap*>(home);
        const std::string_view name = detail::readable_name(held.name);
        if (!held.core.is_free(to.patience())) return to.add_busy("heap ", name, home);
        const allocator_stats all = held.core.stats();
        to.add({"heap ", name, all.live_count, all.live_bytes});
    }
    static constexpr detail::holder_kind as_holder{
        "heap", sizeof(registered_heap),
        [](const void* home) noexcept {
            return detail::mixed(0, address_of(static_cast<const registered_heap*>(home)->name.data()));
        },
        &list_held};
    static const void* holder_of(const heap& of) noexcept { return of.home_; }

    static void end_of_slot(void* owner, void* cache) noexcept {
        if (cache == nullptr) return; // the thread returned it when hooks for blocks were installed
        static_cast<registered_heap*>(owner)->core.close_cache(*static_cast<thread_cache*>(cache));
        start_wanted_background();
    }

    static void end_of_process_cache() noexcept {
        if (++rounds_of_end() < platform::thread_end_rounds()) platform::at_thread_end(&end_of_process_cache);
        detail::forget_tags();
        thread_cache* cache = detail::process_cache() != nullptr ? detail::process_cache()->main : nullptr;
        detail::process_cache() = nullptr;
        if (cache == nullptr) cache = std::exchange(put_aside(), nullptr);
        // Emptying a cache may report a double free, and the report handler may allocate. The thread must not open a
        // cache meanwhile: that would mistake the caches still to be closed for those of an earlier thread.
        const bool was_opening = std::exchange(is_opening(), true);
        while (cache != nullptr) {
            thread_cache* const next = cache->next_of_thread;
            process_core().close_cache(*cache);
            cache = next;
        }
        start_wanted_background(); // the C library calls this without a lock
        is_opening() = was_opening;
    }

    static thread_cache* kept_process_cache() noexcept {
        return detail::process_cache() != nullptr ? detail::process_cache() : put_aside();
    }
    static bool is_process_home(const void* owner) noexcept { return owner == &home_of_process.value; }
    static constexpr platform::fork_steps fork_steps{
        [](void* owner) noexcept {
            if (is_process_home(owner)) detail::budgets_mutex().lock();
            static_cast<registered_heap*>(owner)->core.before_fork();
        },
        [](void* owner) noexcept {
            static_cast<registered_heap*>(owner)->core.after_fork_in_parent();
            if (is_process_home(owner)) detail::budgets_mutex().unlock();
        },
        [](void* owner) noexcept {
            registered_heap& forked = *static_cast<registered_heap*>(owner);
            const bool is_process = is_process_home(owner);
            if (is_process) detail::budgets_mutex().abandon();
            forked.core.after_fork_in_child(is_process ? kept_process_cache()
                                                       : static_cast<thread_cache*>(platform::slot_value(forked.slot)));
        },
        [](void* owner) noexcept {
            const bool writes_budget = is_process_home(owner) && detail::budgets_mutex().is_mine();
            return writes_budget || static_cast<registered_heap*>(owner)->core.holds_lock();
        },
    };

    static void visit_cores(void (*visit)(void* context, detail::heap_core& core) noexcept, void* context) noexcept {
        struct visiting {
            decltype(visit) call;
            void* context;
        } to{visit, context};
        visit(context, process_core());
        platform::visit_slot_owners(
            &end_of_slot,
            [](void* argument, void* owner) noexcept {
                const auto& [call, with] = *static_cast<visiting*>(argument);
                call(with, static_cast<registered_heap*>(owner)->core);
            },
            &to);
    }

    static void register_fork_handlers() noexcept {
        home_of_process.value.fork.enlist();
        platform::hear_of_forks(); // again, in case the system rejected it before
    }

    /// The order of blocks must differ between the children of a process.
    static void reorder_in_child() noexcept {
        detail::quarantine::follow_fork();
        const thread_cache* const cache = detail::process_cache();
        if (cache != nullptr && cache->resting != nullptr) cache->resting->start_generator();
    }

    /// Hooks see every block of a thread that has no cache. Checked builds call them on the way to the cache.
    static bool goes_without_cache() noexcept { return !checks::caller && detail::tells_blocks(); }

    static void put_process_cache_aside() noexcept {
        if (checks::caller || detail::process_cache() == nullptr) return;
        detail::forget_tags();
        put_aside() = std::exchange(detail::process_cache(), nullptr)->main;
        for (thread_cache* each = put_aside(); each != nullptr; each = each->next_of_thread)
            process_core().return_cached(each, each->tag);
    }

    static thread_cache* open_process_cache() noexcept {
        const bool is_over = rounds_of_end() >= platform::thread_end_rounds();
        if (is_opening() || is_over) return nullptr;
        if (goes_without_cache()) {
            if (!is_set_up.load(std::memory_order_relaxed) && host::has_environment()) set_up();
            return nullptr;
        }
        if (put_aside() != nullptr) {
            detail::process_cache() = std::exchange(put_aside(), nullptr);
            detail::follow_tags();
            return detail::process_cache();
        }
        is_opening() = true; // the calls below may allocate; they then run without a cache
        process_core().close_abandoned();
        thread_cache* const cache = process_core().open_cache();
        detail::process_cache() = cache;
        if (cache != nullptr && !platform::at_thread_end(&end_of_process_cache)) {
            process_core().close_cache(*cache); // nobody would announce the thread's end
            detail::process_cache() = nullptr;
            // Do not retry if all of the system's slots are taken; do retry after a temporary lack of memory.
            if (!platform::has_end_slot(&end_of_process_cache)) rounds_of_end() = platform::thread_end_rounds();
        } else if (cache != nullptr) {
            register_fork_handlers();
            detail::follow_tags();
        }
        if (!is_set_up.load(std::memory_order_relaxed) && host::has_environment()) set_up();
        is_opening() = false;
        return detail::process_cache();
    }

    /// Applies the options: once per process.
    static void set_up() noexcept {
        if (is_set_up.exchange(true)) return;
        constexpr std::uint64_t ns_per_ms = 1'000'000;
        process_core().set_purge_policy({option_value(option::heap_purge_delay_ms) * ns_per_ms,
                                         static_cast<std::size_t>(option_value(option::heap_max_retained_bytes))});
        process_core().set_use_limit(static_cast<std::size_t>(option_value(option::heap_limit_bytes)));
        detail::heap_profile_events::set_up();
    }
};

constinit heap_events::home heap_events::home_of_process{};
constinit const detail::heap_list detail::list_of_heaps{&heap_events::home_of_process.value, &heap_events::end_of_slot};

constexpr heap::heap(registered_heap& its_home) noexcept
    : slot_{process_index, 0}, segment_bytes_(detail::max_segment_bytes), home_(&its_home) {}

union heap::process_heap {
    constexpr process_heap() noexcept : value(heap_events::home_of_process.value) {}
    ~process_heap() {}
    heap value;
};
constinit heap::process_heap heap::the_process_heap{};

heap& heap::process() noexcept { return the_process_heap.value; }

namespace {

constexpr platform::own_thread own_thread_of_heaps{&platform::phase_of_background, &detail::try_pause_background,
                                                   &detail::go_on_in_background, &detail::forget_background};
TENURE_AT_LOAD(register_fork_handlers) {
    TENURE_KEEP(tenure_debug_layout);
    heap_events::register_fork_handlers();
    detail::enlist_process_heap();
    detail::follow_block_hooks.store(&heap_events::put_process_cache_aside, std::memory_order_release);
    platform::set_own_thread(own_thread_of_heaps);
    if constexpr (checks::caller) platform::call_first_in_child(&heap_events::reorder_in_child);
}

}

thread_cache* detail::process_cache_or_open() noexcept {
    if (heap_events::goes_without_cache()) [[unlikely]]
        heap_events::put_process_cache_aside();
    return process_cache() != nullptr ? process_cache() : heap_events::open_process_cache();
}

void detail::leave_leak_check(const heap& of) noexcept { remove_holder(heap_events::holder_of(of)); }
const detail::heap_core& detail::core_of(const heap& of) noexcept { return of.home_->core; }
detail::heap_core& detail::process_core() noexcept { return heap_events::process_core(); }
void detail::visit_cores(void (*visit)(void* context, heap_core& core) noexcept, void* context) noexcept {
    heap_events::visit_cores(visit, context);
}

void* detail::process_allocate_slow(std::size_t bytes, std::size_t alignment, fill how, block_form form,
                                    bool starts_thread) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    void* const block = heap_events::process_core().allocate(process_cache_or_open(), bytes, alignment, how, form);
    if (starts_thread) start_wanted_background();
    return block;
}

void* detail::process_allocate_counted(thread_cache& cache, std::size_t bytes, std::size_t alignment,
                                       fill how) noexcept {
    if (no_alloc_scope::is_active() || heap_events::goes_without_cache()) return nullptr;
    return heap_events::process_core().allocate_counted(cache, bytes, alignment, how);
}

namespace {

/// Where a thread has no cache, its own tag counts: it is the one of the request during the call.
class tag_without_cache {
public:
    tag_without_cache(const thread_cache* cache, std::uint16_t tag) noexcept
        : before_(detail::this_thread_tag().id), is_set_(cache == nullptr) {
        if (is_set_) detail::this_thread_tag().id = tag;
    }
    ~tag_without_cache() {
        if (is_set_) detail::this_thread_tag().id = before_;
    }
    tag_without_cache(const tag_without_cache&) = delete;
    tag_without_cache& operator=(const tag_without_cache&) = delete;

private:
    std::uint16_t before_;
    bool is_set_;
};

}

void* detail::process_allocate_tagged(std::uint16_t tag, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    thread_cache* const cache = process_cache_or_open_for(tag);
    const tag_without_cache tagged(cache, tag);
    return heap_events::process_core().allocate(cache, bytes, alignment, how);
}

void* detail::process_reallocate(void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    return heap_events::process_core().reallocate(process_cache_or_open(), block, bytes, default_alignment);
}

void* detail::process_reallocate_tagged(std::uint16_t tag, void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    thread_cache* const cache = process_cache_or_open_for(tag);
    const tag_without_cache tagged(cache, tag);
    return heap_events::process_core().reallocate(cache, block, bytes, default_alignment);
}

void detail::process_deallocate_as(void* block, block_form form, std::size_t bytes, bool starts_thread) noexcept {
    [[maybe_unused]] const caller_release release(block_of_process, block);
    if constexpr (checks::caller) forget_made(block);
    process_core().deallocate_as(process_cache_or_open(), block, form, bytes);
    if (starts_thread) start_wanted_background();
}

void* detail::process_allocate_checked(std::size_t bytes, std::size_t alignment, block_form form) noexcept {
    thread_cache* const cache = process_cache();
    const bool must_be_slow = no_alloc_scope::is_active() || is_profiling.load(std::memory_order_relaxed);
    if (cache == nullptr || cache->resting == nullptr || must_be_slow) [[unlikely]]
        return nullptr;
    void* const block = heap_events::process_core().checked().allocate(*cache, bytes, alignment, form);
    note_block_begin(block, bytes);
    return block;
}

bool detail::process_deallocate_checked(void* block, block_form form, std::size_t bytes) noexcept {
    thread_cache* const cache = process_cache();
    // The slow path tells the end.
    const bool must_be_slow =
        no_wait_scope::is_active() || tells_blocks() || is_profiling.load(std::memory_order_relaxed);
    if (cache == nullptr || cache->resting == nullptr || must_be_slow) [[unlikely]]
        return false;
    return heap_events::process_core().checked().deallocate(*cache, block, form, bytes);
}

void detail::process_deallocate_slow(void* block, bool starts_thread) noexcept {
    [[maybe_unused]] const caller_release release(block_of_process, block);
    const thread_cache* const present = process_cache();
    const bool is_special = (address_of(block) & (max_segment_bytes - 1)) == 0;
    if (!checks::caller && present != nullptr && !is_special && !tells_blocks()) {
        const std::size_t number = class_number_at(block, max_segment_bytes);
        if (number == tagged_class && push_tagged(*present, block)) return;
        if (number == watched_class && heap_events::process_core().push_watched(*present, block)) return;
    }
    if constexpr (checks::caller) forget_made(block);
    heap_events::process_core().deallocate(process_cache_or_open(), block);
    if (starts_thread) start_wanted_background();
}

namespace {

std::size_t home_bytes() noexcept { return align_up(sizeof(registered_heap), platform::page_bytes()); }

void end_home(registered_heap* home) noexcept {
    if (home == nullptr) return;
    if (detail::tells_blocks()) [[unlikely]]
        home->core.tell_all_ends();
    detail::remove_holder(home);
    home->fork.delist();
    platform::unregister_slot(home->slot);
    home->~registered_heap();
    platform::remove_leak_root(home, home_bytes());
    platform::unreserve(home, home_bytes());
}

}

heap::heap(heap_options options, block_source& source) noexcept {
    void* const memory = platform::map(home_bytes(), cache_line_bytes);
    if (memory == nullptr) return;
    segment_bytes_ = segment_bytes_for(options.limit_bytes, source);
    platform::add_leak_root(memory, home_bytes()); // for blocks under passthrough
    home_ = ::new (memory)
        registered_heap(options.name, source, segment_bytes_, options.limit_bytes, detail::passthrough_form::listed,
                        platform::fork_order::objects, heap_events::fork_steps);
    home_->core.set_purge_policy({options.purge_delay_ns, options.max_retained_bytes});
    home_->core.set_tended(options.background);
    slot_ = home_->slot = platform::register_slot(home_, &heap_events::end_of_slot);
    home_->fork.enlist();
    detail::add_holder(home_, heap_events::as_holder);
}

heap::~heap() { end_home(home_); }

heap::heap(heap&& other) noexcept
    : slot_(std::exchange(other.slot_, {})), segment_bytes_(other.segment_bytes_),
      home_(std::exchange(other.home_, nullptr)) {
    if (home_ != nullptr) home_->link.moved_to(this);
}

heap& heap::operator=(heap&& other) noexcept {
    if (this == &other) return *this;
    end_home(home_);
    slot_ = std::exchange(other.slot_, {});
    segment_bytes_ = other.segment_bytes_;
    home_ = std::exchange(other.home_, nullptr);
    if (home_ != nullptr) home_->link.moved_to(this);
    return *this;
}

thread_cache* heap::cache_or_open() noexcept {
    if (is_process()) return detail::process_cache_or_open();
    thread_cache* const present = cache_of_this_thread();
    if (heap_events::goes_without_cache()) [[unlikely]] {
        if (present != nullptr && platform::set_slot(slot_, nullptr)) home_->core.close_cache(*present);
        return nullptr;
    }
    if (present != nullptr) return present;
    if (is_opening() || !platform::may_set_slot(slot_)) return nullptr;
    is_opening() = true;
    thread_cache* cache = home_->core.open_cache();
    if (cache != nullptr && !platform::set_slot(slot_, cache)) {
        home_->core.close_cache(*cache);
        cache = nullptr;
    }
    is_opening() = false;
    return cache;
}

void* heap::allocate_slow(std::size_t bytes, std::size_t alignment, fill how) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation(is_process() ? of_process : of_heap, bytes);
    if (home_ == nullptr) return nullptr;
    detail::allocation_attempt attempt;
    void* const block = home_->core.allocate(cache_or_open(), bytes, alignment, how);
    if (block != nullptr) attempt.succeeded();
    start_wanted_background();
    return block;
}

void heap::report_left(const void* block) noexcept {
    if (!checks::caller || block == nullptr) return;
    report_misuse("a block was freed to a heap that was moved from, or that never had memory", block,
                  "Free its blocks to the heap that took them over. The pointers of make_unique_in() find it "
                  "themselves.");
}

void heap::deallocate_sized(void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const detail::caller_release release(is_process() ? block_of_process : block_of_heap, block);
    if (home_ == nullptr) return report_left(block);
    if (checks::caller && is_process()) detail::forget_made(block);
    home_->core.deallocate_as(cache_or_open(), block, detail::block_form::any, bytes);
    start_wanted_background();
}

void heap::deallocate_slow(void* block) noexcept {
    [[maybe_unused]] const detail::caller_release release(is_process() ? block_of_process : block_of_heap, block);
    if (home_ == nullptr) return report_left(block);
    if (checks::caller && is_process()) detail::forget_made(block);
    home_->core.deallocate(cache_or_open(), block);
    start_wanted_background();
}

void* heap::reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation(is_process() ? of_process : of_heap, bytes);
    if (home_ == nullptr) return nullptr;
    detail::allocation_attempt attempt;
    if (checks::caller && is_process()) detail::forget_made(block); // from now on no object of make()
    void* const moved = home_->core.reallocate(cache_or_open(), block, bytes, alignment);
    if (moved != nullptr) attempt.succeeded();
    start_wanted_background();
    return moved;
}

bool heap::resize(void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation(is_process() ? of_process : of_heap, bytes);
    if (home_ == nullptr) return false;
    detail::allocation_attempt attempt;
    const bool is_resized = home_->core.resize(block, bytes);
    if (is_resized) attempt.succeeded();
    start_wanted_background();
    return is_resized;
}

std::size_t heap::trim() noexcept { return home_ != nullptr ? home_->core.trim(cache_of_this_thread()) : 0; }

heap_usage heap::usage() const noexcept { return home_ != nullptr ? heap_events::usage_of(*home_) : heap_usage{}; }

void heap::visit_usages(void (*visit)(void* context, const heap_usage&), void* context) {
    const platform::lock_guard lock(platform::slots_mutex());
    visit(context, process().usage());
    auto visiting = [&](const registered_heap& each) { visit(context, heap_events::usage_of(each)); };
    platform::for_each_slot_owner(
        &heap_events::end_of_slot,
        [](void* to, platform::thread_slot, void* owner) noexcept {
            (*static_cast<decltype(visiting)*>(to))(*static_cast<const registered_heap*>(owner));
        },
        &visiting);
}

}
