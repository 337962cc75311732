// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The folder in which the processes of one watched run leave their recordings.

#include <string>

#include "report/temporary_folder.hpp"

namespace tenure::lab {

// Names of the other files in the folder.
inline constexpr const char* plan_name = "plan";
inline constexpr const char* hook_link_name = "libtenure_watch.so";

/// Either a temporary folder in memory or under TMPDIR, removed with this object, or a folder to keep. Also removes
/// what a killed run left behind, and nothing else.
class recordings_folder {
public:
    /// `kept` names the folder to keep, which is created if necessary; empty for a temporary folder.
    explicit recordings_folder(const std::string& kept);
    ~recordings_folder();
    recordings_folder(const recordings_folder&) = delete;
    recordings_folder& operator=(const recordings_folder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Whether the file system is full; processes that map its files are killed then.
    [[nodiscard]] bool is_full() const;
    /// Why nothing can be recorded here, and what to do about it; empty when recording works.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }

private:
    void keep(const std::string& path);
    void make_own();
    [[nodiscard]] std::string why_no_room() const;

    temporary_folder own_; ///< none if the folder is to be kept
    std::string path_, refusal_;
    int lock_ = -1; ///< a file that stays locked during our lifetime
};

}
