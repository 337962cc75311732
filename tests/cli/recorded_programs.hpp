// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Records programs of the tests in a folder of their own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "observe/trace/trace_reader.hpp"
#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_order.hpp"

class recorded_programs : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
        if (!std::filesystem::exists(library("libtenure_record.so")))
            GTEST_SKIP() << "this tree has no library that records allocations";
    }

    [[nodiscard]] command_outcome record(const std::string& options, const std::string& program) const {
        return run_command("record " + options + " -- " + program, folder_.string());
    }
    [[nodiscard]] tenure::lab::trace load(const std::string& file) const {
        tenure::lab::trace found = tenure::lab::load_trace((folder_ / file).string());
        EXPECT_EQ(found.error, "");
        EXPECT_EQ(found.damage, "") << file;
        EXPECT_EQ(broken_promise(found), "") << file;
        return found;
    }
    [[nodiscard]] static std::string program(const std::string& name = "recorded_program") {
        return "'" + (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string() + "'";
    }
    /// One that is beside the command.
    [[nodiscard]] static std::string library(const std::string& name) {
        return (std::filesystem::path(command_path()).parent_path() / name).string();
    }
    /// The files of the folder with this beginning.
    [[nodiscard]] std::vector<std::string> files(const std::string& begin) const {
        std::vector<std::string> found;
        for (const auto& each : std::filesystem::directory_iterator(folder_)) {
            const std::string name = each.path().filename().string();
            if (name.starts_with(begin)) found.push_back(name);
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] static std::size_t count_of(const tenure::lab::trace& of, tenure::lab::trace_call call,
                                              std::uint64_t bytes) {
        return static_cast<std::size_t>(
            std::count_if(of.events.begin(), of.events.end(), [&](const tenure::lab::trace_event& each) {
                return each.call == call && each.bytes == bytes;
            }));
    }

    support::temporary_folder own_;
    const std::filesystem::path folder_ = own_.path();
};
