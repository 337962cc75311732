// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/pprof/pprof_file.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "observe/profile/difference.hpp"
#include "observe/profile/report/pprof.hpp"
#include "profile/sample_profile.hpp"
#include "support/holds.hpp"
#include "support/own_path.hpp"
#include "support/random.hpp"

namespace tenure::lab {

namespace {

using support::holds;

named_profile numbered_sample() {
    named_profile profile = sample::named(sample::two_stacks());
    profile.mappings[0].path = "/bin/server";
    for (profile_stack& each : profile.stacks) {
        for (profile_frame& frame : each.frames) {
            frame.functions[0].function = "f" + std::to_string(frame.address);
            frame.functions[0].file = "/src/server.cpp";
            frame.functions[0].line = 7;
        }
    }
    named_frame caller;
    caller.function = "inlined into";
    profile.stacks[0].frames[0].functions.push_back(caller);
    return profile;
}

/// Encodes messages, also wrong ones.
struct message {
    message& number(unsigned field, std::uint64_t value) {
        varint(std::uint64_t{field} << 3U);
        varint(value);
        return *this;
    }
    message& bytes(unsigned field, std::string_view value) {
        varint(std::uint64_t{field} << 3U | 2U);
        varint(value.size());
        text += value;
        return *this;
    }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) text += static_cast<char>(value | 0x80U);
        text += static_cast<char>(value);
    }
    std::string text;
};

/// A profile of another program: live bytes only, numbers that are not packed, a function without a location's line.
message foreign(std::initializer_list<std::string_view> texts = {"", "inuse_space", "bytes", "work", "space"}) {
    message whole;
    whole.bytes(1, message{}.number(1, 1).number(2, 2).text);
    whole.bytes(2, message{}.number(1, 9).number(1, 8).number(2, 5000).text);
    whole.bytes(4, message{}.number(1, 9).number(3, 0x1234).bytes(4, message{}.number(1, 3).number(2, 40).text).text);
    whole.bytes(4, message{}.number(1, 8).number(3, 0x5678).text);
    whole.bytes(5, message{}.number(1, 3).number(2, 3).text);
    for (const std::string_view each : texts) whole.bytes(6, each);
    return whole;
}

TEST(pprof_file, what_was_written_is_read_back) {
    const named_profile written = numbered_sample();
    const pprof_profile read = read_pprof(to_pprof(written));
    ASSERT_TRUE(read.ok()) << read.error;
    EXPECT_EQ(read.profile.program, "server");
    EXPECT_EQ(read.profile.header.mean_bytes, written.header.mean_bytes);
    EXPECT_EQ(read.profile.header.started_ms, written.header.started_ms);
    EXPECT_EQ(read.profile.header.saved_ms, written.header.saved_ms);
    EXPECT_EQ(read.profile.live.bytes, written.live.bytes);
    ASSERT_EQ(read.profile.stacks.size(), written.stacks.size());
    for (std::size_t index = 0; index < written.stacks.size(); ++index) {
        const profile_stack &stack = read.profile.stacks[index], &from = written.stacks[index];
        EXPECT_EQ(path_of(stack), path_of(from));
        EXPECT_EQ(stack.tag, from.tag);
        EXPECT_EQ(stack.live.bytes, from.live.bytes);
        EXPECT_EQ(stack.live.blocks, from.live.blocks);
        EXPECT_EQ(stack.allocated.bytes, from.allocated.bytes);
        EXPECT_EQ(stack.frames[0].functions[0].line, 7);
        EXPECT_EQ(stack.frames[0].functions[0].file, "/src/server.cpp");
    }
    // 100 blocks of 200 bytes, of which one byte in 1000 is sampled.
    const double chance = -std::expm1(-0.2);
    EXPECT_EQ(read.profile.stacks[0].live.samples, 18u);
    EXPECT_NEAR(read.profile.stacks[0].live.variance, 100 * 200.0 * 200 * (1 - chance) / chance, 1e-6);
    for (const stack_change& each : difference_of(written, read.profile, &profile_stack::live))
        EXPECT_EQ(each.bytes(), 0);
}

TEST(pprof_file, files_of_others_are_read) {
    const pprof_profile read = read_pprof_message(foreign().text);
    ASSERT_TRUE(read.ok()) << read.error;
    ASSERT_EQ(read.profile.stacks.size(), 1u);
    EXPECT_EQ(path_of(read.profile.stacks[0]), (std::vector<std::string>{"0x5678", "work"}));
    EXPECT_EQ(read.profile.live.bytes, 5000);
    EXPECT_EQ(read.profile.header.mean_bytes, 0u) << "no period";
    EXPECT_EQ(read.profile.stacks[0].live.variance, 0);
    EXPECT_TRUE(holds(difference_text(read.profile, numbered_sample(), &profile_stack::live, 10, 3), "not known"));
    message sampled = foreign();
    sampled.bytes(11, message{}.number(1, 4).number(2, 2).text).number(12, 4096);
    EXPECT_EQ(read_pprof_message(sampled.text).profile.header.mean_bytes, 4096u);
}

TEST(pprof_file, what_is_none_or_of_another_kind_is_refused_with_the_reason) {
    const std::string packed = to_pprof(numbered_sample());
    EXPECT_TRUE(is_gzipped(packed));
    EXPECT_FALSE(is_gzipped("TNHEAPPR"));
    EXPECT_TRUE(holds(read_pprof("\x1F\x8B nonsense").error, "damaged"));
    EXPECT_TRUE(holds(read_pprof(packed.substr(0, packed.size() / 2)).error, "ends early"));
    EXPECT_TRUE(holds(read_pprof(packed + packed).error, "follows its end"));
    EXPECT_TRUE(holds(read_pprof(gzipped("a text, compressed")).error, "pprof's format"));
    EXPECT_TRUE(holds(read_pprof(gzipped("")).error, "no kind of values"));
    EXPECT_TRUE(holds(read_pprof_message(foreign({"", "cpu", "nanoseconds", "work"}).text).error, "it counts cpu"));
    EXPECT_TRUE(holds(read_pprof_message(foreign({"x", "inuse_space", "bytes", "work"}).text).error, "no kind"));
    EXPECT_TRUE(holds(read_pprof_message(foreign({"", "inuse_space", "bytes"}).text).error, "a function has no name"));
    const auto error_with = [](unsigned field, const message& part) {
        return read_pprof_message(foreign().bytes(field, part.text).text).error;
    };
    EXPECT_TRUE(holds(error_with(2, message{}.number(1, 77).number(2, 1)), "no location"));
    EXPECT_TRUE(holds(error_with(2, message{}.number(1, 9)), "a sample is not valid"));
    EXPECT_TRUE(holds(error_with(2, message{}.number(1, 9).number(2, UINT64_MAX)), "below zero"));
    EXPECT_TRUE(holds(error_with(2, message{}.bytes(1, "\xFF").number(2, 1)), "a sample is not valid"));
    EXPECT_TRUE(holds(error_with(2, message{}.number(2, 1).bytes(3, message{}.number(1, 99).text)), "not valid"));
    EXPECT_TRUE(holds(error_with(4, message{}.number(1, 9)), "a location is not valid")) << "twice the same number";
    EXPECT_TRUE(holds(error_with(5, message{}.number(2, 1)), "a function is not valid"));
    EXPECT_TRUE(holds(error_with(1, message{}.number(1, 99)), "has no name"));
    EXPECT_TRUE(holds(error_with(3, message{}.number(5, 99)), "a mapping has no name"));
    message lost = foreign();
    lost.bytes(4, message{}.number(1, 5).bytes(4, message{}.number(1, 99).text).text);
    lost.bytes(2, message{}.number(1, 5).number(2, 1).text);
    EXPECT_TRUE(holds(read_pprof_message(lost.text).error, "no function"));
    message deep;
    for (int each = 0; each < 5000; ++each) deep.number(1, 9);
    EXPECT_TRUE(holds(error_with(2, deep.number(2, 1)), "a sample is not valid"));
}

// A small file must not become a large profile.
TEST(pprof_file, repeated_frames_take_a_bounded_amount_of_memory) {
    message whole = foreign();
    whole.bytes(5, message{}.number(1, 4).number(2, 5).text).bytes(6, std::string(20'000, 'x'));
    message location;
    location.number(1, 7);
    for (int line = 0; line < 1000; ++line) location.bytes(4, message{}.number(1, 4).text);
    whole.bytes(4, location.text);
    message stack;
    for (int frame = 0; frame < 4000; ++frame) stack.number(1, 7);
    whole.bytes(2, stack.number(2, 1).text); // 80 GB
    EXPECT_TRUE(holds(read_pprof_message(whole.text).error, "too large"));
    // Nor what is compressed a thousand times.
    const std::string zeros(std::size_t{5} << 20, '\0');
    EXPECT_TRUE(holds(read_pprof(gzipped(zeros), std::size_t{4} << 20).error, "more than 4 MiB"));
}

TEST(pprof_file, random_damage_is_survived) {
    const std::string packed = to_pprof(numbered_sample()), plain = pprof_message(numbered_sample());
    support::random numbers(11);
    for (std::size_t length = 0; length < packed.size(); ++length)
        ASSERT_FALSE(read_pprof(packed.substr(0, length)).ok());
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = round % 2 == 0 ? packed : plain.substr(0, numbers.below(plain.size() + 1));
        for (std::size_t each = 0; each < 1 + numbers.below(4) && !bytes.empty(); ++each)
            bytes[numbers.below(bytes.size())] = static_cast<char>(numbers.below(256));
        static_cast<void>(round % 2 == 0 ? read_pprof(bytes) : read_pprof_message(bytes));
    }
}

TEST(pprof_file, either_side_of_a_comparison_may_be_one) {
    const std::string ours = support::own_path("pprof_file_test.heapprofile"),
                      theirs = support::own_path("pprof_file_test.pb.gz");
    std::ofstream(ours, std::ios::binary) << sample::two_stacks().finished();
    symbols names;
    const compared_profile saved = load_compared(ours, names);
    ASSERT_TRUE(saved.ok()) << saved.error;
    EXPECT_FALSE(saved.is_pprof);
    std::ofstream(theirs, std::ios::binary) << to_pprof(saved.profile);
    const compared_profile packed = load_compared(theirs, names);
    ASSERT_TRUE(packed.ok()) << packed.error;
    EXPECT_TRUE(packed.is_pprof);
    for (const stack_change& each : difference_of(saved.profile, packed.profile, &profile_stack::allocated)) {
        EXPECT_EQ(each.bytes(), 0);
        EXPECT_GT(each.before.bytes, 0);
    }
    std::ofstream(ours, std::ios::binary | std::ios::trunc) << "neither";
    EXPECT_TRUE(holds(load_compared(ours, names).error, "pprof_file_test.heapprofile: This is not a heap profile"));
    EXPECT_TRUE(holds(load_compared("/no/such file", names).error, "/no/such file"));
}

}

}
