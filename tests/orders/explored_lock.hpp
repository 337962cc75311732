// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// After explored.hpp: platform::mutex with a wait that spins, for protocols that use locks. How it sleeps is explored
/// in mutex_test.cpp.

#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::platform {

void mutex::wait(std::uint64_t mine) noexcept {
    do {
        word_.await(unlocked, detail::memory_order::relaxed);
    } while (!try_lock(mine));
}
void mutex::wake() noexcept {}
void mutex::check_holder() const noexcept { orders::require(is_mine(), "a mutex was unlocked by another thread"); }

}
