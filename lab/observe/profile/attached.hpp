// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Asks a running process under the drop-in for its heap profile: writes a request into its memory, which the process
/// serves at its next slow call of malloc. The kernel lets those write who may debug the process.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tenure::lab {

class attached_process {
public:
    /// Looks for the drop-in in the process. refusal() says why it cannot be asked.
    explicit attached_process(int process);

    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    /// The folder where the process saves its profiles, as this process sees it.
    [[nodiscard]] const std::string& folder() const { return folder_; }
    /// The process's saved profiles, in the order of saving, without that of the peak.
    [[nodiscard]] std::vector<std::string> files() const;

    enum class request : std::uint16_t { save = 2, end = 4, save_with_pages = 2 + 8 };
    /// Returns   whether the request was written.
    [[nodiscard]] bool ask(request what);
    /// Waits until all requests have been served.
    /// Returns   false when the process has made no slow call in that time, or has ended.
    [[nodiscard]] bool is_served_within(std::chrono::milliseconds time) const;

private:
    [[nodiscard]] bool find_requests();
    void find_folder();

    int process_;
    std::uint64_t requests_ = 0; ///< address in the process
    std::string folder_, refusal_;
};

}
