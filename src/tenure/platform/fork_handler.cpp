// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/fork_handler.hpp>

#include <tenure/base/at_fork.hpp>
#include <tenure/platform/fork.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

struct participants {
    mutex forking; ///< one fork at a time; taken before every other
    mutex list;    ///< of `objects`; taken between `lifetimes` and `objects`
    /// Linked by next_ alone, in no order. Lasting handlers are never removed, so a walk needs no lock.
    std::atomic<fork_handler*> lasting{nullptr};
    fork_handler* objects = nullptr; ///< the newest first
    std::atomic<bool> is_heard{false};
    std::atomic<bool> is_alone{false}; ///< from the start of a fork to its end
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

    static void before() noexcept {
        all.is_alone = is_single_threaded();
        if (all.is_alone) return;
        all.forking.lock();
        for (std::size_t order = 0; order < fork_orders; ++order) {
            visit_lasting(static_cast<fork_order>(order), &lock);
            if (static_cast<fork_order>(order) != fork_order::objects) continue;
            all.list.lock();
            for (fork_handler* each = all.objects; each != nullptr; each = each->next_) lock(*each);
        }
    }
    static void in_parent() noexcept {
        if (all.is_alone) return;
        unlock_all([](fork_handler& each) noexcept { unlock(each, each.steps_->in_parent); });
        all.list.unlock();
        all.forking.unlock();
    }
    static void in_child() noexcept {
        if (all.is_alone) return;
        all.list.abandon();
        all.forking.abandon();
        unlock_all([](fork_handler& each) noexcept { unlock(each, each.steps_->in_child); });
    }

    static void list_lasting(fork_handler& added) noexcept {
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
    // A lasting handler may be added during a fork: a lock that this fork has not taken is not released.
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

void hear_of_forks() noexcept {
    if (all.is_heard.load(std::memory_order_relaxed) || all.is_heard.exchange(true)) return;
    const bool is_heard = at_fork(&fork_handlers::before, &fork_handlers::in_parent, &fork_handlers::in_child);
    if (!is_heard) all.is_heard.store(false); // the next caller tries again
}

namespace {

constexpr fork_steps steps_of_tags{[](void*) noexcept { detail::lock_tags(); },
                                   [](void*) noexcept { detail::unlock_tags(); },
                                   [](void*) noexcept { detail::unlock_tags(); }};
constexpr fork_steps steps_of_options{[](void*) noexcept {}, [](void*) noexcept {},
                                      [](void*) noexcept { detail::forget_reader_of_options(); }};
constexpr fork_steps steps_of_making = steps_of_lock<[](void*) noexcept -> mutex& { return making; }>;

constinit fork_handler of_tags{fork_order::leaf, nullptr, steps_of_tags};
constinit fork_handler of_options{fork_order::leaf, nullptr, steps_of_options};
constinit fork_handler of_making{fork_order::making, nullptr, steps_of_making};

// Registers before other handlers do: the library's locks are then taken last and released first, so other handlers may
// allocate during a fork. Runs before main(), so no fork can come between the first use of a lock and this.
__attribute__((constructor(101))) void begin() noexcept {
    hear_of_forks();
    for (fork_handler* const each : {&of_tags, &of_options, &of_making}) each->enlist();
}

}

}
