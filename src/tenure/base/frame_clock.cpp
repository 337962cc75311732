// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/frame_clock.hpp>

#include <atomic>

namespace tenure::inline TENURE_ABI {

namespace {
// Released by the end of a frame, acquired by now(): a frame sees what was written before it began.
std::atomic<std::uint64_t> frames{0};
}

std::uint64_t frame_clock::now() noexcept { return frames.load(std::memory_order_acquire); }

std::uint64_t frame_clock::advance() noexcept { return frames.fetch_add(1, std::memory_order_acq_rel) + 1; }

}
