// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// An affinity group with any options, over a source that sometimes fails: any sequence of operations keeps every object
// intact and apart from the others, and every figure correct. The model is a map of the allocated objects.

#include <algorithm>
#include <map>
#include <thread>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/engine/tail_guard.hpp>

#include "operations.hpp"

namespace {

using fuzz::kibibyte, fuzz::mebibyte;

constexpr std::size_t max_object_bytes = 40'000; // some are in blocks, some on the group's heap
constexpr std::size_t max_objects = 4000, max_bytes = 6 * mebibyte;
constexpr std::size_t page_bytes = 64 * kibibyte;
constexpr std::size_t max_block_alignment = 4096; // objects with larger alignment are on the heap
constexpr std::size_t plenty = 1'000'000;         // requests to the source

[[nodiscard]] tenure::affinity_options options_from(fuzz::input& from) {
    const std::uint8_t sizes = from.byte(), kinds = from.byte();
    tenure::affinity_options options;
    options.alignment = sizes >= 192 ? 4 : std::size_t{8} << sizes % 4;
    options.block_bytes = 64 * kibibyte << sizes / 4 % 6;
    options.max_retained_bytes = kinds % 2 == 0 ? tenure::max_object_bytes : 0;
    options.sizes = kinds / 2 % 2 == 0 ? tenure::size_on_free::optional : tenure::size_on_free::required;
    options.layout = kinds / 4 % 2 == 0 ? tenure::page_layout::mixed : tenure::page_layout::by_size;
    options.threads = kinds / 8 % 2 == 0 ? tenure::sharing::one_thread : tenure::sharing::any_thread;
    return options;
}

class group_and_model {
public:
    group_and_model(fuzz::input& from, tenure::failing_source& source, const tenure::counting_source& counted)
        : from_(from), source_(source), counted_(counted), options_(options_from(from)),
          group_("fuzzed", options_, source), may_keep_(options_.max_retained_bytes != 0) {}

    void run(std::size_t max_steps) {
        for (; max_steps != 0 && !from_.empty(); --max_steps) {
            step();
            fuzz::require(group_.size() == held_.size(), "the count of objects is true");
        }
    }

    void finish() {
        check_contents();
        check_usage();
        fuzz::require(group_.valid(), "the group is valid");
        if (held_.size() % 4 == 1) return; // the destructor frees what is still allocated
        while (!held_.empty()) deallocate(any(), from_.byte());
        fuzz::require(group_.size() == 0, "nothing is left");
        fuzz::require(group_.valid(), "the empty group is valid");
        fuzz::require(group_.usage().reserved_bytes == 0, "nothing is in use in an empty group");
        fuzz::require(may_keep_ || group_.usage().block_count == 0, "empty blocks past what is kept go back");
        group_.trim();
        fuzz::require(counted_.live_blocks() == 0, "an empty group holds nothing after trim()");
    }

private:
    using objects = std::map<unsigned char*, fuzz::held>;

    void step() {
        const std::uint8_t operation = from_.byte() % 32;
        switch (operation) {
        case 0: return trim();
        case 1: return from_.byte() < 32 ? clear() : check_contents();
        case 2: return fuzz::require(group_.valid(), "the group is valid");
        case 3: return check_usage();
        case 4: return check_stats();
        case 5: return check_owns();
        case 6: return configure();
        case 7: return set_refusal();
        case 8: return refuse();
        case 9: return run_elsewhere();
        case 10:
        case 11:
        case 12: return allocate_many();
        case 13:
        case 14: return deallocate_neighbours();
        case 15: return exchange();
        default: break;
        }
        if (operation < 25) {
            const std::size_t bytes = size();
            static_cast<void>(allocate(bytes, alignment()));
        } else if (!held_.empty()) {
            deallocate(any(), from_.byte());
        }
    }

    /// Often a power of two or one less: such objects end where pages end.
    [[nodiscard]] std::size_t size() {
        const std::uint8_t kind = from_.byte();
        return kind < 96 ? (std::size_t{8} << kind % 13) - kind / 13 % 2 : from_.size(max_object_bytes);
    }

    /// Usually 1; otherwise up to alignments that only the heap can satisfy.
    [[nodiscard]] std::size_t alignment() {
        const std::uint8_t byte = from_.byte();
        return byte < 160 ? 1 : std::size_t{1} << byte % 18;
    }

    /// Requires  an object is allocated.
    [[nodiscard]] objects::iterator any() {
        const std::size_t choice = from_.byte() | std::size_t{from_.byte()} << 8;
        return std::next(held_.begin(), static_cast<std::ptrdiff_t>(choice % held_.size()));
    }

    [[nodiscard]] static bool is_large(std::size_t bytes, std::size_t alignment) {
        return bytes > tenure::affinity_group::max_in_block_bytes() || alignment > max_block_alignment;
    }

    [[nodiscard]] bool allocate(std::size_t bytes, std::size_t alignment) {
        if (held_.size() == max_objects || bytes_ + bytes > max_bytes) return false;
        has_heap_ = has_heap_ || is_large(bytes, alignment);
        const std::size_t refused = source_.refused();
        const tenure::allocator_stats before = group_.stats();
        auto* const at =
            static_cast<unsigned char*>(alignment == 1 ? group_.allocate(bytes) : group_.allocate(bytes, alignment));
        if (at == nullptr) {
            fuzz::require(source_.refused() != refused, "what the source has memory for is not refused");
            check_refusal(bytes, alignment, before);
            return false;
        }
        const std::size_t taken = std::max<std::size_t>(bytes, 1);
        fuzz::require(tenure::is_aligned(at, std::max(alignment, options_.alignment)), "an object is aligned");
        fuzz::require(group_.owns(at) && group_.owns(at + taken - 1), "a group owns its objects");
        const bool is_within = tenure::align_down(tenure::address_of(at), page_bytes) ==
                               tenure::align_down(tenure::address_of(at + taken - 1), page_bytes);
        fuzz::require(is_within || is_large(bytes, alignment), "an object in a block lies within a page");
        const auto after = held_.lower_bound(at);
        fuzz::require(after == held_.end() || at + taken <= after->first, "an object ends before the next one");
        fuzz::require(after == held_.begin() || end_of(std::prev(after)->second) <= at,
                      "an object begins behind the one before");
        const fuzz::held object{at, bytes, alignment, ++stamp_};
        held_.emplace_hint(after, at, object);
        bytes_ += bytes;
        fuzz::write(object);
        return true;
    }

    /// An object takes at least one byte.
    [[nodiscard]] static unsigned char* end_of(const fuzz::held& object) {
        return object.at + std::max<std::size_t>(object.bytes, 1);
    }

    /// After a failed allocation: nothing has changed, and the object fits nowhere.
    void check_refusal(std::size_t bytes, std::size_t alignment, const tenure::allocator_stats& before) {
        const tenure::allocator_stats after = group_.stats();
        const bool is_exact =
            options_.layout == tenure::page_layout::mixed && options_.threads == tenure::sharing::one_thread;
        fuzz::require(after.live_count == before.live_count, "a refusal changes no count");
        fuzz::require(!is_exact || after.live_bytes == before.live_bytes, "a refusal takes no bytes");
        fuzz::require(after.reserved_bytes <= before.reserved_bytes, "a refusal takes nothing from the source");
        // Skipped for the other thread, whose free runs are not checked, and for objects on the heap.
        if (is_elsewhere_ || is_large(bytes, alignment) || ++refusals_ % 8 != 1) return; // usage() is slow
        const tenure::affinity_usage usage = group_.usage();
        fuzz::require(usage.available_bytes == usage.free_bytes, "nothing is refused while a page is empty");
        if (options_.layout == tenure::page_layout::by_size || alignment > options_.alignment) return;
        const std::size_t with_guard = std::max<std::size_t>(bytes, 1) + tenure::detail::tail_guard_bytes;
        const std::size_t taken =
            std::min(tenure::align_up(with_guard, options_.alignment), tenure::affinity_group::max_in_block_bytes());
        fuzz::require(usage.largest_free_bytes < taken, "nothing is refused while a run is long enough");
    }

    void allocate_many() {
        const std::size_t bytes = size(), wanted = alignment();
        for (std::size_t left = from_.byte(); left != 0; --left)
            if (!allocate(bytes, wanted)) return;
    }

    /// Omits the size only if the group does not require it.
    void deallocate(objects::iterator which, std::uint8_t form) {
        const fuzz::held object = which->second;
        fuzz::require(fuzz::holds(object, object.bytes), "an object keeps its contents");
        held_.erase(which);
        bytes_ -= object.bytes;
        const bool may_leave_size_out = options_.sizes == tenure::size_on_free::optional;
        if (form % 3 == 0 && may_leave_size_out) return group_.deallocate(object.at);
        form % 3 == 1 ? group_.deallocate(object.at, object.bytes)
                      : group_.deallocate(object.at, object.bytes, object.alignment);
    }

    /// Frees neighbours from one object on, upwards or downwards, all or every other one, so that free runs grow and
    /// gaps close.
    void deallocate_neighbours() {
        if (held_.empty()) return;
        auto which = any();
        const std::uint8_t count = from_.byte(), kind = from_.byte();
        const bool is_upwards = kind % 2 == 0, leaves_every_other = kind / 2 % 4 == 0;
        for (unsigned left = count; left != 0 && !held_.empty(); --left) {
            const auto before = which == held_.begin() ? held_.end() : std::prev(which);
            const auto next = is_upwards ? std::next(which) : before;
            if (!leaves_every_other || left % 2 == 0) deallocate(which, kind / 8);
            if (next == held_.end()) return;
            which = next;
        }
    }

    /// Memory freed in a retained block can be allocated again, even if the source fails.
    void exchange() {
        if (held_.empty() || is_elsewhere_ || options_.max_retained_bytes == 0) return;
        const auto which = any();
        const std::size_t bytes = which->second.bytes, alignment = which->second.alignment;
        if (is_large(bytes, alignment)) return;
        source_.allow(0);
        deallocate(which, from_.byte());
        fuzz::require(allocate(bytes, alignment), "an object has room where another of its kind was");
        set_refusal();
    }

    void refuse() {
        const std::uint8_t byte = from_.byte();
        const fuzz::expected_mistakes mistakes;
        fuzz::require(group_.allocate(8, 0) == nullptr, "an alignment of zero is refused");
        fuzz::require(group_.allocate(byte, 3 * (std::size_t{1} << byte % 8)) == nullptr,
                      "an alignment that is no power of two is refused");
        fuzz::require(group_.allocate(SIZE_MAX - byte) == nullptr, "a size past all memory is refused");
        group_.deallocate(nullptr);
        group_.deallocate(nullptr, byte);
        group_.deallocate(nullptr, byte, 8);
    }

    /// The source fails after up to three more requests, or not at all.
    void set_refusal() {
        const std::uint8_t byte = from_.byte();
        source_.allow(byte < 128 ? plenty : byte % 4);
    }

    /// Runs the next steps on another thread, which then ends and leaves its memory to the group.
    void run_elsewhere() {
        if (options_.threads == tenure::sharing::one_thread || is_elsewhere_) return;
        is_elsewhere_ = true;
        std::thread([this, steps = from_.byte() % 64] { run(static_cast<std::size_t>(steps)); }).join();
        is_elsewhere_ = false;
    }

    void configure() {
        tenure::affinity_options wanted = options_;
        wanted.block_bytes = 64 * kibibyte << from_.byte() % 6;
        const bool is_unused = group_.is_unused();
        fuzz::require(is_unused || counted_.live_blocks() != 0, "a group that holds nothing can be configured");
        if (is_unused) {
            fuzz::require(held_.empty() && group_.usage().block_count == 0,
                          "a group with objects or blocks cannot be configured");
            fuzz::require(group_.configure(wanted, source_), "a group that holds nothing is configured");
            fuzz::require(group_.block_bytes() == wanted.block_bytes, "the size of blocks is what was set");
        }
        if (tenure::checks::caller) return; // which reports what follows
        ++wanted.block_bytes;
        fuzz::require(is_unused || !group_.configure(options_, source_), "a group in use is not configured");
        fuzz::require(!group_.configure(wanted, source_), "a size that is no power of two is refused");
    }

    void clear() {
        check_contents();
        group_.clear();
        may_keep_ = true;
        held_.clear();
        bytes_ = 0;
        fuzz::require(group_.usage().reserved_bytes == 0, "nothing is in use in a group that was cleared");
        fuzz::require(group_.valid(), "a group that was cleared is valid");
    }

    void trim() {
        const std::size_t before = counted_.live_bytes();
        const std::size_t given_back = group_.trim();
        const std::size_t gone = before - counted_.live_bytes();
        fuzz::require(has_heap_ || gone <= given_back, "trim() says what it gives back");
        // The heap keeps another thread's cached memory.
        const bool is_all = held_.empty() && !is_elsewhere_;
        fuzz::require(!is_all || counted_.live_blocks() == 0, "an empty group holds nothing after trim()");
        check_contents();
    }

    void check_contents() {
        for (const auto& [at, object] : held_)
            fuzz::require(fuzz::holds(object, object.bytes), "an object keeps its contents while others change");
    }

    void check_owns() {
        const std::uint8_t elsewhere = 0;
        fuzz::require(!group_.owns(nullptr) && !group_.owns(&elsewhere), "a group owns nothing else");
        fuzz::require(!group_.owns(fuzz::noise.data()), "a group owns nothing of another allocator");
        if (held_.empty()) return;
        const auto which = any();
        fuzz::require(group_.owns(which->first) && group_.owns(end_of(which->second) - 1),
                      "a group owns its objects as long as they are held");
    }

    void check_stats() {
        const tenure::allocator_stats seen = group_.stats();
        fuzz::require(seen.live_count == held_.size(), "stats() counts what is held");
        fuzz::require(seen.live_bytes >= bytes_, "stats() has as many bytes as are held");
        fuzz::require(seen.reserved_bytes == counted_.live_bytes(), "the group and its source count the same bytes");
        // A checked build's heap puts some blocks between guard pages and does not count their pages.
        const bool has_guarded = tenure::checks::caller && has_heap_;
        fuzz::require(has_guarded || seen.peak_bytes >= seen.live_bytes, "the peak is not below what is held");
    }

    void check_usage() {
        const tenure::affinity_usage usage = group_.usage();
        fuzz::require(usage.live_count == held_.size(), "usage() counts what is held");
        fuzz::require(usage.reserved_bytes + usage.available_bytes + usage.bookkeeping_bytes == usage.total_bytes,
                      "the parts of the blocks add up");
        fuzz::require(usage.total_bytes == usage.block_count * group_.block_bytes(), "blocks are as large as they say");
        fuzz::require(usage.reserved_bytes + usage.large_bytes >= bytes_, "usage() has as many bytes as are held");
        fuzz::require(usage.scattered_bytes <= usage.free_bytes, "no more is scattered than is free");
        fuzz::require(usage.free_bytes <= usage.available_bytes, "no more is free than is available");
        check_stats();
    }

    fuzz::input& from_;
    tenure::failing_source& source_;
    const tenure::counting_source& counted_;
    tenure::affinity_options options_;
    tenure::affinity_group group_;
    objects held_;
    std::size_t bytes_ = 0; // of the allocated objects
    std::size_t refusals_ = 0;
    std::uint8_t stamp_ = 0;
    bool may_keep_;         // empty blocks; clear() keeps them whatever the options say
    bool has_heap_ = false; // which has its own blocks from the source
    bool is_elsewhere_ = false;
};

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    fuzz::input from(bytes, count);
    tenure::counting_source counted(tenure::page_source::process());
    {
        tenure::failing_source failing(counted, plenty);
        group_and_model pair(from, failing, counted);
        pair.run(SIZE_MAX);
        pair.finish();
    }
    fuzz::require(counted.live_blocks() == 0, "the source has everything back");
    return 0;
}
