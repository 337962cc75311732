// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A recorder in pages of its own, and the message that is made from it at the end.

#include "bench/harness/worker/worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <nlohmann/json.hpp>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/mallocs/proof.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"
#include "bench/harness/worker/process.hpp"

namespace tenure::lab {

namespace {

using text = std::pmr::string;

struct kept_value {
    text metric, variant, unit;
    better sense;
    double value;
};
struct kept_list {
    text name, variant, unit;
    std::pmr::vector<std::int64_t> values;
    bool is_course;
};

/// Stores everything in pages that were touched beforehand, so that recording one phase leaves no hole in the heap that
/// the next phase measures.
class page_recorder final : public recorder {
public:
    explicit page_recorder(block_proof& proof) : proof_(proof) { values_.reserve(256); }

    void value(std::string_view metric, std::string_view variant, std::string_view unit, double number,
               better sense) override {
        values_.push_back({keep(metric), keep(variant), keep(unit), sense, number});
    }
    void list(std::string_view name, std::string_view variant, std::string_view unit,
              std::span<const std::int64_t> values) override {
        keep_list(name, variant, unit, values, false);
    }
    void course(std::string_view name, std::string_view variant, std::string_view unit,
                std::span<const std::int64_t> values) override {
        keep_list(name, variant, unit, values, true);
    }
    void note(std::string_view words) override { notes_.push_back(keep(words)); }
    void fail(std::string_view reason) override {
        if (failure_.empty()) failure_ = reason;
    }
    using recorder::blocks;
    void blocks(std::span<void* const> live, std::size_t bytes_each, const block_owner& owner) override {
        proof_.witness(live, bytes_each, owner);
    }

    [[nodiscard]] nlohmann::json message() const;

private:
    text keep(std::string_view words) { return text{words, &resource_}; }
    void keep_list(std::string_view name, std::string_view variant, std::string_view unit,
                   std::span<const std::int64_t> values, bool is_course) {
        lists_.push_back(
            {keep(name), keep(variant), keep(unit), {values.begin(), values.end(), &resource_}, is_course});
    }

    block_proof& proof_;
    page_array<std::byte> pages_{std::size_t{4} << 20};
    // When the pages are full, the resource allocates more with new. Only lists recorded after all measurements are
    // that long.
    std::pmr::monotonic_buffer_resource resource_{pages_.data(), pages_.size(), std::pmr::new_delete_resource()};
    std::pmr::vector<kept_value> values_{&resource_};
    std::pmr::vector<kept_list> lists_{&resource_};
    std::pmr::vector<text> notes_{&resource_};
    text failure_{&resource_};
};

nlohmann::json page_recorder::message() const {
    using nlohmann::json;
    json made{
        {"values", json::array()}, {"lists", json::array()}, {"courses", json::array()}, {"notes", json::array()}};
    for (const kept_value& each : values_) {
        made["values"].push_back({std::string{each.metric}, std::string{each.variant}, std::string{each.unit},
                                  static_cast<int>(each.sense), each.value});
    }
    for (const kept_list& each : lists_) {
        json numbers(each.values);
        made[each.is_course ? "courses" : "lists"].push_back(
            {std::string{each.name}, std::string{each.variant}, std::string{each.unit}, std::move(numbers)});
    }
    for (const text& each : notes_) made["notes"].push_back(std::string{each});
    const proof_verdict found = proof_.conclude();
    made["proof"] = found.text;
    made["failure"] = !failure_.empty() ? std::string{failure_} : found.proven ? "" : "not proven: " + found.text;
    return made;
}

bool write_whole(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

template<class Number>
bool parse(std::string_view word, Number& number) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && end == word.data() + word.size();
}

int refuse(const char* why) {
    std::fprintf(stderr, "a worker was asked for something that it does not have: %s\n", why);
    return 2;
}

/// Names the descriptor of an experiment's input in the list of options.
constexpr std::string_view input_word = "input";

/// Reads name=value.
bool read_option(std::string_view word, parameters& options) {
    const std::size_t equals = word.find('=');
    std::int64_t value = 0;
    if (equals == std::string_view::npos || !parse(word.substr(equals + 1), value)) return false;
    if (word.substr(0, equals) == input_word)
        options.set_input(static_cast<int>(value));
    else
        options.set(word.substr(0, equals), value);
    return true;
}

int measure(const contestant& who, const worker_job& job, const parameters& options) {
    static_cast<void>(clock_cost_ns());
    block_proof proof(who.how, job.library, who.type);
    page_recorder found(proof);
    who.run({options, job.seed, job.part, found});
    return write_whole(reply_descriptor, found.message().dump()) ? 0 : 1;
}

int worker_main(std::span<char*> words, std::span<const experiment> experiments) {
    constexpr std::size_t fixed = 6;
    if (words.size() < fixed) return refuse("a command line");
    worker_job job{words[0], 0, 0, 0, 0, words[5]};
    if (!parse(words[1], job.source) || !parse(words[2], job.contestant) || !parse(words[3], job.part) ||
        !parse(words[4], job.seed)) {
        return refuse("a number");
    }
    for (const experiment& chosen : experiments) {
        if (chosen.name != job.experiment || job.source >= chosen.sources.size()) continue;
        const std::span<const contestant> some = chosen.sources[job.source]();
        if (job.contestant >= some.size() || some[job.contestant].run == nullptr) return refuse("a contestant");
        parameters options(chosen.options);
        for (std::size_t i = fixed; i < words.size(); ++i) {
            if (!read_option(words[i], options)) return refuse(words[i]);
        }
        return measure(some[job.contestant], job, options);
    }
    return refuse("an experiment");
}

}

std::vector<std::string> worker_arguments(const worker_job& job, const parameters& options) {
    std::vector<std::string> words{std::string{worker_command}, std::string{job.experiment},
                                   std::to_string(job.source),  std::to_string(job.contestant),
                                   std::to_string(job.part),    std::to_string(job.seed),
                                   std::string{job.library}};
    for (const parameters::entry& option : options.all())
        words.push_back(fmt::format("{}={}", option.name, option.value));
    if (options.has_input()) words.push_back(fmt::format("{}={}", input_word, options.input()));
    return words;
}

std::optional<worker_findings> parse_findings(std::string_view message) {
    const nlohmann::json read = nlohmann::json::parse(message, nullptr, false);
    if (!read.is_object()) return std::nullopt;
    try {
        worker_findings found;
        for (const auto& each : read.at("values")) {
            const double number = each.at(4).is_number() ? each.at(4).get<double>() : std::nan("");
            found.values.push_back(
                {each.at(0), each.at(1), each.at(2), static_cast<better>(each.at(3).get<int>()), number});
        }
        for (const auto& each : read.at("lists")) {
            found.lists.push_back({each.at(0), each.at(1), each.at(2), each.at(3), measured_list::the_same});
        }
        for (const auto& each : read.value("courses", nlohmann::json::array())) {
            found.lists.push_back({each.at(0), each.at(1), each.at(2), each.at(3), measured_list::a_sample});
        }
        for (const auto& each : read.at("notes")) found.notes.push_back(each);
        found.failure = read.at("failure");
        found.proof = read.at("proof");
        return found;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt; // not a message that a worker of this program writes
    }
}

std::optional<int> run_if_worker(int argc, char** argv, std::span<const experiment> experiments) {
    if (argc < 2) return std::nullopt;
    const std::string_view command = argv[1];
    const std::span<char*> words{argv + 2, static_cast<std::size_t>(argc - 2)};
    if (command == probe_command) return probe_main();
    if (command != worker_command) return std::nullopt;
    ::_exit(worker_main(words, experiments));
}

}
