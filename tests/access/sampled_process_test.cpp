// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Recorded processes whose blocks are watched: this one, with a raw file that the test has made.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tenure/platform/clock.hpp>

#include "observe/access/access_sampler.hpp"
#include "observe/access/pacing.hpp"
#include "observe/access/raw_files.hpp"
#include "observe/access/sampled_process.hpp"
#include "observe/access/watchpoints.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tenure::lab;
namespace format = tenure::lab::trace_format;

constexpr std::uint64_t recording = 77, first_thread = std::uint64_t{1} << 40;

alignas(8) volatile std::uint64_t listed_words[64];

/// A raw file of this process: its header, and the list of its blocks.
class own_raw_file {
public:
    explicit own_raw_file(std::uint32_t process = static_cast<std::uint32_t>(::getpid())) {
        const std::size_t bytes = format::page_bytes + live_blocks_bytes;
        const int file = ::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        EXPECT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
        memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        EXPECT_NE(memory_, MAP_FAILED);
        format::file_header& head = header();
        head.version = format::version;
        head.header_bytes = format::page_bytes;
        head.process = process;
        head.first_ticks = 1;
        head.first_ns = tenure::platform::monotonic_ns();
        head.recording = recording;
        std::memcpy(head.magic, format::magic, sizeof head.magic);
        list().chunk.kind = format::chunk_kind::live_blocks;
        list().chunk.bytes = live_blocks_bytes;
        list().chunk.magic = format::chunk_magic;
        for (std::uint32_t index = 0; index < 64; index += 2)
            list().add_sampled(reinterpret_cast<std::uint64_t>(&listed_words[index]), first_thread | index, 1, 1, index,
                               16);
    }
    ~own_raw_file() { forget(); }
    own_raw_file(const own_raw_file&) = delete;
    own_raw_file& operator=(const own_raw_file&) = delete;

    /// As exec does.
    void forget() {
        if (memory_ != nullptr) ::munmap(memory_, format::page_bytes + live_blocks_bytes);
        memory_ = nullptr;
    }
    [[nodiscard]] std::string file() const { return (folder_.path() / "t").string(); }
    [[nodiscard]] std::string path() const { return file() + ".raw"; }
    [[nodiscard]] format::file_header& header() { return *static_cast<format::file_header*>(memory_); }
    [[nodiscard]] live_blocks& list() {
        return *reinterpret_cast<live_blocks*>(static_cast<char*>(memory_) + format::page_bytes);
    }

private:
    support::temporary_folder folder_;
    void* memory_ = nullptr;
};

/// A child that touches its blocks all the time.
class sampled_child : public testing::Test {
protected:
    void SetUp() override {
        if (const int number = watchpoints::try_out().error; number != 0)
            GTEST_SKIP() << "this machine has no watchpoints: " << watchpoint_error(number);
        ASSERT_EQ(::pipe2(orders_, O_CLOEXEC), 0);
        ASSERT_EQ(::pipe2(answers_, O_CLOEXEC | O_NONBLOCK), 0);
        child_ = ::fork();
        if (child_ == 0) touch_until_told();
        raw_.header().process = static_cast<std::uint32_t>(child_);
        process_ = sampled_process::open(raw_.path(), raw_.header());
        ASSERT_NE(process_, nullptr);
        ASSERT_TRUE(process_->has_list());
        ::usleep(2000); // until the blocks are old enough
    }
    void TearDown() override {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        for (const int each : {orders_[0], orders_[1], answers_[0], answers_[1]}) ::close(each);
    }
    void watch_once() {
        std::uint64_t hits = 0;
        for (int turn = 0; turn < 1000 && hits == 0; ++turn) { // until the child has its turn
            ASSERT_TRUE(process_->begin_window());
            ::usleep(5000);
            hits = process_->end_window(1000);
        }
        EXPECT_NE(hits, 0u);
    }
    /// The child becomes another program, for what the sampler sees of it.
    void replace_program() {
        ASSERT_EQ(::write(orders_[1], "x", 1), 1);
        char answer = 0;
        while (::read(answers_[0], &answer, 1) != 1) ::usleep(1000);
    }

    own_raw_file raw_;
    std::unique_ptr<sampled_process> process_;

private:
    [[noreturn]] void touch_until_told() {
        ::fcntl(orders_[0], F_SETFL, O_NONBLOCK);
        for (char order = 0;;) {
            for (volatile std::uint64_t& each : listed_words) each = 1;
            if (::read(orders_[0], &order, 1) != 1) continue;
            raw_.forget();
            if (::write(answers_[1], "x", 1) != 1) ::_exit(1);
        }
    }

    int orders_[2]{}, answers_[2]{};
    pid_t child_ = 0;
};

TEST_F(sampled_child, windows_of_a_process_that_runs_on_are_kept) {
    watch_once();
    watch_once();
    process_->finish();
    ASSERT_EQ(process_->payloads().size(), 1u);
    EXPECT_FALSE(process_->payloads().front().empty());
    EXPECT_EQ(process_->problem(), "");
}

TEST_F(sampled_child, windows_behind_the_last_look_at_a_replaced_program_are_dropped_and_leave_no_empty_chunk) {
    watch_once();
    EXPECT_EQ(process_->payloads().size(), 1u);
    replace_program();
    process_->finish();
    EXPECT_TRUE(process_->payloads().empty());
    EXPECT_NE(process_->problem().find("ended before a block was watched"), std::string::npos) << process_->problem();
}

TEST_F(sampled_child, windows_up_to_the_exit_of_a_program_that_has_ended_are_kept) {
    watch_once();
    raw_.header().last_ticks = 1;
    raw_.header().last_ns = tenure::platform::monotonic_ns();
    watch_once();
    const std::size_t with_both = process_->payloads().front().size();
    replace_program();
    process_->finish();
    ASSERT_EQ(process_->payloads().size(), 1u);
    EXPECT_LT(process_->payloads().front().size(), with_both);
    EXPECT_FALSE(process_->payloads().front().empty());
}

/// Runs something as a user without rights. Returns   its exit code.
template<class Call>
[[nodiscard]] int as_nobody(Call&& call) {
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(100);
        ::_exit(call());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

TEST(mapped_raw_files, of_a_process_that_this_user_may_not_see_are_hidden_and_it_has_not_ended) {
    const std::string other = ::geteuid() == 0 ? std::to_string(::getpid()) : "1";
    EXPECT_EQ(as_nobody([&] {
                  const mapped_raw_files found = mapped_by(other);
                  return found.is_hidden() && found.error == EACCES ? 0 : 1;
              }),
              0);
}

TEST(mapped_raw_files, name_the_process_that_writes) {
    own_raw_file raw;
    struct stat about {};
    ASSERT_EQ(::stat(raw.path().c_str(), &about), 0);
    const mapped_raw_files found = mapped_by("self");
    const auto number = static_cast<std::uint64_t>(::getpid());
    EXPECT_TRUE(found.is_running);
    EXPECT_TRUE(found.is_writer(about.st_ino, number));
    EXPECT_FALSE(found.is_writer(about.st_ino, number + 1)) << "a fork's child has the mapping too";
    EXPECT_FALSE(found.is_writer(about.st_ino + 1, number));
    const mapped_raw_files gone = mapped_by("2147483647");
    EXPECT_FALSE(gone.is_running);
    EXPECT_EQ(gone.error, 0);
}

TEST(sampled_processes, one_that_is_hidden_says_so_and_not_that_it_has_ended) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs a process of another user";
    own_raw_file raw;
    const format::file_header header = raw.header();
    ASSERT_EQ(::chmod(raw.path().c_str(), 0644), 0);
    ASSERT_EQ(::chmod(std::filesystem::path(raw.path()).parent_path().c_str(), 0755), 0);
    EXPECT_EQ(as_nobody([&] {
                  const auto found = sampled_process::open(raw.path(), header);
                  if (found == nullptr) return 1;
                  if (!found->is_refused() || !found->is_over()) return 2;
                  return found->problem().find("does not let this user watch it") != std::string::npos ? 0 : 3;
              }),
              0);
}

TEST(sampled_processes, of_an_ended_one_there_is_none) {
    own_raw_file raw(0x7FFF'FFFF);
    EXPECT_EQ(sampled_process::open(raw.path(), raw.header()), nullptr);
}

TEST(access_sampler, a_thread_that_cannot_be_started_is_told_and_signals_come_again) {
    EXPECT_EQ(as_nobody([] {
                  const rlimit none{0, 0};
                  if (::setrlimit(RLIMIT_NPROC, &none) != 0) return 1;
                  access_sampler sampler("/t", recording);
                  const std::string problem = sampler.start();
                  sigset_t now;
                  ::sigemptyset(&now);
                  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
                  if (::sigismember(&now, SIGTERM) != 0) return 2;
                  return problem.find("a thread could not be started") != std::string::npos ? 0 : 3;
              }),
              0);
}

TEST(search_interval, is_short_at_first_and_behind_what_was_found_and_grows_to_a_limit) {
    search_interval interval;
    EXPECT_EQ(interval.next_ns(false), search_interval::shortest_ns);
    EXPECT_EQ(interval.next_ns(false), 2 * search_interval::shortest_ns);
    EXPECT_EQ(interval.next_ns(false), 4 * search_interval::shortest_ns);
    for (int turn = 0; turn < 20; ++turn) static_cast<void>(interval.next_ns(false));
    EXPECT_EQ(interval.next_ns(false), search_interval::longest_ns);
    EXPECT_EQ(interval.next_ns(true), search_interval::shortest_ns);
    EXPECT_EQ(interval.next_ns(false), 2 * search_interval::shortest_ns);
}

TEST(run_time, sums_what_each_process_has_run_also_where_one_ends_or_begins) {
    run_time ran;
    ran.add(std::vector<std::uint64_t>{1000, 5'000'000});
    EXPECT_EQ(ran.total_ns(), 0u);
    ran.add(std::vector<std::uint64_t>{1500, 5'000'100});
    EXPECT_EQ(ran.total_ns(), 600u);
    ran.add(std::vector<std::uint64_t>{1600, 0}); // the second has ended
    EXPECT_EQ(ran.total_ns(), 700u);
    ran.add(std::vector<std::uint64_t>{1700, 0, 900}); // a third has begun
    ran.add(std::vector<std::uint64_t>{1700, 0, 950});
    EXPECT_EQ(ran.total_ns(), 850u);
}

}
