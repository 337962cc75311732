// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Freed small blocks of checked builds, in two threads that take turns. Whatever the order of calls and of mistakes: no
// block is handed out while it is in use or must still rest, every double free and every overrun is reported, and a
// write after the free is reported when the block is handed out again. Sound calls report nothing.

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "operations.hpp"
#include "second_thread.hpp"

namespace {

using fuzz::mebibyte;
using tenure::mitigation;
namespace detail = tenure::detail;

constexpr std::size_t max_alive = 4000;
constexpr std::size_t max_bytes = 60'000;
constexpr std::uint64_t long_delay_ns = 1'000'000'000'000; // so that only this file's sweeps return memory

std::atomic<std::size_t> mistakes_heard{0};

void hear(tenure::report_kind kind, std::string_view text) noexcept {
    if (kind == tenure::report_kind::misuse) ++mistakes_heard;
    if (kind != tenure::report_kind::invariant) return;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
    std::abort();
}

/// Changes a byte that AddressSanitizer may know to be freed.
__attribute__((no_sanitize("address"), noinline)) void change(unsigned char* byte) {
    *byte = static_cast<unsigned char>(*byte ^ 0x10);
}

/// What is known of a small block since it was freed.
struct freed_block {
    std::size_t thread;
    std::size_t class_index;
    std::size_t bytes;
    std::size_t frees, allocations; ///< of that thread and class, until then
    std::size_t emptied;            ///< number of times that quarantines had been emptied; unknown_times
    std::size_t page_life;          ///< of its slice
    bool is_written;
};
constexpr std::size_t unknown_times = SIZE_MAX;

/// A page stays where it is while one of its blocks is in use. Blocks that begin in the same slice are of one page.
struct slice {
    std::size_t live_count = 0;
    std::size_t page_life = 0; ///< how often the last of them was freed
};

/// Calls of each thread.
struct thread_calls {
    std::array<std::size_t, detail::small_class_count> frees{}, allocations{};
    std::size_t emptied_seen = 0; ///< the last time that this thread is known to have emptied its quarantine
};

class tested_heap {
public:
    tested_heap(std::size_t limit_bytes, tenure::block_source& source, detail::mitigation_set on, bool is_scarce)
        : heap_({.limit_bytes = limit_bytes, .purge_delay_ns = long_delay_ns, .background = false}, source), on_(on),
          is_scarce_(is_scarce) {}

    void run(fuzz::input& from, fuzz::second_thread& second);
    void finish(fuzz::second_thread& second);

private:
    void run_drawn(std::size_t seed, fuzz::second_thread& second);
    void step(std::uint8_t operation, fuzz::input& from);
    void allocate(std::size_t bytes, std::size_t alignment, tenure::fill how);
    void note_allocated(unsigned char* block, std::size_t bytes, std::size_t alignment, std::size_t reports);
    void deallocate(const fuzz::held& block, bool is_sized);
    void note_freed(const fuzz::held& block);
    void allocate_some(fuzz::input& from, std::uint8_t operation);
    void deallocate_some(fuzz::input& from, bool is_sized);
    void free_again(fuzz::input& from);
    void free_twice(fuzz::input& from);
    void write_after_free(fuzz::input& from);
    void overrun(fuzz::input& from);
    void clear();
    void sweep(std::uint8_t how);
    void make_slow_call();

    [[nodiscard]] bool has(mitigation one) const { return tenure::checks::caller && detail::has(on_, one); }
    [[nodiscard]] std::size_t class_of(std::size_t bytes, std::size_t alignment) const;
    [[nodiscard]] slice& slice_of(const unsigned char* block) {
        return slices_[tenure::address_of(block) / detail::slice_bytes];
    }
    [[nodiscard]] bool is_page_kept(const unsigned char* block, const freed_block& known) {
        return slice_of(block).page_life == known.page_life;
    }
    [[nodiscard]] bool may_leave(const freed_block& known) const;
    [[nodiscard]] unsigned char* some_freed(fuzz::input& from);
    /// Expects so many reports since the last call.
    void expect_reports(std::size_t count, const char* what) {
        fuzz::require(mistakes_heard - reports_seen_ == count, what);
        reports_seen_ = mistakes_heard;
    }

    tenure::heap heap_;
    const detail::mitigation_set on_;
    const bool is_scarce_; ///< requests may fail, and then empty the calling thread's quarantine
    std::vector<fuzz::held> alive_;
    std::map<const unsigned char*, const unsigned char*> extents_; ///< begin and end of blocks in use
    std::unordered_map<unsigned char*, freed_block> freed_;
    std::array<unsigned char*, 256> freed_last_{};
    std::size_t freed_count_ = 0;
    std::unordered_map<std::uintptr_t, slice> slices_;
    std::array<thread_calls, 2> threads_;
    std::size_t thread_ = 0; ///< whose turn it is
    std::size_t emptied_ = 0;
    std::size_t reports_seen_ = mistakes_heard;
    std::uint64_t now_ns_ = std::uint64_t{1} << 60; // later than any call that reads the clock
    std::uint8_t stamp_ = 0;
};

/// The class of a small block; small_class_count for others, and for blocks that may be others: when no page of several
/// slices is left, a large block serves the request.
std::size_t tested_heap::class_of(std::size_t bytes, std::size_t alignment) const {
    const std::size_t guard = tenure::checks::caller ? detail::guard_bytes : 0;
    const std::size_t found = detail::class_for(bytes + guard, alignment);
    if (found == detail::small_class_count) return found;
    const std::size_t segment_bytes = detail::core_of(heap_).memory().segment_bytes();
    const std::size_t slices = detail::slices_of_page(found);
    const bool is_small = 2 * slices * detail::slice_bytes <= segment_bytes && !(is_scarce_ && slices > 1);
    return is_small ? found : detail::small_class_count;
}

/// Whether a block may have left its quarantine: others of its class displaced it, or refills of the cache took it. A
/// refill takes what was there eight refills before, and each refill serves at least one allocation.
bool tested_heap::may_leave(const freed_block& known) const {
    if (!has(mitigation::quarantine) || is_scarce_ || known.emptied != emptied_) return true;
    const thread_calls& calls = threads_[known.thread];
    const std::size_t frees = calls.frees[known.class_index] - known.frees;
    const std::size_t allocations = calls.allocations[known.class_index] - known.allocations;
    const std::size_t least = detail::ring_rooms[known.class_index] - detail::ring_choices[known.class_index];
    return frees >= least || allocations >= 8;
}

void tested_heap::note_allocated(unsigned char* block, std::size_t bytes, std::size_t alignment, std::size_t reports) {
    fuzz::require(tenure::is_aligned(block, alignment), "a block is aligned");
    const auto after = extents_.lower_bound(block);
    fuzz::require(after == extents_.end() || block + bytes <= after->first, "a block ends before the next");
    fuzz::require(after == extents_.begin() || std::prev(after)->second <= block, "a block is not in use already");
    extents_.emplace(block, block + bytes);
    const std::size_t class_index = class_of(bytes, alignment);
    if (const auto found = freed_.find(block); found != freed_.end()) {
        const freed_block known = found->second;
        freed_.erase(found);
        const bool is_kept = is_page_kept(block, known);
        fuzz::require(!is_kept || known.class_index == class_index, "a page keeps its class");
        fuzz::require(!is_kept || may_leave(known), "a freed block rests");
        fuzz::require(reports <= std::size_t{known.is_written}, "only a written block is reported");
        fuzz::require(reports == 1 || !known.is_written || !is_kept, "a write after the free is reported");
    } else {
        fuzz::require(reports == 0, "a block that nobody wrote to is not reported");
    }
    if (class_index == detail::small_class_count) return;
    ++slice_of(block).live_count;
    ++threads_[thread_].allocations[class_index];
}

void tested_heap::allocate(std::size_t bytes, std::size_t alignment, tenure::fill how) {
    if (alive_.size() >= max_alive || !fuzz::may_hold(alive_, bytes)) return;
    auto* const block = static_cast<unsigned char*>(heap_.allocate(bytes, alignment, how));
    const std::size_t reports = mistakes_heard - reports_seen_;
    reports_seen_ = mistakes_heard;
    fuzz::require(block != nullptr || is_scarce_, "there is memory");
    if (block == nullptr) return fuzz::require(reports == 0, "a refusal reports no mistake");
    note_allocated(block, bytes, alignment, reports);
    fuzz::require(how != tenure::fill::zero || fuzz::is_zero(block, bytes), "zero is zero");
    alive_.push_back({block, bytes, alignment, ++stamp_});
    fuzz::write(alive_.back());
}

void tested_heap::note_freed(const fuzz::held& block) {
    extents_.erase(block.at);
    const std::size_t class_index = class_of(block.bytes, block.alignment);
    if (class_index == detail::small_class_count) return;
    slice& within = slice_of(block.at);
    const std::size_t page_life = within.page_life;
    if (--within.live_count == 0) ++within.page_life; // the page may be released from now on
    thread_calls& calls = threads_[thread_];
    const std::size_t frees = ++calls.frees[class_index];
    freed_[block.at] = {thread_,
                        class_index,
                        block.bytes,
                        frees,
                        calls.allocations[class_index],
                        calls.emptied_seen == emptied_ ? emptied_ : unknown_times,
                        page_life,
                        false};
    freed_last_[freed_count_++ % freed_last_.size()] = block.at;
}

void tested_heap::deallocate(const fuzz::held& block, bool is_sized) {
    fuzz::require(fuzz::holds(block, block.bytes), "a block keeps its contents");
    is_sized ? heap_.deallocate(block.at, block.bytes, block.alignment) : heap_.deallocate(block.at);
    expect_reports(0, "a sound free is not reported");
    note_freed(block);
}

/// One of the blocks that were freed last and are not in use again, or nullptr.
unsigned char* tested_heap::some_freed(fuzz::input& from) {
    const std::size_t choice = from.byte();
    const std::size_t known = std::min(freed_count_, freed_last_.size());
    if (known == 0) return nullptr;
    unsigned char* const block = freed_last_[choice % known];
    return freed_.contains(block) ? block : nullptr;
}

void tested_heap::free_again(fuzz::input& from) {
    unsigned char* const block = some_freed(from);
    if (block == nullptr) return;
    heap_.deallocate(block);
    expect_reports(1, "a double free is reported");
}

void tested_heap::free_twice(fuzz::input& from) {
    if (alive_.empty()) return;
    const fuzz::held block = fuzz::take(alive_, from.byte());
    const bool is_sized = from.byte() % 2 == 0;
    deallocate(block, is_sized);
    is_sized ? heap_.deallocate(block.at, block.bytes, block.alignment) : heap_.deallocate(block.at);
    expect_reports(1, "a double free is reported at once");
}

void tested_heap::write_after_free(fuzz::input& from) {
    unsigned char* const block = some_freed(from);
    const std::size_t offset = from.byte();
    if (block == nullptr || !has(mitigation::fill)) return;
    freed_block& known = freed_.at(block);
    const bool is_checked = known.class_index >= detail::first_checked_class;
    if (!is_checked || known.is_written || !is_page_kept(block, known)) return;
    change(block + offset % std::min<std::size_t>(known.bytes, detail::filled_end_bytes));
    known.is_written = true;
}

void tested_heap::overrun(fuzz::input& from) {
    if (alive_.empty()) return;
    const fuzz::held block = fuzz::take(alive_, from.byte());
    unsigned char* const past = block.at + block.bytes + from.byte() % detail::guard_bytes;
    change(past);
    heap_.deallocate(block.at);
    expect_reports(1, "a write past the end is reported");
    change(past);
    deallocate(block, false);
}

void tested_heap::allocate_some(fuzz::input& from, std::uint8_t operation) {
    constexpr std::array<std::size_t, 8> usual{1, 40, 100, 240, 1000, 4000, 7000, 15'000};
    const std::uint8_t kind = from.byte();
    const std::size_t bytes = kind < 200 ? usual[kind % usual.size()] : std::max<std::size_t>(from.size(max_bytes), 1);
    const std::size_t alignment = kind % 32 == 31 ? std::size_t{1} << from.byte() % 13 : tenure::default_alignment;
    const std::size_t count = 1 + (operation % 2 == 0 ? 0 : from.byte() % 100);
    const tenure::fill how = kind % 16 == 15 ? tenure::fill::zero : tenure::fill::none;
    for (std::size_t each = 0; each < count; ++each) allocate(bytes, alignment, how);
}

void tested_heap::deallocate_some(fuzz::input& from, bool is_sized) {
    const std::size_t first = from.byte() | std::size_t{from.byte()} << 8;
    const std::size_t count = std::min<std::size_t>(alive_.size(), 1 + from.byte() % 100);
    for (std::size_t each = 0; each < count; ++each) deallocate(fuzz::take(alive_, first + each), is_sized);
}

void tested_heap::clear() {
    heap_.clear();
    alive_.clear();
    extents_.clear();
    freed_.clear();
    freed_count_ = 0;
    slices_.clear();
}

/// As the background thread, but now.
void tested_heap::sweep(std::uint8_t how) {
    auto& core = const_cast<detail::heap_core&>(detail::core_of(heap_));
    now_ns_ += core.sweep_every_ns() + 1;
    (void)core.sweep({.is_thorough = (how & 1) != 0, .is_urgent = (how & 2) != 0}, now_ns_);
    if ((how & 4) == 0) return;
    core.shrink_caches();
    ++emptied_;
}

/// A block that is not small, at which a thread empties its quarantine if the heap was trimmed.
void tested_heap::make_slow_call() {
    void* const block = heap_.allocate(2 * detail::max_small_bytes);
    heap_.deallocate(block);
    if (block != nullptr) threads_[thread_].emptied_seen = emptied_;
}

void tested_heap::step(std::uint8_t operation, fuzz::input& from) {
    if (operation < 10) {
        allocate_some(from, operation);
    } else if (operation < 18) {
        deallocate_some(from, operation % 2 == 0);
    } else if (operation == 18) {
        sweep(from.byte());
    } else if (operation == 19) {
        make_slow_call();
    } else if (operation == 20) {
        heap_.trim();
        threads_[thread_].emptied_seen = ++emptied_;
    } else if (operation == 21) {
        clear();
    } else if (tenure::checks::caller && operation < 24) {
        free_again(from);
    } else if (tenure::checks::caller && operation < 26) {
        free_twice(from);
    } else if (tenure::checks::caller && operation < 30) {
        write_after_free(from);
    } else if (tenure::checks::caller && operation == 30) {
        overrun(from);
    }
    expect_reports(0, "a sound call is not reported");
    fuzz::require(heap_.stats().live_count == alive_.size(), "the count of blocks is true");
}

/// Two bytes stand for a few hundred, so that short inputs fill and empty rings.
void tested_heap::run_drawn(std::size_t seed, fuzz::second_thread& second) {
    std::array<std::uint8_t, 500> drawn{};
    const std::size_t begin = seed % (fuzz::noise.size() - drawn.size());
    std::copy_n(fuzz::noise.begin() + static_cast<std::ptrdiff_t>(begin), drawn.size(), drawn.begin());
    fuzz::input from(drawn.data(), drawn.size());
    run(from, second);
}

void tested_heap::run(fuzz::input& from, fuzz::second_thread& second) {
    constexpr std::uint8_t operation_mask = 31;
    while (!from.empty()) {
        const std::uint8_t byte = from.byte();
        thread_ = byte >= 192;
        if (byte == 0) { // never drawn
            run_drawn(from.byte() | std::size_t{from.byte()} << 8, second);
        } else if (byte == 255) {
            second.restart();
            threads_[1].emptied_seen = ++emptied_;
        } else if (thread_ == 0) {
            step(byte & operation_mask, from);
        } else {
            second.run([&] { step(byte & operation_mask, from); });
        }
    }
}

void tested_heap::finish(fuzz::second_thread& second) {
    fuzz::require(heap_.valid(), "the heap is valid");
    std::size_t walked = 0;
    heap_.walk([&](void*, std::size_t) { ++walked; });
    fuzz::require(walked == alive_.size(), "a walk sees every block");
    for (const fuzz::held& block : alive_) deallocate(block, false);
    second.restart(); // its caches go back
    heap_.trim();
    expect_reports(0, "the end is not reported");
    fuzz::require(heap_.stats().reserved_bytes == 0, "everything goes back");
}

/// All mitigations, or all but one that decides where freed blocks go.
[[nodiscard]] detail::mitigation_set mitigations_from(std::uint8_t choice) {
    constexpr std::array<mitigation, 3> optional{mitigation::quarantine, mitigation::shuffle, mitigation::fill};
    const std::size_t which = choice % 8;
    const std::uint64_t without = which < optional.size() ? static_cast<std::uint64_t>(optional[which]) : 0;
    return static_cast<detail::mitigation_set>(tenure::all_mitigations & ~without);
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    static fuzz::second_thread second;
    fuzz::input from(bytes, count);
    tenure::set_report_handler(&hear);
    tenure::set_option(tenure::option::heap_guard_sample, 0); // an access to a freed block between guard pages faults
    const detail::mitigation_set on = mitigations_from(from.byte());
    tenure::set_option(tenure::option::heap_mitigations, on);
    tenure::counting_source counted(tenure::page_source::process());
    {
        const std::uint8_t scarcity = from.byte();
        const bool is_scarce = scarcity >= 192;
        tenure::failing_source failing(counted, scarcity < 224 ? 1'000'000 : scarcity - 224u);
        const std::size_t limit_bytes = is_scarce ? (1 + scarcity % 8) * mebibyte : tenure::max_object_bytes;
        tested_heap tested(limit_bytes, failing, on, is_scarce);
        tested.run(from, second);
        tested.finish(second);
    }
    fuzz::require(counted.live_blocks() == 0, "the source has everything back");
    return 0;
}
