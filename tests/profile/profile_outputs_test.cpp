// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "observe/profile/difference.hpp"
#include "observe/profile/report/pprof.hpp"
#include "observe/profile/report/profile_folded.hpp"
#include "observe/profile/report/profile_html.hpp"
#include "observe/profile/report/profile_json.hpp"
#include "observe/profile/report/profile_text.hpp"
#include "profile/sample_profile.hpp"
#include "support/holds.hpp"

namespace tenure::lab {

namespace {

using support::holds;

profile_frame frame(std::uint64_t address, std::vector<std::string> functions) {
    profile_frame made{address, {}};
    for (std::string& each : functions) {
        named_frame one;
        one.function = std::move(each);
        one.file = "/src/server.cpp";
        one.line = 41;
        made.functions.push_back(one);
    }
    return made;
}

/// A profile whose functions have names.
named_profile named_sample() {
    named_profile profile = sample::named(sample::two_stacks());
    for (profile_stack& each : profile.stacks) {
        each.frames = {frame(0x1010, {"session::open(int)", "accept"}), frame(0x2020, {"main"})};
        if (each.live.samples == 0) each.frames = {frame(0x3030, {"answer<a;b>"}), frame(0x2020, {"main"})};
    }
    return profile;
}

TEST(named_profile, sums_sorts_and_ages) {
    const named_profile profile = sample::named(sample::two_stacks());
    ASSERT_EQ(profile.stacks.size(), 2u);
    EXPECT_EQ(profile.program, "server");
    EXPECT_EQ(profile.command, "/bin/server --port 80");
    EXPECT_EQ(profile.live.bytes, 20'000);
    EXPECT_EQ(profile.at_peak.bytes, 26'000);
    EXPECT_EQ(profile.allocated.bytes, 160'000);
    EXPECT_EQ(profile.stacks[0].tag, "sessions");
    EXPECT_EQ(profile.stacks[0].oldest_ms, 14'000u);
    EXPECT_EQ(profile.stacks[0].median_age_ms, 10'000u);
    EXPECT_EQ(profile.heap_live_bytes, 21'008u);
    ASSERT_EQ(profile.threads.size(), 2u);
    const double chance = -std::expm1(-0.208);
    EXPECT_NEAR(profile.threads[0].live.bytes, 5 * 208 / chance, 1e-6);
    ASSERT_EQ(profile.tags.size(), 1u);
    EXPECT_EQ(profile.tags[0].name, "sessions");
    EXPECT_NEAR(error_of(profile.stacks[0].live), 1960, 1e-9);
}

TEST(named_profile, stacks_that_read_the_same_are_one) {
    sample::profile_bytes bytes;
    profile_format::site one{}, other{};
    one.frame_count = other.frame_count = 1;
    other.first_frame = 1;
    one.live = other.live = sample::estimate(2, 4, 100, 50);
    bytes.entries(profile_format::section::sites, std::vector{one, other});
    bytes.entries(profile_format::section::frames, std::vector<std::uint64_t>{0x5050, 0x5050});
    const named_profile profile = sample::named(bytes);
    ASSERT_EQ(profile.stacks.size(), 1u);
    EXPECT_EQ(profile.stacks[0].live.bytes, 200);
    EXPECT_EQ(profile.stacks[0].live.samples, 4u);
}

TEST(named_profile, what_is_live_is_corrected_by_the_heaps_counts) {
    sample::profile_bytes bytes = sample::two_stacks(); // 101 blocks of 208 bytes, and 10 samples, of one stack
    bytes.entries(profile_format::section::before, std::vector<profile_format::size_class>{{208, 1, 208}});
    const named_profile profile = sample::named(bytes);
    EXPECT_TRUE(profile.is_calibrated);
    EXPECT_NEAR(profile.live.bytes, 100 * 208, 1e-6) << "the nearest to 53, which the samples say";
    EXPECT_NEAR(profile.live.variance, 208 * 208, 1e-6);
    EXPECT_NEAR(profile.stacks[0].live.bytes, 100 * 208, 1e-6);
    EXPECT_NEAR(profile.stacks[0].live.blocks, 100, 1e-6);
    EXPECT_EQ(profile.stacks[0].live.samples, 10u);
    EXPECT_EQ(profile.stacks[0].allocated.bytes, 60'000) << "not counted by the heap";
    EXPECT_NEAR(profile.threads[0].live.bytes, 50 * 208, 1e-6);
    EXPECT_NEAR(profile.tags[0].live.bytes, 100 * 208, 1e-6);
    const std::string text = to_text(profile, {});
    for (const std::string_view words : {"live       20.3 KiB ± 408 B in 100 blocks (10 samples)\n",
                                         "with what was there before the profile; what is live is corrected by its"})
        EXPECT_TRUE(holds(text, words)) << words << "\nnot in\n" << text;
    EXPECT_TRUE(holds(to_html(profile), "corrected by the heap&#39;s own counts") ||
                holds(to_html(profile), "corrected by the heap's own counts"));
    EXPECT_EQ(nlohmann::json::parse(to_json(profile))["live_is_calibrated"], true);
    EXPECT_EQ(nlohmann::json::parse(to_json(named_sample()))["live_is_calibrated"], false);
    EXPECT_TRUE(holds(pprof_message(profile), "live: 20.3 KiB ± 408 B, corrected by the heap's counts"));
    EXPECT_TRUE(holds(pprof_message(named_sample()), "live: 19.5 KiB ± 1.91 KiB"));
    const std::string difference = difference_text(profile, profile, &profile_stack::live, 10, 3);
    EXPECT_TRUE(holds(difference, "bytes live: 20.3 KiB ± 408 B before")) << difference;
}

TEST(named_profile, a_file_of_another_build_gives_no_names) {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
    symbols names;
    const std::string id = names.build_id(own);
    const auto profile_with = [&](const std::string& recorded, const std::string& path) {
        sample::profile_bytes bytes;
        profile_format::site site{};
        site.frame_count = 1;
        site.live = sample::estimate(2, 4, 100, 50);
        bytes.entries(profile_format::section::sites, std::vector{site});
        bytes.entries(profile_format::section::frames, std::vector<std::uint64_t>{0x5021});
        bytes.words(profile_format::section::mappings, "5000-6000 r-xp 00000000 08:01 12 " + path + "\n");
        bytes.words(profile_format::section::builds, "5000 " + recorded + "\n");
        return name_profile(read_profile(bytes.finished()), names);
    };
    const named_profile other = profile_with("abcd", own);
    EXPECT_EQ(other.changed_files, std::vector<std::string>{own});
    EXPECT_EQ(path_of(other.stacks[0])[0], std::filesystem::path(own).filename().string() + "+0x20");
    EXPECT_TRUE(holds(to_text(other, {}), own + " is another build than the one that ran"));
    EXPECT_TRUE(holds(to_html(other), "is another build"));
    const nlohmann::json read = nlohmann::json::parse(to_json(other));
    EXPECT_EQ(read["changed_files"][0], own);
    EXPECT_EQ(read["mappings"][0]["build_id"], "abcd");
    EXPECT_TRUE(holds(pprof_message(other), "abcd"));
    EXPECT_TRUE(profile_with("abcd", "/no such file").changed_files.empty()) << "a missing file names nothing wrongly";
    if (!id.empty()) {
        EXPECT_TRUE(profile_with(id, own).changed_files.empty());
    }
}

TEST(profile_text, says_who_holds_what_and_how_sure_it_is) {
    profile_choice choice;
    const std::string text = to_text(named_sample(), choice);
    for (const std::string_view words :
         {"heap profile of server [4321] over 1 min 0 s", "live       19.5 KiB ± 1.91 KiB in 100 blocks (10 samples)",
          "100.0 %  19.5 KiB ± 1.91 KiB in 100 blocks  [sessions]; half older than 10.0 s",
          "session::open(int) (server.cpp:41)", "by accept (server.cpp:41)", "by main", "allocating thread"})
        EXPECT_TRUE(holds(text, words)) << words << "\nnot in\n" << text;
    EXPECT_FALSE(holds(text, "answer")) << "nothing of it is live";
    choice.value = &profile_stack::allocated;
    EXPECT_TRUE(holds(to_text(named_sample(), choice), "  1  62.5 %  97.7 KiB"));
    choice.value = &profile_stack::at_peak;
    choice.stacks = 1;
    choice.frames = 1;
    const std::string peak = to_text(named_sample(), choice);
    EXPECT_TRUE(holds(peak, "bytes live at the peak, by call stack"));
    EXPECT_TRUE(holds(peak, "… 2 more"));
    EXPECT_TRUE(holds(peak, "… and 1 more stack\n"));
    EXPECT_TRUE(holds(to_text(sample::named({}), {}), "none: nothing of it was sampled"));
}

TEST(profile_text, sizes_and_ages_have_units) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(1024), "1.00 KiB");
    EXPECT_EQ(size_text(-1.5 * 1024 * 1024), "−1.50 MiB");
    EXPECT_EQ(size_text(5e15), "4,547 TiB");
    EXPECT_EQ(age_text(250), "0.25 s");
    EXPECT_EQ(age_text(125'000), "2 min 5 s");
    EXPECT_EQ(age_text(3'660'000), "1 h 1 min");
}

TEST(profile_folded, a_line_is_a_stack_and_its_bytes) {
    EXPECT_EQ(to_folded(named_sample(), &profile_stack::live), "server;main;accept;session::open(int) 20000\n");
    EXPECT_EQ(to_folded(named_sample(), &profile_stack::allocated),
              "server;main;accept;session::open(int) 60000\nserver;main;answer<a:b> 100000\n");
}

/// Reads protobuf's wire format: the fields of a message.
struct wire_message {
    explicit wire_message(std::string_view text) {
        while (!text.empty()) {
            const std::uint64_t head = varint(text);
            if ((head & 7) == 0) {
                numbers[head >> 3].push_back(varint(text));
            } else {
                EXPECT_EQ(head & 7, 2u);
                const std::uint64_t length = varint(text);
                if (length > text.size()) {
                    ADD_FAILURE() << "a field is longer than its message";
                    return;
                }
                parts[head >> 3].emplace_back(text.substr(0, length));
                text.remove_prefix(length);
            }
        }
    }
    static std::uint64_t varint(std::string_view& text) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; !text.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(text.front());
            text.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if ((byte & 0x80U) == 0) return value;
        }
        ADD_FAILURE() << "a number does not end";
        return value;
    }
    static std::vector<std::uint64_t> packed(std::string_view text) {
        std::vector<std::uint64_t> all;
        while (!text.empty()) all.push_back(varint(text));
        return all;
    }
    [[nodiscard]] std::uint64_t number(std::uint64_t field) const {
        const auto found = numbers.find(field);
        return found == numbers.end() ? 0 : found->second.front();
    }
    std::map<std::uint64_t, std::vector<std::uint64_t>> numbers;
    std::map<std::uint64_t, std::vector<std::string>> parts;
};

TEST(pprof, a_message_has_the_samples_with_their_functions) {
    const wire_message whole(pprof_message(named_sample()));
    const std::vector<std::string>& strings = whole.parts.at(6);
    EXPECT_EQ(strings.at(0), "");
    std::vector<std::string> kinds;
    for (const std::string& each : whole.parts.at(1)) {
        const wire_message type(each);
        kinds.push_back(strings.at(type.number(1)) + "/" + strings.at(type.number(2)));
    }
    EXPECT_EQ(kinds, (std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count",
                                               "inuse_space/bytes"}));
    std::map<std::uint64_t, std::string> functions;
    for (const std::string& each : whole.parts.at(5)) {
        const wire_message function(each);
        functions[function.number(1)] = strings.at(function.number(2));
        EXPECT_EQ(strings.at(function.number(4)), "/src/server.cpp");
    }
    std::map<std::uint64_t, std::vector<std::string>> locations;
    for (const std::string& each : whole.parts.at(4)) {
        const wire_message location(each);
        for (const std::string& line : location.parts.at(4)) {
            EXPECT_EQ(wire_message(line).number(2), 41u);
            locations[location.number(1)].push_back(functions.at(wire_message(line).number(1)));
        }
    }
    ASSERT_EQ(whole.parts.at(2).size(), 2u);
    const wire_message held(whole.parts.at(2)[0]);
    std::vector<std::string> stack;
    for (const std::uint64_t each : wire_message::packed(held.parts.at(1).front())) {
        const std::vector<std::string>& of = locations.at(each);
        stack.insert(stack.end(), of.begin(), of.end());
    }
    EXPECT_EQ(stack, (std::vector<std::string>{"session::open(int)", "accept", "main"}));
    EXPECT_EQ(wire_message::packed(held.parts.at(2).front()), (std::vector<std::uint64_t>{300, 60'000, 100, 20'000}));
    const wire_message label(held.parts.at(3).front());
    EXPECT_EQ(strings.at(label.number(1)), "tag");
    EXPECT_EQ(strings.at(label.number(2)), "sessions");
    EXPECT_EQ(whole.number(12), 1000u);
    EXPECT_EQ(whole.number(9), std::uint64_t{5'000} * 1'000'000);
    EXPECT_EQ(whole.number(10), std::uint64_t{60'000} * 1'000'000);
    EXPECT_EQ(strings.at(whole.number(14)), "inuse_space");
}

TEST(pprof, the_file_is_compressed_as_gzip_does) {
    const std::string packed = to_pprof(named_sample()), message = pprof_message(named_sample());
    ASSERT_GT(packed.size(), 18u);
    EXPECT_EQ(packed.substr(0, 2), "\x1F\x8B");
    std::string plain(message.size() + 100, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    plain.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(plain, message);
}

TEST(profile_json, has_every_stack_with_its_estimates) {
    const nlohmann::json read = nlohmann::json::parse(to_json(named_sample()));
    EXPECT_EQ(read["program"], "server");
    EXPECT_EQ(read["mean_bytes"], 1000);
    EXPECT_EQ(read["live"]["bytes"], 20'000);
    ASSERT_EQ(read["stacks"].size(), 2u);
    EXPECT_EQ(read["stacks"][0]["live"]["error_bytes"], 1960);
    EXPECT_EQ(read["stacks"][0]["frames"][0]["function"], "session::open(int)");
    EXPECT_EQ(read["stacks"][0]["tag"], "sessions");
    EXPECT_EQ(read["stacks"][1]["allocated"]["bytes"], 100'000);
}

TEST(profile_html, the_page_needs_no_network_and_no_script_and_shows_text_as_text) {
    named_profile profile = named_sample();
    profile.stacks[0].frames[0].functions[0].function = "</script><img src=x onerror=\"alert('1')\">&amp;";
    profile.command = "<script>";
    const std::string page = to_html(profile);
    for (const std::string_view words :
         {"http:", "https:", "@import", "<script", "<link", "javascript:", "url(//", "<img", "onerror=\""})
        EXPECT_FALSE(holds(page, words)) << words;
    for (const std::string_view words :
         {"default-src 'none'", "Heap profile of server", "19.5 KiB ± 1.91 KiB", "<svg", "sessions", "server.cpp:41"})
        EXPECT_TRUE(holds(page, words)) << words;
    EXPECT_TRUE(holds(to_html(sample::named({})), "Nothing live was sampled."));
}

TEST(profile_html, widths_are_shares) {
    const std::string picture = flame_svg(named_sample(), &profile_stack::allocated, "a");
    EXPECT_TRUE(holds(picture, "<title>answer&lt;a;b&gt;: 97.7 KiB, 62.5 %</title><rect x=\"0.0\" y=\"34.0\" "
                               "width=\"750.0\""))
        << picture;
    EXPECT_TRUE(holds(picture, "<title>accept: 58.6 KiB, 37.5 %</title><rect x=\"750.0\" y=\"34.0\" width=\"450.0\""))
        << picture;
}

TEST(difference, names_what_changed_and_what_may_be_chance) {
    const named_profile before = named_sample();
    named_profile after = named_sample();
    after.stacks[0].live = sample::estimate(40, 400, 80'000, 4e6);
    after.stacks[0].frames[0].address = 0x7777; // rebuilt
    after.stacks[1].live = sample::estimate(1, 5, 500, 1e6);
    const std::vector<stack_change> changes = difference_of(before, after, &profile_stack::live);
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].bytes(), 60'000);
    EXPECT_NEAR(changes[0].error(), 1.96 * std::sqrt(5e6), 1e-6);
    const std::string text = difference_text(before, after, &profile_stack::live, 10, 3);
    for (const std::string_view words :
         {"bytes live: 19.5 KiB ± 1.91 KiB before", "  1  +58.6 KiB ± 4.28 KiB  (19.5 KiB before, 78.1 KiB after)\n",
          "session::open(int)",
          // Without a sample before, it may have had three times the mean of 1,000 bytes: hypot(1,960, 3,000).
          "  2  +500 B ± 3.50 KiB  (0 B before, 500 B after); may be chance", "3 times the file's mean"})
        EXPECT_TRUE(holds(text, words)) << words << "\nnot in\n" << text;
    const std::string back = difference_text(after, before, &profile_stack::live, 1, 3);
    EXPECT_TRUE(holds(back, "−58.6 KiB")) << back;
    EXPECT_TRUE(holds(back, "… and 1 more stack\n"));
}

TEST(difference, a_stack_without_a_sample_is_not_known_to_hold_nothing) {
    const named_profile none = sample::named({});
    named_profile some = named_sample();
    const stack_change appeared = difference_of(none, some, &profile_stack::live).at(0);
    EXPECT_NEAR(appeared.error(), std::hypot(1960.0, 3000.0), 1e-6);
    EXPECT_EQ(difference_of(some, none, &profile_stack::live).at(0).error(), appeared.error());
    named_profile fine = none;
    fine.header.mean_bytes = 100; // of the file that has no sample
    EXPECT_NEAR(difference_of(fine, some, &profile_stack::live).at(0).error(), std::hypot(1960.0, 300.0), 1e-6);
    some.stacks[0].live = sample::estimate(2, 2, 8000, 0);
    EXPECT_EQ(difference_of(none, some, &profile_stack::live).at(0).error(), 0) << "such a block is always recorded";
    EXPECT_EQ(difference_of(some, some, &profile_stack::live).at(0).error(), 0) << "both have samples";
}

}

}
