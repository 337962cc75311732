// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/guarded_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/platform/fault.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// All objects that have a range, for the fault handler.
// Written under the lock. Released with the object and its `next`; the handler acquires it, which can take no lock.
constinit std::atomic<guarded_blocks*> with_range{nullptr};
constinit platform::mutex list_mutex;

constexpr platform::fork_steps steps_of_list =
    platform::steps_of_lock<[](void*) noexcept -> platform::mutex& { return list_mutex; }>;
constinit platform::fork_handler of_list{platform::fork_order::leaf, nullptr, steps_of_list};
TENURE_AT_LOAD(register_handler_of_guards) { of_list.enlist(); }

bool report_any_fault(const platform::fault& what) noexcept {
    for (guarded_blocks* each = with_range.load(std::memory_order_acquire); each != nullptr; each = each->next) {
        if (each->report_fault(what)) return true;
    }
    return false;
}

bool is_filled(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const auto* const bytes = static_cast<const unsigned char*>(pointer_at(begin));
    return std::all_of(bytes, bytes + (end - begin), [](unsigned char each) { return each == guard_fill; });
}

std::size_t places_bytes(std::size_t one) noexcept {
    return align_up(guarded_blocks::place_count * one, platform::page_bytes());
}

}

void guarded_blocks::trace::capture() noexcept { count = host::walk_stack_once(frames, max_frames); }

void guarded_blocks::trace::write(const char* title) const noexcept {
    host::write_report(title);
    host::write_stack(frames, count);
}

std::uintptr_t guarded_blocks::begin_of(std::size_t index) const noexcept {
    return begin_.load(std::memory_order_relaxed) + page_ + index * stride();
}

/// The place that an address is in, or the place in front of the guard page that it is in.
guarded_blocks::place* guarded_blocks::place_of(const void* pointer) const noexcept {
    const std::uintptr_t offset = address_of(pointer) - begin_.load(std::memory_order_relaxed);
    const std::size_t index = offset < page_ ? 0 : (offset - page_) / stride();
    return &places_[std::min(index, place_count - 1)];
}

guarded_blocks::~guarded_blocks() {
    const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == 0) return;
    free_all();
    const platform::lock_guard lock(list_mutex);
    std::atomic<guarded_blocks*>& first = with_range;
    if (first.load() == this) {
        first.store(next);
    } else {
        guarded_blocks* before = first.load();
        while (before->next != this) before = before->next;
        before->next = next;
    }
    platform::unreserve(pointer_at(begin), range_bytes_);
    platform::unreserve(places_, places_bytes(sizeof(place)));
}

/// Requires  the lock.
bool guarded_blocks::reserve() noexcept {
    if (begin_.load(std::memory_order_relaxed) != 0) return true;
    page_ = platform::page_bytes();
    if (is_invalid_ || page_ > place_bytes) return false;
    range_bytes_ = place_count * stride() + page_;
    places_ = static_cast<place*>(platform::map(places_bytes(sizeof(place)), cache_line_bytes)); // pages are zeroed
    void* const range = places_ != nullptr ? platform::reserve(range_bytes_, page_) : nullptr;
    if (range == nullptr) {
        if (places_ != nullptr) platform::unreserve(places_, places_bytes(sizeof(place)));
        is_invalid_ = true;
        return false;
    }
    begin_.store(address_of(range), std::memory_order_release);
    const platform::lock_guard lock(list_mutex);
    next = with_range.load(std::memory_order_relaxed);
    with_range.store(this, std::memory_order_release);
    platform::on_fault(&report_any_fault);
    return true;
}

void* guarded_blocks::allocate(std::size_t bytes, std::size_t alignment, block_form form) noexcept {
    constexpr std::size_t max_alignment = 4096; // also where OS pages are larger
    if (bytes == 0 || bytes > place_bytes || alignment > max_alignment) return nullptr;
    trace here;
    here.capture(); // before the lock: see call_trace
    const platform::lock_guard lock(mutex_);
    if (!reserve()) return nullptr;
    place* oldest = nullptr;
    for (std::size_t index = 0; index < place_count; ++index) {
        place& each = places_[index];
        if (!each.is_live && (oldest == nullptr || each.freed_in_turn < oldest->freed_in_turn)) oldest = &each;
    }
    if (oldest == nullptr) return nullptr;
    const auto index = static_cast<std::size_t>(oldest - places_);
    const std::uintptr_t end = begin_of(index) + place_bytes;
    const std::uintptr_t block = align_down(end - bytes, alignment);
    const std::uintptr_t first_page = align_down(block, page_);
    if (!platform::commit(pointer_at(first_page), end - first_page)) return nullptr;
    std::memset(pointer_at(first_page), guard_fill, block - first_page);
    std::memset(pointer_at(block + bytes), guard_fill, end - block - bytes);
    platform::add_leak_root(pointer_at(first_page), end - first_page);
    oldest->block = block;
    oldest->bytes = bytes;
    oldest->is_live = true;
    oldest->form = form;
    oldest->allocated = here;
    ++live_count_;
    live_bytes_ += bytes;
    return pointer_at(block);
}

/// Requires  the lock.
void guarded_blocks::release(place& freed, const trace& by) noexcept {
    const std::uintptr_t first_page = align_down(freed.block, page_);
    const std::uintptr_t end = begin_of(static_cast<std::size_t>(&freed - places_)) + place_bytes;
    platform::remove_leak_root(pointer_at(first_page), end - first_page);
    // This fails at the system's limit on mappings: a use after free of the block is then missed, a double free is not.
    static_cast<void>(platform::seal(pointer_at(first_page), end - first_page));
    freed.is_live = false;
    freed.freed_in_turn = ++turns_;
    freed.freed = by;
    --live_count_;
    live_bytes_ -= freed.bytes;
}

void guarded_blocks::deallocate(void* block, block_form form) noexcept {
    const char* what = nullptr;
    bool is_other_form = false;
    trace here;
    here.capture();
    place copy;
    {
        const platform::lock_guard lock(mutex_);
        place& found = *place_of(block);
        copy = found;
        if (!found.is_live) {
            what = "a heap block that is already free was freed";
        } else if (address_of(block) != found.block) {
            what = "a pointer that is not the start of a block was freed";
        } else {
            const std::uintptr_t end = begin_of(static_cast<std::size_t>(&found - places_)) + place_bytes;
            is_other_form = !matches(found.form, form);
            if (!is_filled(align_down(found.block, page_), found.block))
                what = "memory in front of a heap block was overwritten";
            if (!is_filled(found.block + found.bytes, end))
                what = "memory past the end of a heap block was overwritten";
            release(found, here);
        }
    }
    if (what == nullptr && !is_other_form) return;
    copy.allocated.write("tenure: a guarded block, allocated at\n");
    if (!copy.is_live) copy.freed.write("tenure: freed at\n");
    report_text text;
    if (what != nullptr) {
        text.text(what);
    } else {
        text.text("a block that was allocated by ").text(name_of_allocation(copy.form));
        text.text(" was freed by ").text(name_of_free(form));
    }
    text.text(": ").address(block).text(", in the guarded block at ").address(pointer_at(copy.block));
    text.text(" of ").number(copy.bytes).text(" bytes. Its stacks are printed above.");
    report(report_kind::misuse, text.view());
}

bool guarded_blocks::report_fault(const platform::fault& what) const noexcept {
    if (!contains(what.address)) return false;
    platform::report_fault(
        [](const platform::fault& found, const void* self) noexcept {
            static_cast<const guarded_blocks*>(self)->write_fault(found);
        },
        what, this);
    return true;
}

void guarded_blocks::write_fault(const platform::fault& what) const noexcept {
    // No lock: the thread that faulted may hold it.
    const place& found = *place_of(what.address);
    report_text text;
    if (found.block == 0) {
        text.text("an address between guarded heap blocks was accessed: ").address(what.address);
    } else {
        const std::uintptr_t at = address_of(what.address);
        text.text(found.is_live ? "an access outside a heap block: " : "an access to a freed heap block: ");
        text.address(what.address).text(", ");
        at >= found.block + found.bytes ? text.number(at - found.block - found.bytes).text(" bytes past the end of ")
        : at < found.block              ? text.number(found.block - at).text(" bytes before ")
                                        : text.text("byte ").number(at - found.block).text(" of ");
        text.text("the block at ").address(pointer_at(found.block)).text(" of ").number(found.bytes).text(" bytes");
    }
    host::write_report("tenure: ");
    host::write_report(text.text("\n").view());
    trace here;
    here.count = what.walk_stack(here.frames, max_frames);
    here.write("tenure: accessed at\n");
    if (found.block == 0) return;
    found.allocated.write("tenure: allocated at\n");
    if (!found.is_live) found.freed.write("tenure: freed at\n");
}

std::size_t guarded_blocks::bytes_of(const void* block) const noexcept {
    const platform::lock_guard lock(mutex_);
    const place& found = *place_of(block);
    return found.is_live && found.block == address_of(block) ? found.bytes : 0;
}

void guarded_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes),
                              void* context) const noexcept {
    for (std::size_t index = 0; places_ != nullptr && index < place_count; ++index) {
        if (places_[index].is_live) visit(context, pointer_at(places_[index].block), places_[index].bytes);
    }
}

void guarded_blocks::free_all() noexcept {
    trace here;
    here.capture();
    const platform::lock_guard lock(mutex_);
    for (std::size_t index = 0; places_ != nullptr && index < place_count; ++index) {
        if (places_[index].is_live) release(places_[index], here);
    }
}

std::size_t guarded_blocks::live_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_count_;
}

std::size_t guarded_blocks::live_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_bytes_;
}

}
