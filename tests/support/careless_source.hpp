// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block source that ignores the requested alignment.

#include <cstddef>

#include <tenure/platform/page_source.hpp>

namespace support {

/// Each block begins 16 bytes past the begin of an OS page, so that it is aligned to no more than 16 bytes.
class careless_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        ++requests;
        auto* const pages = static_cast<unsigned char*>(pages_.acquire(bytes + skipped, alignment));
        if (pages == nullptr) return nullptr;
        ++live_blocks;
        return pages + skipped;
    }
    void release(void* block, std::size_t bytes) noexcept override {
        --live_blocks;
        pages_.release(static_cast<unsigned char*>(block) - skipped, bytes + skipped);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    std::size_t requests = 0, live_blocks = 0;

private:
    static constexpr std::size_t skipped = 16;
    tenure::page_source& pages_ = tenure::page_source::process();
};

}
