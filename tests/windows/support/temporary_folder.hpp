// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/temporary_folder.hpp for Windows, which has no mkdtemp().

#include <process.h>

#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace support {

/// Empty at first; goes with everything in it.
class temporary_folder {
public:
    temporary_folder() {
        const std::string begin = testing::TempDir() + "tenure-test-" + std::to_string(::_getpid()) + "-";
        for (int number = 0; path_.empty(); ++number) {
            const std::filesystem::path wanted = begin + std::to_string(number);
            if (std::filesystem::create_directory(wanted)) path_ = wanted;
        }
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}
