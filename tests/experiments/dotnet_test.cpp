// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "experiments/dotnet.hpp"

#include <gtest/gtest.h>

#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

kept_recorder record(std::string_view text) {
    kept_recorder kept;
    record_dotnet_answer(text, kept);
    return kept;
}

TEST(dotnet, an_answer_becomes_figures_and_a_note) {
    kept_recorder const kept =
        record(R"({"format":1,"runtime":"10.0.0","proof":"malloc resolves into libc.so.6","error":"","values":[)"
               R"({"metric":"alloc","variant":"blocks, warm","unit":"ns/op","value":2.5}]})");
    EXPECT_EQ(kept.failure, "");
    EXPECT_EQ(kept.values.at("alloc, blocks, warm"), 2.5);
    ASSERT_EQ(kept.notes.size(), 1u);
    EXPECT_EQ(kept.notes[0], ".NET 10.0.0; malloc resolves into libc.so.6");
    EXPECT_EQ(kept.shown, 1u);
}

TEST(dotnet, what_the_tool_says_went_wrong_is_the_failure) {
    EXPECT_EQ(record(R"({"format":1,"error":"malloc resolves into libc.so.6","values":[]})").failure,
              "malloc resolves into libc.so.6");
}

TEST(dotnet, what_is_no_answer_fails) {
    EXPECT_EQ(record("").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record("Unhandled exception.").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record(R"({"format":1,"values":3})").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record(R"({"format":2,"values":[]})").failure, "the .NET tool is of another version than this command");
    EXPECT_EQ(record(R"({"format":1,"values":[{"metric":"alloc","value":null}]})").failure,
              "the .NET tool gave a figure without a number");
}

TEST(dotnet, rows_without_the_tool_are_missing_with_what_would_bring_it) {
    for (library_peer const& peer : {dotnet_peer(), dotnet_jemalloc_peer()}) {
        EXPECT_EQ(peer.present, peer.missing_because.empty()) << peer.name;
    }
    EXPECT_EQ(dotnet_peer().present, !find_dotnet_tool().empty());
}

}
