// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the processes of one watched run leave their recordings.

#include <string>

namespace tenure::lab {

// What else than recordings is put into the folder.
inline constexpr const char* plan_name = "plan";
inline constexpr const char* hook_link_name = "libtenure_watch.so";

/// A folder of its own in memory or under TMPDIR, gone with its owner; or one that is to be kept. The next run
/// removes what a killed one has left, and nothing else.
class recordings_folder {
public:
    /// `kept` names a folder to be kept, which is made if it is not there; empty: none.
    explicit recordings_folder(const std::string& kept);
    ~recordings_folder();
    recordings_folder(const recordings_folder&) = delete;
    recordings_folder& operator=(const recordings_folder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Whether it has become full: what maps its files is ended then.
    [[nodiscard]] bool is_full() const;
    /// Why nothing can be recorded here, as a sentence that says what to do; empty when it can.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }

private:
    void keep(const std::string& path);
    void make_own();
    [[nodiscard]] std::string why_no_room() const;

    std::string path_, refusal_;
    bool is_kept_;
    int lock_ = -1; ///< a file that is locked as long as we live
};

}
