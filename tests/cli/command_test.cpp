// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support/process.hpp"
#include "support/run_command.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

// Contestants that need no malloc of their own, so that a sanitized build runs them as well.
const std::string quick = "bench lifetimes --only 'tenure Temp' --rounds 1 --seed 3 --batches 5 --budget 65536 ";

class command : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
    }
    support::temporary_folder own_;
    const std::string directory = own_.path().string();
};

TEST_F(command, prints_tables_on_standard_output_and_progress_on_standard_error) {
    const auto found = run_command(quick);
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"lifetimes", "tenure Temp", "trivial bump", "warm"});
    expect_words(found.err, {"seed 3", "measurements in", "1 round says little"});
    EXPECT_EQ(found.out.find("measurements in"), std::string::npos);
}

/// A variable of the environment, changed for a while.
class changed_variable {
public:
    changed_variable(const char* name, const char* value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before;
        ::setenv(name, value, 1);
    }
    ~changed_variable() { ::setenv(name_, before_.c_str(), 1); }
    changed_variable(const changed_variable&) = delete;
    changed_variable& operator=(const changed_variable&) = delete;

private:
    const char* name_;
    std::string before_;
};

TEST_F(command, fails_where_an_experiment_that_was_named_cannot_be_measured) {
    const changed_variable path("PATH", "/nowhere"), home("HOME", "/nowhere"); // no .NET there, and no tool
    const auto found = run_command("bench dotnet --rounds 1");
    EXPECT_EQ(found.code, 1);
    expect_words(found.err, {"dotnet is left out", "make pack"});
}

TEST_F(command, refuses_a_tree_that_does_not_fit_in_memory) {
    const auto found = run_command("bench scene --levels 20 --parts quads");
    EXPECT_EQ(found.code, 2);
    EXPECT_EQ(found.out, "");
    expect_words(found.err, {"scene: --levels 20 does not fit in memory", "GiB", "The largest that fits is --levels"});
}

TEST_F(command, prints_json_for_machines) {
    const auto found = run_command(quick + "--json");
    const auto read = nlohmann::json::parse(found.out, nullptr, false);
    ASSERT_TRUE(read.is_object()) << found.out.substr(0, 200);
    EXPECT_EQ(read["experiments"][0]["name"], "lifetimes");
    EXPECT_EQ(read["complete"], true);
}

TEST_F(command, writes_every_file_of_a_report) {
    const auto found = run_command(quick + "--out here/there", directory);
    EXPECT_EQ(found.code, 0) << found.err;
    for (const char* name : {"results.json", "results.csv", "report.html", "lifetimes", "lifetimes.svg"}) {
        EXPECT_TRUE(fs::exists(fs::path{directory} / "here/there" / name)) << name;
    }
    EXPECT_FALSE(fs::exists(fs::path{directory} / "here/there/.tenure-bench"));
}

TEST_F(command, refuses_a_directory_that_cannot_be_written_before_it_measures) {
    std::ofstream(fs::path{directory} / "file") << "in the way";
    const auto found = run_command(quick + "--out file/below", directory);
    EXPECT_EQ(found.code, 3);
    expect_words(found.err, {"the folder file/below"});
    EXPECT_EQ(found.err.find(".tenure-bench"), std::string::npos) << found.err;
    EXPECT_EQ(found.err.find("measurements"), std::string::npos);
}

TEST_F(command, says_that_standard_output_could_not_be_written) {
    for (const std::string& words :
         {quick + "--parts \"one thread\"", quick + "--json", std::string{"list"}, std::string{"options --json"}}) {
        std::string line = command_path() + " " + words + " >/dev/full";
        for (std::size_t at = 0; (at = line.find('\'', at)) != std::string::npos; at += 4) line.replace(at, 1, "'\\''");
        const auto found = run_command("run --heap system -- sh -c '" + line + "'");
        EXPECT_EQ(found.code, 3) << words;
        expect_words(found.err, {"standard output could not be written: No space left on device"});
    }
}

TEST_F(command, prints_the_tables_and_the_distance_of_results_that_were_kept) {
    ASSERT_EQ(run_command(quick + "--out kept", directory).code, 0);
    const auto measured = run_command(quick + "--out again", directory);
    const auto whole = run_command("report again", directory);
    EXPECT_EQ(whole.code, 0) << whole.err;
    expect_words(whole.out, {"again: ", "lifetimes · times · warm", "In short"});
    EXPECT_NE(whole.out.find(measured.out), std::string::npos) << "the same words as when it was measured";
    const auto brief = run_command("report --short kept again/results.json", directory);
    EXPECT_EQ(brief.code, 0) << brief.err;
    expect_words(brief.out, {"kept: ", "again/results.json: ", "In short"});
    EXPECT_EQ(brief.out.find("lifetimes · times"), std::string::npos);
    const std::size_t first = brief.out.find("In short");
    EXPECT_LT(first, brief.out.find("again/results.json: ")) << "each file has its own end: runs are not summed";
    EXPECT_NE(brief.out.find("In short", first + 1), std::string::npos);
    EXPECT_EQ(run_command("report nothing", directory).code, 2);
    EXPECT_EQ(run_command("report", directory).code, 2);
}

TEST_F(command, prints_the_chart_that_the_bench_wrote) {
    ASSERT_EQ(run_command(quick + "--out kept", directory).code, 0);
    const auto found = run_command("report kept --chart lifetimes", directory);
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"<svg xmlns=", "tenure bench lifetimes", "smaller is better", "</svg>"});
    std::ifstream written(fs::path{directory} / "kept/lifetimes.svg");
    EXPECT_EQ(found.out, std::string(std::istreambuf_iterator<char>(written), {}));
}

TEST_F(command, refuses_a_chart_of_nothing_or_of_several_files) {
    ASSERT_EQ(run_command(quick + "--out kept", directory).code, 0);
    const auto unknown = run_command("report kept --chart lifetime", directory);
    EXPECT_EQ(unknown.code, 2);
    expect_words(unknown.err, {"lifetime", "lifetimes"});
    const auto several = run_command("report kept kept --chart lifetimes", directory);
    EXPECT_EQ(several.code, 2);
    expect_words(several.err, {"--chart draws one experiment of one file, but 2 files were given"});
    EXPECT_EQ(run_command("report kept --chart lifetimes --short", directory).code, 2);
    std::ofstream(fs::path{directory} / "bare.json") << R"({"format":1,"experiments":[{"name":"heap"}]})";
    const auto nothing = run_command("report bare.json --chart heap", directory);
    EXPECT_EQ(nothing.code, 2);
    expect_words(nothing.err, {"bare.json: heap has no primary figure to draw"});
}

TEST_F(command, a_summary_prints_the_tables_of_its_result) {
    ASSERT_EQ(run_command(quick + "--out run", directory).code, 0);
    const auto written = run_command("report run --summary kept.json", directory);
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(written.out, "");
    expect_words(written.err, {"written to kept.json: ", " KiB"});
    for (const char* options : {"", " --short", " --markdown tables", " --markdown distance", " --markdown trailing"}) {
        auto whole = run_command("report run" + std::string{options}, directory);
        const auto kept = run_command("report kept.json" + std::string{options}, directory);
        EXPECT_EQ(kept.code, 0) << kept.err;
        if (whole.out.starts_with("run: ")) whole.out.replace(0, 3, "kept.json");
        EXPECT_EQ(kept.out, whole.out) << options;
    }
    EXPECT_LT(fs::file_size(fs::path{directory} / "kept.json") * 4,
              fs::file_size(fs::path{directory} / "run/results.json"));
    expect_words(run_command("report kept.json --chart lifetimes", directory).out, {"<svg xmlns=", "</svg>"});
    EXPECT_EQ(run_command("report run --summary kept.json", directory).code, 0) << "an older file is replaced";
    const auto compared = run_command("bench --compare kept.json run", directory);
    EXPECT_EQ(compared.code, 0) << compared.err;
    expect_words(compared.out, {"summary without rounds"});
}

TEST_F(command, refuses_a_summary_that_cannot_be_written) {
    ASSERT_EQ(run_command(quick + "--out run", directory).code, 0);
    ASSERT_EQ(run_command(quick + "--out more", directory).code, 0);
    for (const char* file : {"run/results.json", "./run/../run/results.json"}) {
        const auto itself = run_command("report run --summary " + std::string{file}, directory);
        EXPECT_EQ(itself.code, 2);
        expect_words(itself.err, {"this is the result itself, whose rounds would be lost"});
    }
    const auto several = run_command("report run more --summary kept.json", directory);
    EXPECT_EQ(several.code, 2);
    expect_words(several.err, {"--summary takes one result, and 2 were given", "not combined"});
    EXPECT_EQ(run_command("report run --short --summary kept.json", directory).code, 2);
    EXPECT_EQ(run_command("report run --markdown tables --summary kept.json", directory).code, 2);
    EXPECT_EQ(run_command("report run --chart lifetimes --summary kept.json", directory).code, 2);
    EXPECT_EQ(run_command("report nothing --summary kept.json", directory).code, 2);
    EXPECT_FALSE(fs::exists(fs::path{directory} / "kept.json"));
    const auto nowhere = run_command("report run --summary nowhere/kept.json", directory);
    EXPECT_EQ(nowhere.code, 3);
    expect_words(nowhere.err, {"nowhere/kept.json: cannot write the file: No such file or directory"});
    EXPECT_EQ(run_command("report run", directory).code, 0) << "the result is as it was";
}

TEST_F(command, compares_two_results) {
    ASSERT_EQ(run_command(quick + "--out old", directory).code, 0);
    ASSERT_EQ(run_command(quick + "--out new", directory).code, 0);
    const auto found = run_command("bench --compare old new", directory);
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"tenure Temp", "fewer than 5 rounds", "differ by more than 10 %"});
    EXPECT_EQ(found.out.find("Differs besides the code"), std::string::npos) << found.out;
    EXPECT_EQ(run_command("bench --compare old nothing", directory).code, 2);
    const auto beside = run_command("bench pools --compare old new --out there", directory);
    EXPECT_EQ(beside.code, 2);
    expect_words(beside.err, {"pools, --out would have no effect"});
    EXPECT_EQ(run_command("bench --compare old new --json", directory).code, 0);
}

TEST_F(command, compares_no_devices_and_no_folders) {
    for (const char* pair : {"/dev/zero .", "/dev/null /", ". /proc/self/task"}) {
        const auto found = run_command(std::string{"bench --compare "} + pair, directory);
        EXPECT_EQ(found.code, 2) << pair << found.err;
        EXPECT_EQ(found.out, "");
    }
    expect_words(run_command("bench --compare /dev/zero .", directory).err, {"/dev/zero: is not a regular file"});
}

TEST_F(command, names_of_a_foreign_result_carry_no_escape_sequences) {
    std::ofstream(fs::path{directory} / "results.json")
        << R"({"format":1,"started_at":"\u001b[31m","experiments":[{"name":"a\u001b]0;title\u0007","contestants":)"
           R"([{"name":"\u001b[31mred","metrics":[{"name":"\u009btime","unit":"ns","samples":[1,2,3]}]}]}]})";
    const auto found = run_command("bench --compare . .", directory);
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"[31mred"});
    EXPECT_EQ(found.out.find_first_of("\x1b\x07"), std::string::npos) << found.out;
    EXPECT_EQ(found.out.find("\xC2\x9B"), std::string::npos) << found.out;
    std::ofstream(fs::path{directory} / "results.json") << "\x1b[31m\x07";
    const auto broken = run_command("bench --compare . .", directory);
    EXPECT_EQ(broken.code, 2);
    EXPECT_EQ(broken.err.find_first_of("\x1b\x07"), std::string::npos) << broken.err;
}

TEST_F(command, ends_with_what_the_tables_come_to) {
    const auto found = run_command(quick + "--parts 'one thread'");
    const std::size_t place = found.out.find("In short");
    ASSERT_NE(place, std::string::npos) << found.out;
    EXPECT_GT(place, found.out.find("lifetimes · times · cold"));
    expect_words(found.out.substr(place), {"lifetimes", "1 round says little"});
}

TEST_F(command, settings_of_the_environment_that_have_no_effect_are_named) {
    ::setenv("TENURE_PASSTHROUGH", "all", 1);
    const auto found = run_command(quick + "--parts 'one thread'");
    ::unsetenv("TENURE_PASSTHROUGH");
    EXPECT_EQ(found.code, 0);
    expect_words(found.err, {"TENURE_PASSTHROUGH in the environment has no effect"});
}

TEST_F(command, usage_errors_name_the_help_of_the_command_and_what_is_wrong) {
    expect_words(run_command("bench --rounds").err, {"--rounds needs a value: --rounds N", "`tenure bench --help`"});
    expect_words(run_command("bench --compare a").err, {"--compare needs 2 values: --compare OLD NEW"});
    expect_words(run_command("bench --timeout -1").err, {"--timeout: \"-1\" is not a whole number from 0 to"});
    expect_words(run_command("bench --out ''").err, {"--out needs the name of a folder"});
    expect_words(run_command("bench pools --count x --sede 4").err, {"`tenure bench pools --help`"});
    const auto option = run_command("bench pools --hlep").err;
    const std::size_t first = option.find("--help,");
    ASSERT_NE(first, std::string::npos) << option;
    EXPECT_EQ(option.find("--help,", first + 1), std::string::npos) << option;
}

TEST_F(command, a_file_of_this_folder_without_a_slash_is_hinted_at) {
    std::ofstream(fs::path{directory} / "ownmalloc") << "a file";
    const auto found = run_command("bench --against ownmalloc", directory);
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"no peer \"ownmalloc\"", "write ./ownmalloc"});
}

TEST_F(command, a_model_is_measured_from_its_file) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const std::string file = directory + "/two triangles.obj";
    std::ofstream(file) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no one\nf 1 2 3\no other\nf 1 2 4\n";
    const auto found = run_command("bench scene --only 'tenure affinity,glibc malloc' --rounds 1 --grid 3 "
                                   "--model-traversals 5 --json --input '" +
                                   file + "'");
    if (found.err.find("built without assimp") != std::string::npos) GTEST_SKIP() << found.err;
    ASSERT_EQ(found.code, 0) << found.err;
    const auto measured = nlohmann::json::parse(found.out).at("experiments").at(0);
    bool names_the_file = false;
    for (const auto& each : measured.at("parameters")) names_the_file |= each.at("value") == file;
    EXPECT_TRUE(names_the_file);
    EXPECT_NE(found.out.find("\"model\""), std::string::npos);
    EXPECT_EQ(found.out.find("quads, "), std::string::npos) << "only the model, unless --parts names others";
}

TEST_F(command, a_model_that_cannot_be_read_is_refused_before_anything_is_measured) {
    const std::string file = directory + "/notes.txt";
    std::ofstream(file) << "no model";
    const auto found = run_command("bench scene --input " + file);
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"--input", "notes.txt"});
    EXPECT_EQ(run_command("bench scene --input " + directory + "/nowhere.obj").code, 2);
    EXPECT_EQ(run_command("bench pools --input " + file).code, 2) << "an experiment that takes no file";
    const auto without = run_command("bench scene --parts model");
    EXPECT_EQ(without.code, 2);
    expect_words(without.err, {"\"model\"", "--input FILE"});
}

TEST_F(command, only_keeps_whom_against_names) {
    const auto found = run_command("bench lifetimes --only 'tenure Temp' --against boost.pool --rounds 1 --batches 5 "
                                   "--parts 'one thread'");
    expect_words(found.out, {"tenure Temp", "boost::pool"});
    EXPECT_EQ(found.out.find("tenure TempJob"), std::string::npos);
}

TEST_F(command, names_of_the_list_are_not_broken_across_lines) {
    const auto found = run_command("list");
    for (const char* name : {"\"pairs, 280 B\"", "\"all, 64 B\"", "\"drop, 8 B\"", "\"destroy one, 8 B\"",
                             "\"destroy one, 280 B\"", "\"two threads, 64 B\"", "\"overflow, small budget\""}) {
        expect_words(found.out, {name});
    }
}

TEST_F(command, runs_the_parts_that_are_named_and_says_so_in_the_result) {
    const auto found = run_command(quick + "--json --parts overflow");
    const auto read = nlohmann::json::parse(found.out, nullptr, false);
    ASSERT_TRUE(read.is_object()) << found.err;
    const auto& experiment = read["experiments"][0];
    EXPECT_EQ(experiment["parameters"][0]["name"], "--parts");
    EXPECT_EQ(experiment["parameters"][0]["value"], "\"overflow\" (1 of 4)");
    ASSERT_EQ(experiment["contestants"].size(), 1u) << "the baseline takes no part in it";
    for (const auto& metric : experiment["contestants"][0]["metrics"]) {
        EXPECT_EQ(metric["variant"], "overflow of 64 KiB");
    }
    expect_words(run_command(quick + "--parts overflow").out, {"--parts \"overflow\" (1 of 4)"});
}

TEST_F(command, parts_have_commas_and_are_named_one_by_one) {
    const auto found = run_command(quick + "--parts 'overflow, small' --parts 'ONE THREAD'");
    EXPECT_EQ(found.code, 0) << found.err;
    expect_words(found.out, {"--parts \"one thread\", \"overflow, small budget\" (2 of 4)", "warm", "overflow of 16"});
    EXPECT_EQ(found.out.find("overflow of 64 KiB"), std::string::npos);
}

TEST_F(command, a_part_that_is_not_there_is_answered_with_the_nearest_and_the_list) {
    const auto found = run_command("bench pools --parts 'al, 64 B'");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"no part \"al, 64 B\"", "Did you mean \"all, 64 B\"?", "\"two threads, 64 B\""});
    EXPECT_EQ(found.err.find("measurements"), std::string::npos);
}

TEST_F(command, runs_several_experiments_each_with_its_own_options) {
    const auto found =
        run_command("bench lifetimes --batches 5 --count 300 pools --pairs 50 --only 'tenure Temp,tenure "
                    "pool,sound' --rounds 1 --json");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"no contestant \"sound\""});
    const auto both = run_command("bench lifetimes --batches 5 --count 300 pools --pairs 50 --only 'tenure Temp,tenure "
                                  "pool' --parts 'one thread' --parts 'pairs, 64 B' --rounds 1 --json");
    const auto read = nlohmann::json::parse(both.out, nullptr, false);
    ASSERT_TRUE(read.is_object()) << both.err;
    ASSERT_EQ(read["experiments"].size(), 2u);
    EXPECT_EQ(read["experiments"][0]["name"], "lifetimes");
    EXPECT_EQ(read["experiments"][1]["name"], "pools");
    const auto option = [&](std::size_t experiment, std::string_view name) {
        for (const auto& each : read["experiments"][experiment]["parameters"]) {
            if (each["name"] == name) return each["value"].get<std::string>();
        }
        return std::string{"not there"};
    };
    EXPECT_EQ(option(0, "--count"), "300");
    EXPECT_EQ(option(0, "--parts"), "\"one thread\" (1 of 4)");
    EXPECT_EQ(option(1, "--pairs"), "50");
    EXPECT_EQ(option(1, "--parts"), "\"pairs, 64 B\" (1 of 13)");
}

TEST_F(command, an_experiment_that_has_none_of_the_parts_is_not_run) {
    const auto found =
        run_command("bench --only 'tenure Temp,tenure pool' --parts 'overflow, small' --rounds 1 --json");
    const auto read = nlohmann::json::parse(found.out, nullptr, false);
    ASSERT_TRUE(read.is_object()) << found.err;
    ASSERT_EQ(read["experiments"].size(), 1u);
    EXPECT_EQ(read["experiments"][0]["name"], "lifetimes");
}

TEST_F(command, without_an_experiment_runs_them_all) {
    const auto found = run_command("bench --only 'tenure Temp,tenure pool' --parts 'one thread' --parts 'pairs, 64' "
                                   "--rounds 1 --json");
    const auto read = nlohmann::json::parse(found.out, nullptr, false);
    ASSERT_TRUE(read.is_object()) << found.err;
    EXPECT_EQ(read["experiments"].size(), 2u);
}

TEST_F(command, a_row_that_fails_is_an_exit_code_of_one) {
    const auto found = run_command("bench lifetimes --only boost::pool --align 64 --rounds 1 --batches 5");
    if (found.out.find("MISSING") != std::string::npos) GTEST_SKIP() << "Boost.Pool was not there";
    EXPECT_EQ(found.code, 1) << found.out;
    expect_words(found.out, {"aligns to pointers"});
}

TEST_F(command, answers_unknown_words_with_the_nearest_and_the_list) {
    const auto experiment = run_command("bench lifetime");
    EXPECT_EQ(experiment.code, 2);
    expect_words(experiment.err, {"no experiment \"lifetime\"", "Did you mean \"lifetimes\"?", "pools"});
    const auto second = run_command("bench lifetimes pols");
    EXPECT_EQ(second.code, 2);
    expect_words(second.err, {"no experiment \"pols\"", "Did you mean \"pools\"?"});
    expect_words(run_command("list pools").err, {"unexpected argument \"pools\""});
    const auto option = run_command("bench lifetimes --cuont 4");
    EXPECT_EQ(option.code, 2);
    expect_words(option.err, {"no option \"--cuont\"", "Did you mean \"--count\"?"});
    const auto contestant = run_command("bench lifetimes --only Tmep");
    EXPECT_EQ(contestant.code, 2);
    expect_words(contestant.err, {"no contestant \"Tmep\"", "tenure Temp"});
    const auto subcommand = run_command("bnech");
    EXPECT_EQ(subcommand.code, 2);
    expect_words(subcommand.err, {"no command \"bnech\"", "Did you mean \"bench\"?"});
    expect_words(run_command("bench --against tcmaloc").err, {"no peer \"tcmaloc\"", "Did you mean \"tcmalloc\"?"});
}

TEST_F(command, names_the_experiment_that_an_option_belongs_to) {
    const auto found = run_command("bench --objects 5");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"--objects is an option of `tenure bench pools`"});
}

TEST_F(command, refuses_values_out_of_range) {
    EXPECT_EQ(run_command("bench lifetimes --count 0").code, 2);
    EXPECT_EQ(run_command("bench lifetimes --count x").code, 2);
    EXPECT_EQ(run_command("bench --rounds 0").code, 2);
    EXPECT_EQ(run_command("bench --seed -1").code, 2);
    EXPECT_EQ(run_command("bench --seed 99999999999999999999").code, 2);
    EXPECT_EQ(run_command("bench --timeout -1").code, 2);
    expect_words(run_command("bench --rounds 99999999999999999999").err, {"--rounds", "from 1 to 10000"});
    const auto found = run_command("bench lifetimes --align 12");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"--align 12 is not a power of two"});
}

TEST_F(command, against_a_peer_leaves_the_other_peers_out) {
    const auto found = run_command("bench lifetimes --against boost.pool --rounds 1 --batches 5 --exchange-groups 1");
    expect_words(found.out, {"tenure Temp", "trivial bump", "boost::pool"});
    EXPECT_EQ(found.out.find("pmr"), std::string::npos);
    EXPECT_EQ(found.out.find("glibc malloc"), std::string::npos);
}

TEST_F(command, refuses_a_library_that_is_not_there_or_has_no_malloc) {
    const auto found = run_command("bench lifetimes --against ./nothing.so");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"there is no file ./nothing.so"});
}

TEST_F(command, helps_with_everything) {
    for (const char* words :
         {"--help", "bench --help", "bench pools --help", "list --help", "options --help", "help", "help bench"}) {
        const auto found = run_command(words);
        EXPECT_EQ(found.code, 0) << words;
        expect_words(found.out, {"Exit codes", "Example"});
    }
    expect_words(run_command("bench lifetimes --help").out, {"--count", "--budget", "--exchange-groups"});
}

TEST_F(command, says_its_version) {
    const auto found = run_command("--version");
    EXPECT_EQ(found.code, 0);
    expect_words(found.out, {"tenure 0."});
}

TEST_F(command, without_a_word_shows_what_there_is) {
    const auto found = run_command("");
    EXPECT_EQ(found.code, 2);
    expect_words(found.err, {"bench", "list", "options"});
}

TEST_F(command, lists_experiments_and_peers) {
    const auto found = run_command("list");
    EXPECT_EQ(found.code, 0);
    expect_words(found.out,
                 {"lifetimes", "pools", "glibc malloc", "HPHA", "Boost.Pool", "\"overflow, small", ", checks "});
    const auto read = nlohmann::json::parse(run_command("list --json").out, nullptr, false);
    ASSERT_TRUE(read.is_object());
    EXPECT_GE(read["experiments"].size(), 2u);
    EXPECT_GE(read["peers"].size(), 8u);
    EXPECT_EQ(read["experiments"][0]["parts"],
              (std::vector<std::string>{"one thread", "overflow", "overflow, small budget", "two threads"}));
    EXPECT_NE(read["version"].get<std::string>().find(", checks "), std::string::npos);
}

TEST_F(command, prints_the_settings_and_where_they_come_from) {
    expect_words(run_command("options").out, {"temp_budget_bytes = 4M", "built in", "TENURE_TEMP_BUDGET"});
    ::setenv("TENURE_TEMP_BUDGET", "16M", 1);
    ::setenv("TENURE_PASSTHROUGH", "temp,pool", 1);
    const auto found = run_command("options");
    ::unsetenv("TENURE_TEMP_BUDGET");
    ::unsetenv("TENURE_PASSTHROUGH");
    expect_words(found.out, {"temp_budget_bytes = 16M   (environment)", "passthrough = temp,pool"});
    EXPECT_TRUE(nlohmann::json::parse(run_command("options --json").out, nullptr, false).is_array());
}

/// Page faults of the children that a process has waited for: they grow with each worker that has ended.
std::uint64_t faults_of_ended_children(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string skipped;
    for (int field = 3; field <= 10; ++field) fields >> skipped;
    std::uint64_t faults = 0;
    fields >> faults;
    return faults;
}

TEST_F(command, an_interrupt_leaves_what_was_finished_in_the_report) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(1);
        ::close(2);
        const std::string out = directory + "/cut";
        ::execl(command_path().c_str(), "tenure", "bench", "lifetimes", "--only", "trivial bump", "--rounds", "5000",
                "--out", out.c_str(), nullptr);
        ::_exit(127);
    }
    // After more workers than one round has parts, at least one round is whole; 5000 are not.
    std::uint64_t seen = 0;
    for (int ended = 0; ended < 20;) {
        const std::uint64_t now = faults_of_ended_children(child);
        if (now != seen) ++ended;
        seen = now;
        ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it ended before it was interrupted";
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    ::kill(child, SIGINT);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    std::ifstream file(directory + "/cut/results.json");
    const auto read = nlohmann::json::parse(file, nullptr, false);
    ASSERT_TRUE(read.is_object());
    EXPECT_EQ(read["complete"], false);
    EXPECT_GT(read["experiments"][0]["rounds"], 0);
}

}
