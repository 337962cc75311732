// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <tenure/base/observer.hpp>
#include <tenure/platform/windows/modules.hpp>

namespace tenure::inline TENURE_ABI::host {

const tenure_observer_table* process_observer() noexcept {
    const tenure_observer_table* found = nullptr;
    platform::for_each_module([&](HMODULE module) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(::GetProcAddress(module, "tenure_observer"));
        if (address != 0) found = reinterpret_cast<const tenure_observer_table*>(address);
        return found == nullptr;
    });
    return found;
}

}
