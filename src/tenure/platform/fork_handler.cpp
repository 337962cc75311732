// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fork_handler.hpp>

#include <atomic>

#include <tenure/base/at_fork.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/fork.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// How a fork keeps the state whole.
enum class fork_mode : std::uint8_t {
    locked,     ///< it holds every lock
    alone,      ///< no other thread is at work, so no lock matters
    interrupted ///< as alone, except that the library's thread waits for a lock that this thread holds
};

struct participants {
    mutex forking; ///< one fork at a time; taken before every other
    mutex list;    ///< of `objects`; taken between `lifetimes` and `objects`
    /// Linked by next_ alone, in no order. Lasting handlers are never removed, so a walk needs no lock.
    // Released with each handler and its next_, acquired by walks.
    std::atomic<fork_handler*> lasting{nullptr};
    fork_handler* objects = nullptr;   ///< the newest first
    std::atomic<bool> is_heard{false}; // the exchange elects who registers; the first look is relaxed
    // Of the fork that goes on, whose thread holds `forking`.
    fork_mode mode = fork_mode::locked;
    bool is_paused = false; ///< the library's own thread
    std::size_t nested = 0; ///< forks by signal handlers within it
    // Relaxed: a constant and code of this library, set while it is loaded.
    std::atomic<const own_thread*> own{nullptr};
    std::atomic<void (*)() noexcept> first_in_child{nullptr};
};
constinit participants all{};
constinit mutex making;

}

/// The steps of a fork, applied to every handler.
struct fork_handlers {
    using visitor = void (*)(fork_handler&) noexcept;

    static void visit_lasting(fork_order order, visitor visit) noexcept {
        for (fork_handler* each = all.lasting.load(std::memory_order_acquire); each != nullptr; each = each->next_)
            if (each->order_ == order) visit(*each);
    }

    /// Whether the calling thread is the only one apart from the library's, which may be starting or ending.
    static bool is_beside(const own_thread& own) noexcept {
        constexpr int looks = 20;
        for (int look = 0; look < looks; ++look) {
            const std::size_t count = thread_count();
            if (count == 1) return true;
            const background_phase phase = own.phase();
            if (count != 2 || phase == background_phase::none) return false;
            if (phase == background_phase::running) return true;
            sleep_ns(1'000'000);
        }
        return false;
    }

    /// Waits for the end of a sweep, but not for a lock that the calling thread holds.
    static bool pause(const own_thread& own, int looks) noexcept {
        for (int look = 0; look < looks; ++look) {
            if (own.try_pause()) return true;
            sleep_ns(200'000);
        }
        return false;
    }

    /// Whether the calling thread holds a lock that a handler takes. Requires  it is the only thread of the program.
    static bool is_interrupted() noexcept {
        if (all.list.is_mine()) return true;
        bool is_held = false;
        const auto look_at = [&](const fork_handler& each) noexcept {
            is_held |= each.steps_->is_interrupted != nullptr && each.steps_->is_interrupted(each.owner_);
        };
        for (const fork_handler* each = all.objects; each != nullptr; each = each->next_) look_at(*each);
        for (const fork_handler* each = all.lasting.load(std::memory_order_acquire); each != nullptr;
             each = each->next_)
            look_at(*each);
        return is_held;
    }

    static fork_mode choose_mode() noexcept {
        if (is_single_threaded()) return fork_mode::alone;
        const own_thread* const own = all.own.load(std::memory_order_relaxed);
        if (own == nullptr) return fork_mode::locked;
        constexpr int some_looks = 100, many_looks = 1000;
        if (!is_beside(*own)) return fork_mode::locked;
        all.is_paused = pause(*own, some_looks);
        if (!all.is_paused && !is_interrupted()) return fork_mode::locked;
        all.is_paused = all.is_paused || pause(*own, many_looks);
        return all.is_paused ? fork_mode::alone : fork_mode::interrupted;
    }

    static void before() noexcept {
        if (all.forking.is_mine()) { // the first one has seen to everything
            ++all.nested;
            return;
        }
        all.forking.lock();
        all.mode = choose_mode();
        if (all.mode != fork_mode::locked) return;
        lock_until_list();
        for (fork_handler* each = all.objects; each != nullptr; each = each->next_) lock(*each);
        for (std::size_t order = place_of_list + 1; order < fork_orders; ++order)
            visit_lasting(static_cast<fork_order>(order), &lock);
    }
    static void in_parent() noexcept {
        if (all.nested != 0) {
            --all.nested;
            return;
        }
        if (all.mode == fork_mode::locked) {
            unlock_all([](fork_handler& each) noexcept { unlock(each, each.steps_->in_parent); });
            all.list.unlock();
        }
        if (all.is_paused) all.own.load(std::memory_order_relaxed)->go_on();
        all.is_paused = false;
        all.forking.unlock();
    }
    static void in_child() noexcept {
        if (const auto function = all.first_in_child.load(std::memory_order_relaxed)) function();
        const own_thread* const own = all.own.load(std::memory_order_relaxed);
        const bool is_nested = all.nested != 0;                              // this thread goes on within the first one
        mutex::keeps_mine = is_nested || all.mode == fork_mode::interrupted; // it will release them itself
        if (own != nullptr) own->forget();
        if (is_nested) {
            --all.nested;
            mutex::keeps_mine = false;
            return;
        }
        if (all.mode == fork_mode::interrupted) {
            unlock_all([](fork_handler& each) noexcept { each.is_taken_ = true; });
        }
        if (all.mode != fork_mode::alone) {
            all.list.abandon();
            unlock_all([](fork_handler& each) noexcept { unlock(each, each.steps_->in_child); });
        }
        mutex::keeps_mine = false;
        all.is_paused = false;
        all.forking.abandon();
    }

    static void list_lasting(fork_handler& added) noexcept {
        // Release, also for next_: walks acquire the first one without a lock. Handlers are only added.
        fork_handler* first = all.lasting.load(std::memory_order_relaxed);
        do {
            added.next_ = first;
        } while (!all.lasting.compare_exchange_weak(first, &added, std::memory_order_release));
    }
    static void list_object(fork_handler& added) noexcept {
        added.next_ = all.objects;
        if (all.objects != nullptr) all.objects->previous_ = &added;
        all.objects = &added;
    }
    static void unlist_object(fork_handler& gone) noexcept {
        (gone.previous_ != nullptr ? gone.previous_->next_ : all.objects) = gone.next_;
        if (gone.next_ != nullptr) gone.next_->previous_ = gone.previous_;
        gone.next_ = gone.previous_ = nullptr;
    }

private:
    static constexpr auto place_of_list = static_cast<std::size_t>(fork_order::objects);

    /// Takes the locks of the first places, and then the list: from now on no handler is added. If one was added to a
    /// place that the walk had left, its lock may be held, and is not to be waited for under locks of later places: the
    /// walk releases all and begins again.
    static void lock_until_list() noexcept {
        for (;;) {
            for (std::size_t order = 0; order < place_of_list; ++order)
                visit_lasting(static_cast<fork_order>(order), &lock);
            all.list.lock();
            if (!is_any_missed()) return;
            all.list.unlock();
            for (std::size_t order = place_of_list; order-- != 0;)
                visit_lasting(static_cast<fork_order>(order),
                              [](fork_handler& each) noexcept { unlock(each, each.steps_->in_parent); });
        }
    }
    /// Requires  the lock of the list.
    static bool is_any_missed() noexcept {
        const fork_handler* each = all.lasting.load(std::memory_order_acquire);
        while (each != nullptr && (each->is_taken_ || each->order_ >= fork_order::objects)) each = each->next_;
        return each != nullptr;
    }

    // A lock that this fork has not taken is not released.
    static void lock(fork_handler& each) noexcept {
        each.steps_->before(each.owner_);
        each.is_taken_ = true;
    }
    static void unlock(fork_handler& each, void (*step)(void*) noexcept) noexcept {
        if (!each.is_taken_) return;
        each.is_taken_ = false;
        step(each.owner_);
    }
    static void unlock_all(visitor visit) noexcept {
        for (std::size_t order = fork_orders; order-- != 0;) {
            const bool is_of_objects = static_cast<fork_order>(order) == fork_order::objects;
            for (fork_handler* each = is_of_objects ? all.objects : nullptr; each != nullptr; each = each->next_)
                visit(*each);
            visit_lasting(static_cast<fork_order>(order), visit);
        }
    }
};

void fork_handler::enlist_slow() noexcept {
    {
        const lock_guard lock(all.list);
        if (is_listed_.load(std::memory_order_relaxed)) return;
        order_ == fork_order::objects ? fork_handlers::list_object(*this) : fork_handlers::list_lasting(*this);
        is_listed_.store(true, std::memory_order_release);
    }
    hear_of_forks();
}

void fork_handler::delist() noexcept {
    const lock_guard lock(all.list);
    if (!is_listed_.load(std::memory_order_relaxed)) return;
    fork_handlers::unlist_object(*this);
    is_listed_.store(false, std::memory_order_relaxed);
}

mutex& making_mutex() noexcept { return making; }

void set_own_thread(const own_thread& thread) noexcept { all.own.store(&thread, std::memory_order_relaxed); }

void call_first_in_child(void (*function)() noexcept) noexcept {
    all.first_in_child.store(function, std::memory_order_relaxed);
    hear_of_forks();
}

void hear_of_forks() noexcept {
    if (all.is_heard.load(std::memory_order_relaxed) || all.is_heard.exchange(true)) return;
    const bool is_heard = at_fork(&fork_handlers::before, &fork_handlers::in_parent, &fork_handlers::in_child);
    if (!is_heard) all.is_heard.store(false); // the next caller tries again
}

namespace {

constexpr fork_steps steps_of_tags{
    [](void*) noexcept { detail::lock_tags(); }, [](void*) noexcept { detail::unlock_tags(); },
    [](void*) noexcept { detail::unlock_tags(); }, [](void*) noexcept { return detail::are_tags_locked(); }};
constexpr fork_steps steps_of_options{[](void*) noexcept {}, [](void*) noexcept {},
                                      [](void*) noexcept { detail::forget_reader_of_options(); }, nullptr};
constexpr fork_steps steps_of_making = steps_of_lock<[](void*) noexcept -> mutex& { return making; }>;

constinit fork_handler of_tags{fork_order::leaf, nullptr, steps_of_tags};
constinit fork_handler of_options{fork_order::leaf, nullptr, steps_of_options};
constinit fork_handler of_making{fork_order::making, nullptr, steps_of_making};

// Registers before other handlers do: the library's locks are then taken last and released first, so other handlers may
// allocate during a fork. Runs before main(), so no fork can come between the first use of a lock and this.
TENURE_AT_LOAD(begin) {
    hear_of_forks();
    for (fork_handler* const each : {&of_tags, &of_options, &of_making}) each->enlist();
}

}

}
