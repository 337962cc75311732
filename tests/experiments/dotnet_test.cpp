// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/dotnet/dotnet.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/mallocs/proof.hpp"
#include "experiments/kept_recorder.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tenure::lab;

/// Hands the blocks on to a proof, as a worker does.
class proving_recorder final : public recorder {
public:
    explicit proving_recorder(block_proof& proof) : proof_(proof) {}
    void value(std::string_view, std::string_view, std::string_view, double, better) override {}
    void list(std::string_view, std::string_view, std::string_view, std::span<const std::int64_t>) override {}
    void note(std::string_view) override {}
    void fail(std::string_view) override {}
    void blocks(std::span<void* const> live, std::size_t bytes_each, const block_owner& owner) override {
        shown.assign(live.begin(), live.end());
        proof_.witness(live, bytes_each, owner);
    }

    std::vector<void*> shown;

private:
    block_proof& proof_;
};

kept_recorder record(std::string_view text, tiered_pgo compiler = tiered_pgo::on) {
    kept_recorder kept;
    record_dotnet_answer(text, compiler, kept);
    return kept;
}

/// An answer as the tool writes it, but for its proof.
std::string answer_with(std::string_view proof) {
    return R"({"format":2,"runtime":"10.0.0","tiered_pgo":"on","error":"","values":[)"
           R"({"metric":"alloc","variant":"blocks, warm","unit":"ns/op","value":2.5}],"proof":)" +
           std::string{proof} + "}";
}

constexpr std::string_view good_proof =
    R"({"malloc":"malloc resolves into libc.so.6","query":"mallinfo2","asked":1000,"owned":1000,"blocks":[)"
    R"({"address":"0x55c3901c99a0","mapping":"55c3900bd000-55c390378000 rw-p [heap]"},)"
    R"({"address":"0x55c39021afe0","mapping":"55c3900bd000-55c390378000 rw-p [heap]"}]})";

TEST(dotnet, an_answer_becomes_figures_and_a_note) {
    const kept_recorder kept = record(answer_with(good_proof));
    EXPECT_EQ(kept.failure, "");
    EXPECT_EQ(kept.values.at("alloc, blocks, warm"), 2.5);
    ASSERT_EQ(kept.notes.size(), 1u);
    EXPECT_EQ(kept.notes[0], ".NET 10.0.0; malloc resolves into libc.so.6");
}

TEST(dotnet, the_blocks_of_the_proof_are_those_of_the_other_process) {
    block_proof proof(route::inlined, {}, "NativeMemory.Alloc");
    proving_recorder kept(proof);
    record_dotnet_answer(answer_with(good_proof), tiered_pgo::on, kept);
    ASSERT_EQ(kept.shown.size(), 2u);
    EXPECT_EQ(kept.shown[0], reinterpret_cast<void*>(0x55c3901c99a0));
    EXPECT_EQ(kept.shown[1], reinterpret_cast<void*>(0x55c39021afe0));
    const proof_verdict made = proof.conclude();
    EXPECT_TRUE(made.proven);
    EXPECT_EQ(made.text,
              "NativeMemory.Alloc called directly; 2 of 2 blocks asked are its own by mallinfo2, which recognized 1000 "
              "of 1000 in the .NET process; the first was at 0x55c3901c99a0 in 55c3900bd000-55c390378000 rw-p "
              "[heap]");
}

TEST(dotnet, an_answer_whose_blocks_are_not_the_allocators_fails) {
    EXPECT_EQ(record(answer_with("{}")).failure, "not proven: the .NET process showed no block");
    EXPECT_EQ(record(answer_with(R"("a block of Native.Allocate is the process heap's")")).failure,
              "not proven: the .NET process showed no block");
    EXPECT_EQ(record(answer_with(R"({"query":"tn_owns","asked":1000,"owned":999,"blocks":[)"
                                 R"({"address":"0x7f0010","mapping":"7f0000-7f1000 rw-p"}]})"))
                  .failure,
              "not proven: only 999 of 1000 blocks are recognized by tn_owns");
    for (std::string_view mapping : {"7f1000-7f2000 rw-p", "", "nothing", "7e0000-7f0010 rw-p"}) {
        const std::string proof = R"({"query":"tn_owns","asked":1,"owned":1,"blocks":[)"
                                  R"({"address":"0x7f0010","mapping":")" +
                                  std::string{mapping} + "\"}]}";
        const kept_recorder kept = record(answer_with(proof));
        EXPECT_EQ(kept.failure.find("not proven: a block of the .NET process at 0x7f0010 is not in its mapping"), 0u)
            << kept.failure;
        EXPECT_EQ(kept.shown, 0u);
    }
}

TEST(dotnet, figures_without_tiered_pgo_say_so) {
    std::string text = answer_with(good_proof);
    EXPECT_EQ(record(text, tiered_pgo::off).failure, "TieredPGO is not off in the .NET process");
    text.replace(text.find("\"on\""), 4, "\"off\"");
    EXPECT_EQ(record(text, tiered_pgo::on).failure, "TieredPGO is not on in the .NET process");
    EXPECT_EQ(record(text, tiered_pgo::off).values.at("alloc, blocks, warm, TieredPGO off"), 2.5);
}

TEST(dotnet, what_the_tool_says_went_wrong_is_the_failure) {
    EXPECT_EQ(record(R"({"format":2,"error":"malloc resolves into libc.so.6","values":[]})").failure,
              "malloc resolves into libc.so.6");
}

TEST(dotnet, what_is_no_answer_fails) {
    EXPECT_EQ(record("").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record("Unhandled exception.").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record(R"({"format":2,"values":3})").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record(R"({"format":"two","values":[]})").failure, "the .NET tool gave no answer");
    EXPECT_EQ(record(R"({"format":1,"values":[]})").failure, "the .NET tool has another version than this command");
    EXPECT_EQ(record(R"({"format":2,"tiered_pgo":"on","values":[{"metric":"alloc","value":null}]})").failure,
              "the .NET tool reported a figure without a number");
}

/// A PATH and a HOME that are one folder, until the end.
class lonely_folder {
public:
    lonely_folder() {
        ::setenv("PATH", path().c_str(), 1);
        ::setenv("HOME", path().c_str(), 1);
    }
    lonely_folder(const lonely_folder&) = delete;
    lonely_folder& operator=(const lonely_folder&) = delete;
    ~lonely_folder() {
        put_back("PATH", path_before_);
        put_back("HOME", home_before_);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

private:
    static std::optional<std::string> now(const char* name) {
        const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): one thread
        return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    }
    static void put_back(const char* name, const std::optional<std::string>& value) {
        if (value) {
            ::setenv(name, value->c_str(), 1);
        } else {
            ::unsetenv(name);
        }
    }

    support::temporary_folder folder_;
    std::optional<std::string> path_before_ = now("PATH"), home_before_ = now("HOME");
};

TEST(dotnet, rows_without_the_tool_are_missing_with_what_would_bring_it) {
    const lonely_folder nothing;
    EXPECT_EQ(find_dotnet_tool(), std::vector<std::string>{});
    for (const library_peer& peer : {dotnet_peer(), dotnet_jemalloc_peer()}) {
        EXPECT_FALSE(peer.present) << peer.name;
        EXPECT_NE(peer.missing_because.find("jembench is not there"), std::string_view::npos) << peer.missing_because;
        EXPECT_NE(peer.missing_because.find("dotnet tool install --global Tenure.Bench"), std::string_view::npos)
            << peer.missing_because;
    }
}

TEST(dotnet, an_installed_tool_is_found_and_jemalloc_needs_its_library_too) {
    const lonely_folder folder;
    const std::filesystem::path tool = folder.path() / "jembench";
    std::ofstream(tool) << "#!/bin/sh\n";
    EXPECT_EQ(find_dotnet_tool(), std::vector<std::string>{}); // a file that nobody can run is no tool
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    EXPECT_EQ(find_dotnet_tool(), std::vector<std::string>{tool.string()});
    EXPECT_TRUE(dotnet_peer().present);
    EXPECT_EQ(dotnet_peer().missing_because, "");
    const bool has_library = std::filesystem::exists(find_dotnet_jemalloc());
    const library_peer jemalloc = dotnet_jemalloc_peer();
    EXPECT_EQ(jemalloc.present, has_library);
    EXPECT_EQ(jemalloc.missing_because,
              has_library ? "" : "libjemalloc.so.2 was not found; install the package libjemalloc2");
}

TEST(dotnet, no_part_is_pinned_to_one_cpu) {
    for (const part& each : dotnet_experiment.parts) EXPECT_GT(each.threads, 1u) << each.name;
}

TEST(dotnet, no_two_figures_of_a_row_have_one_name) {
    // Parts of a row go into one list: the tool's parts that are called twice differ by what is added to their
    // variants.
    const std::string text = answer_with(good_proof);
    std::string off = text;
    off.replace(off.find("\"on\""), 4, "\"off\"");
    kept_recorder kept;
    record_dotnet_answer(text, tiered_pgo::on, kept);
    record_dotnet_answer(off, tiered_pgo::off, kept);
    EXPECT_EQ(kept.failure, "");
    EXPECT_EQ(kept.values.size(), 2u);
}

}
