// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI {

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
TENURE_THREAD_LOCAL std::size_t rounds_of_end = 0;
TENURE_THREAD_LOCAL bool is_opening = false;
constinit std::atomic<bool> is_set_up{false};

}

/// Starts the background thread if it is wanted: for callers outside the C library.
TENURE_ALWAYS_INLINE void start_wanted_background() noexcept {
    if (detail::is_background_wanted()) [[unlikely]]
        detail::start_background();
}

/// Entry points into heaps for thread ends and forks.
struct heap_events {
    static detail::heap_core& process_core() noexcept { return heap::process().core_; }

    static void end_of_slot(void* owner, void* cache) noexcept {
        static_cast<heap*>(owner)->core_.close_cache(*static_cast<thread_cache*>(cache));
        start_wanted_background();
    }

    static void end_of_process_cache() noexcept {
        if (++rounds_of_end < platform::thread_end_rounds()) platform::at_thread_end(&end_of_process_cache);
        detail::forget_tags();
        thread_cache* cache = detail::process_cache() != nullptr ? detail::process_cache()->main : nullptr;
        detail::process_cache() = nullptr;
        // Emptying a cache may report a double free, and the report handler may allocate. The thread must not open a
        // cache meanwhile: that would mistake the caches still to be closed for those of an earlier thread.
        const bool was_opening = std::exchange(is_opening, true);
        while (cache != nullptr) {
            thread_cache* const next = cache->next_of_thread;
            process_core().close_cache(*cache);
            cache = next;
        }
        start_wanted_background(); // the C library calls this without a lock
        is_opening = was_opening;
    }

    static constexpr platform::fork_steps fork_steps{
        [](void* owner) noexcept { static_cast<heap*>(owner)->core_.before_fork(); },
        [](void* owner) noexcept { static_cast<heap*>(owner)->core_.after_fork_in_parent(); },
        [](void* owner) noexcept {
            heap& forked = *static_cast<heap*>(owner);
            forked.core_.after_fork_in_child(forked.cache_of_this_thread());
        },
        [](void* owner) noexcept { return static_cast<heap*>(owner)->core_.holds_lock(); },
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
                call(with, static_cast<heap*>(owner)->core_);
            },
            &to);
    }

    static void register_fork_handlers() noexcept {
        heap::process().fork_.enlist();
        platform::hear_of_forks(); // again, in case the system rejected it before
    }

    /// The order of blocks must differ between the children of a process.
    static void reorder_in_child() noexcept {
        detail::quarantine::follow_fork();
        const thread_cache* const cache = detail::process_cache();
        if (cache != nullptr && cache->resting != nullptr) cache->resting->start_generator();
    }

    static thread_cache* open_process_cache() noexcept {
        const bool is_over = rounds_of_end >= platform::thread_end_rounds();
        if (is_opening || is_over) return nullptr;
        is_opening = true; // the calls below may allocate; they then run without a cache
        process_core().close_abandoned();
        thread_cache* const cache = process_core().open_cache();
        detail::process_cache() = cache;
        if (cache != nullptr && !platform::at_thread_end(&end_of_process_cache)) {
            process_core().close_cache(*cache); // nobody would announce the thread's end
            detail::process_cache() = nullptr;
            // Do not retry if all of the system's slots are taken; do retry after a temporary lack of memory.
            if (!platform::has_end_slot(&end_of_process_cache)) rounds_of_end = platform::thread_end_rounds();
        } else if (cache != nullptr) {
            register_fork_handlers();
            detail::follow_tags();
        }
        if (!is_set_up.load(std::memory_order_relaxed) && host::has_environment()) set_up();
        is_opening = false;
        return detail::process_cache();
    }

    /// Applies the options: once per process.
    static void set_up() noexcept {
        if (is_set_up.exchange(true)) return;
        constexpr std::uint64_t ns_per_ms = 1'000'000;
        process_core().set_purge_policy({option_value(option::heap_purge_delay_ms) * ns_per_ms,
                                         static_cast<std::size_t>(option_value(option::heap_max_retained_bytes))});
        process_core().set_use_limit(static_cast<std::size_t>(option_value(option::heap_limit_bytes)));
    }
};

constexpr heap::heap(for_process) noexcept
    : slot_{process_index, 0}, name_("process"),
      core_(pages_of_process, detail::max_segment_bytes, max_object_bytes, detail::passthrough_form::plain),
      fork_(platform::fork_order::process_heap, this, heap_events::fork_steps) {}

/// Never destroyed: objects of static duration may free to it at the very end.
union heap::process_heap {
    constexpr process_heap() noexcept : value(for_process{}) {}
    ~process_heap() {}
    heap value;
};
constinit heap::process_heap heap::the_process_heap{};

heap& heap::process() noexcept { return the_process_heap.value; }

namespace {

constexpr platform::own_thread own_thread_of_heaps{&platform::phase_of_background, &detail::try_pause_background,
                                                   &detail::go_on_in_background, &detail::forget_background};
__attribute__((constructor(101))) void register_fork_handlers() noexcept {
    heap_events::register_fork_handlers();
    platform::set_own_thread(own_thread_of_heaps);
    if constexpr (checks::caller) platform::call_first_in_child(&heap_events::reorder_in_child);
}

}

thread_cache* detail::process_cache_or_open() noexcept {
    return process_cache() != nullptr ? process_cache() : heap_events::open_process_cache();
}

const detail::heap_core& detail::core_of(const heap& of) noexcept { return of.core_; }
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

void* detail::process_allocate_tagged(std::uint16_t tag, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    return heap_events::process_core().allocate(process_cache_or_open_for(tag), bytes, alignment, how);
}

void* detail::process_reallocate(void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    return heap_events::process_core().reallocate(process_cache_or_open(), block, bytes, default_alignment);
}

void* detail::process_reallocate_tagged(std::uint16_t tag, void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const caller_allocation allocation(of_process, bytes);
    return heap_events::process_core().reallocate(process_cache_or_open_for(tag), block, bytes, default_alignment);
}

void detail::process_deallocate_as(void* block, block_form form, std::size_t bytes, bool starts_thread) noexcept {
    [[maybe_unused]] const caller_release release(block_of_process, block);
    process_core().deallocate_as(process_cache_or_open(), block, form, bytes);
    if (starts_thread) start_wanted_background();
}

void* detail::process_allocate_checked(std::size_t bytes, std::size_t alignment, block_form form) noexcept {
    thread_cache* const cache = process_cache();
    if (cache == nullptr || cache->resting == nullptr || no_alloc_scope::is_active()) [[unlikely]]
        return nullptr;
    return heap_events::process_core().checked().allocate(*cache, bytes, alignment, form);
}

bool detail::process_deallocate_checked(void* block, block_form form, std::size_t bytes) noexcept {
    thread_cache* const cache = process_cache();
    if (cache == nullptr || cache->resting == nullptr || no_wait_scope::is_active()) [[unlikely]]
        return false;
    return heap_events::process_core().checked().deallocate(*cache, block, form, bytes);
}

void detail::process_deallocate_slow(void* block, bool starts_thread) noexcept {
    [[maybe_unused]] const caller_release release(block_of_process, block);
    const thread_cache* const present = process_cache();
    const bool is_special = (address_of(block) & (max_segment_bytes - 1)) == 0;
    if (!checks::caller && present != nullptr && !is_special &&
        class_number_at(block, max_segment_bytes) == tagged_class && push_tagged(*present, block))
        return;
    heap_events::process_core().deallocate(process_cache_or_open(), block);
    if (starts_thread) start_wanted_background();
}

heap::heap(heap_options options, block_source& source) noexcept
    : name_(options.name), core_(source, segment_bytes_for(options.limit_bytes, source), options.limit_bytes,
                                 detail::passthrough_form::listed),
      fork_(platform::fork_order::objects, this, heap_events::fork_steps) {
    core_.set_purge_policy({options.purge_delay_ns, options.max_retained_bytes});
    core_.set_tended(options.background);
    slot_ = platform::register_slot(this, &heap_events::end_of_slot);
    fork_.enlist();
}

heap::~heap() {
    fork_.delist();
    platform::unregister_slot(slot_);
}

thread_cache* heap::cache_or_open() noexcept {
    if (is_process()) return detail::process_cache_or_open();
    if (thread_cache* const cache = cache_of_this_thread(); cache != nullptr) return cache;
    if (is_opening || !platform::may_set_slot(slot_)) return nullptr;
    is_opening = true;
    thread_cache* cache = core_.open_cache();
    if (cache != nullptr && !platform::set_slot(slot_, cache)) {
        core_.close_cache(*cache);
        cache = nullptr;
    }
    is_opening = false;
    return cache;
}

void* heap::allocate_slow(std::size_t bytes, std::size_t alignment, fill how) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation(is_process() ? of_process : of_heap, bytes);
    void* const block = core_.allocate(cache_or_open(), bytes, alignment, how);
    start_wanted_background();
    return block;
}

void heap::deallocate_sized(void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const detail::caller_release release(is_process() ? block_of_process : block_of_heap, block);
    core_.deallocate_as(cache_or_open(), block, detail::block_form::any, bytes);
    start_wanted_background();
}

void heap::deallocate_slow(void* block) noexcept {
    [[maybe_unused]] const detail::caller_release release(is_process() ? block_of_process : block_of_heap, block);
    core_.deallocate(cache_or_open(), block);
    start_wanted_background();
}

void* heap::reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation(is_process() ? of_process : of_heap, bytes);
    void* const moved = core_.reallocate(cache_or_open(), block, bytes, alignment);
    start_wanted_background();
    return moved;
}

bool heap::resize(void* block, std::size_t bytes) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation(is_process() ? of_process : of_heap, bytes);
    const bool is_resized = core_.resize(block, bytes);
    start_wanted_background();
    return is_resized;
}

std::size_t heap::trim() noexcept { return core_.trim(cache_of_this_thread()); }

heap_usage heap::usage() const noexcept {
    heap_usage answer = core_.usage();
    answer.name = name_;
    return answer;
}

void heap::visit_usages(void (*visit)(void* context, const heap_usage&), void* context) {
    const platform::lock_guard lock(platform::slots_mutex());
    visit(context, process().usage());
    auto visiting = [&](const heap& each) { visit(context, each.usage()); };
    platform::for_each_slot_owner(
        &heap_events::end_of_slot,
        [](void* to, platform::thread_slot, void* owner) noexcept {
            (*static_cast<decltype(visiting)*>(to))(*static_cast<const heap*>(owner));
        },
        &visiting);
}

}
