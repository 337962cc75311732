// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A folder for temporary files.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Removed with this object, and all that is in it. Only the user has access.
class temporary_folder {
public:
    static constexpr std::size_t random_letters = 6; ///< behind the prefix of its name

    temporary_folder() = default; ///< none
    /// Makes a folder in TMPDIR, or in /tmp.
    explicit temporary_folder(std::string_view prefix);
    /// Makes it in another folder.
    temporary_folder(std::string_view prefix, const std::filesystem::path& place);
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    temporary_folder(temporary_folder&& other) noexcept;
    temporary_folder& operator=(temporary_folder&& other) noexcept;

    [[nodiscard]] bool is_there() const { return !path_.empty(); }
    [[nodiscard]] const std::string& path() const { return path_; }
    /// Why there is none; empty if it was made.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    /// Leaves the folder to the caller, who removes it.
    [[nodiscard]] std::string leave();

private:
    std::string path_, refusal_;
};

}
