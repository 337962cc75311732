// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/guarded/sampled_blocks.hpp>

#include <algorithm>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>

// What sampled guarded blocks report: at a fault, and at a free.

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t whole = SIZE_MAX;

/// The first byte in a range that is not the pattern; `whole` if there is none.
[[nodiscard]] std::size_t first_overwritten(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const auto* const bytes = static_cast<const unsigned char*>(pointer_at(begin));
    for (std::size_t at = 0; at < end - begin; ++at) {
        if (bytes[at] != guard_fill) return at;
    }
    return whole;
}

report_text& say_bytes(report_text& text, std::size_t count) noexcept {
    return text.number(count).text(count == 1 ? " byte" : " bytes");
}

/// Appends where an address is: "8 bytes past the end of", and so on.
void say_where(report_text& text, std::uintptr_t at, std::uintptr_t block, std::size_t bytes) noexcept {
    if (at < block) {
        say_bytes(text, block - at).text(" before ");
    } else if (at >= block + bytes) {
        say_bytes(text, at - block - bytes).text(" past the end of ");
    } else {
        text.text("byte ").number(at - block).text(" of ");
    }
    say_bytes(text.text("the block at ").address(pointer_at(block)).text(" of "), bytes);
}

}

/// The record whose block is nearest to an address; nullptr if there is none within 64 KiB. Called without the lock:
/// the thread that faulted may hold it.
const sampled_blocks::record* sampled_blocks::record_near(std::uintptr_t address) const noexcept {
    constexpr std::size_t bytes_looked_at = std::size_t{64} * 1024;
    const std::size_t pages_looked_at = std::max<std::size_t>(bytes_looked_at / page(), 1);
    const std::size_t middle = (address - begin_) / page();
    for (std::size_t distance = 0; distance <= pages_looked_at; ++distance) {
        const record* const before = record_at(address_of_page(middle - distance));
        const record* const behind = record_at(address_of_page(middle + distance));
        if (before == nullptr || behind == nullptr) {
            if (before != nullptr || behind != nullptr) return before != nullptr ? before : behind;
            continue;
        }
        return address - before->end() <= behind->block - address ? before : behind;
    }
    return nullptr;
}

bool sampled_blocks::report_fault(const platform::fault& what) const noexcept {
    if (address_of(what.address) - begin_ >= max_segment_bytes) return false;
    platform::report_fault(
        [](const platform::fault& found, const void* self) noexcept {
            static_cast<const sampled_blocks*>(self)->write_fault(found);
        },
        what, this);
    return true;
}

void sampled_blocks::write_fault(const platform::fault& what) const noexcept {
    const std::uintptr_t at = address_of(what.address);
    const record* const found = record_near(at);
    report_text text;
    text.text("tenure: ");
    if (found == nullptr) {
        text.text("invalid access");
    } else {
        text.text(found->is == state::freed ? "use after free" : at < found->block ? "underflow" : "overflow");
    }
    text.text(what.access == platform::fault_access::write  ? ": a write at "
              : what.access == platform::fault_access::read ? ": a read at "
                                                            : ": an access at ");
    text.address(what.address).text(", ");
    found == nullptr ? text.text("between guarded blocks") : (say_where(text, at, found->block, found->bytes), text);
    host::write_report(text.text("\n").view());
    call_trace here;
    here.capture(what);
    here.write("accessed");
    if (found == nullptr) return;
    found->allocated.write("allocated");
    if (found->is == state::freed) found->freed.write("freed");
}

void sampled_blocks::deallocate(void* block) noexcept {
    call_trace here;
    here.capture();
    const char* what = nullptr;
    std::uintptr_t wrong = address_of(block);
    bool is_known = false, is_freed = false;
    record copy;
    {
        const platform::lock_guard lock(mutex_);
        record* const found = record_at(wrong);
        is_known = found != nullptr;
        if (!is_known) {
            what = "invalid free: a pointer between guarded blocks was freed";
        } else if (found->is != state::live) {
            what = "double free: a block that is already free was freed";
            is_freed = true;
        } else if (found->block != wrong) {
            what = "invalid free: a pointer that is not the start of a block was freed";
        } else {
            const std::uintptr_t begin = address_of_page(found->first_page);
            const std::uintptr_t end = begin + found->pages * page();
            const std::size_t behind = first_overwritten(found->end(), end);
            const std::size_t in_front = first_overwritten(begin, found->block);
            if (behind != whole) {
                what = "overflow: memory past the end of a block was overwritten before its free";
                wrong = found->end() + behind;
            } else if (in_front != whole) {
                what = "underflow: memory before a block was overwritten before its free";
                wrong = begin + in_front;
            }
            found->freed = here;
            release(*found);
        }
        if (what != nullptr && is_known) copy = *found;
    }
    if (what == nullptr) return;
    write_free(what, wrong, here, is_known ? &copy : nullptr, is_freed ? &copy.freed : nullptr);
}

/// A function of its own, so that a correct free needs little stack.
void sampled_blocks::write_free(const char* what, std::uintptr_t wrong, const call_trace& now, const record* found,
                                const call_trace* freed_before) noexcept {
    report_text text;
    text.text(what).text(": ").address(pointer_at(wrong));
    now.write("freed now");
    if (found != nullptr) {
        found->allocated.write("allocated");
        if (freed_before != nullptr) freed_before->write("freed before");
        say_where(text.text(", "), wrong, found->block, found->bytes);
    }
    report(report_kind::misuse, text.text(". The stacks are printed above.").view());
}

}
