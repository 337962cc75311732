// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A test's own record of its live blocks: slow and simple, and based only on the pointers that it was given.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace support {

struct block {
    unsigned char* at = nullptr;
    std::size_t bytes = 0;
    std::size_t alignment = 1;
    unsigned char fill = 0;
};

inline std::string text_of(const block& which) {
    return "block at " + std::to_string(reinterpret_cast<std::uintptr_t>(which.at)) + " of " +
           std::to_string(which.bytes) + " bytes aligned to " + std::to_string(which.alignment);
}

/// The live blocks. Functions that return text return a description of the error; empty when there is none.
class ledger {
public:
    /// Adds a newly allocated block and fills it. Zero bytes count as one, as in the allocators.
    std::string add(void* pointer, std::size_t bytes, std::size_t alignment) {
        const block fresh{static_cast<unsigned char*>(pointer), bytes == 0 ? 1 : bytes, alignment, ++last_fill_};
        const auto address = reinterpret_cast<std::uintptr_t>(pointer);
        if (address % alignment != 0) return text_of(fresh) + " is not aligned";
        const auto after = blocks_.lower_bound(address);
        if (after != blocks_.end() && after->first - address < fresh.bytes)
            return text_of(fresh) + " overlaps the " + text_of(after->second);
        if (after != blocks_.begin()) {
            const auto before = std::prev(after);
            if (address - before->first < before->second.bytes)
                return text_of(fresh) + " lies in the " + text_of(before->second);
        }
        blocks_.emplace(address, fresh);
        for (std::size_t index = 0; index < fresh.bytes; ++index) fresh.at[index] = pattern(fresh, index);
        return {};
    }

    /// Checks that a block still has the contents that were written.
    [[nodiscard]] static std::string check(const block& which) {
        for (std::size_t index = 0; index < which.bytes; ++index) {
            if (which.at[index] != pattern(which, index))
                return text_of(which) + " changed at byte " + std::to_string(index);
        }
        return {};
    }

    [[nodiscard]] std::string check_all() const {
        for (const auto& [address, which] : blocks_) {
            if (std::string fault = check(which); !fault.empty()) return fault;
        }
        return {};
    }

    /// Checks a block's contents and removes it.
    std::string remove(void* pointer) {
        const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(pointer));
        if (found == blocks_.end()) return "a block that is not alive was to be removed";
        std::string fault = check(found->second);
        blocks_.erase(found);
        return fault;
    }

    /// The block at index `position` in address order. Requires  `position` is less than size().
    [[nodiscard]] const block& at(std::size_t position) const {
        return std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(position))->second;
    }
    [[nodiscard]] bool contains(const void* pointer) const {
        return blocks_.count(reinterpret_cast<std::uintptr_t>(pointer)) != 0;
    }
    [[nodiscard]] std::size_t size() const { return blocks_.size(); }
    [[nodiscard]] bool empty() const { return blocks_.empty(); }
    void forget_all() { blocks_.clear(); }

private:
    [[nodiscard]] static unsigned char pattern(const block& of, std::size_t index) {
        return static_cast<unsigned char>(of.fill * 31u + index * 7u + index / 251u);
    }

    std::map<std::uintptr_t, block> blocks_;
    unsigned char last_fill_ = 0;
};

}
