// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Small programs of the shape of larger ones, each built twice: with every block from malloc, and with the advice of
/// `tenure advise` for one of its functions applied. See ../applied_advice.
///
/// They read a file, write their result to standard output, and the processor time of their work to standard error.

#include <ctime>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace shape {

constexpr bool is_advised = TENURE_SHAPE_ADVISED != 0;

inline std::string text_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) std::exit(2);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Processor time of this process.
class work_time {
public:
    [[nodiscard]] double elapsed_ms() const { return static_cast<double>(now() - begun_) / 1e6; }

private:
    static std::int64_t now() {
        timespec time{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
    std::int64_t begun_ = now();
};

constexpr std::size_t piece_bytes = 65'536;

/// Writes the text to standard output if it is long, so that it takes no memory.
inline void write_piece(std::string& out, std::size_t least = piece_bytes) {
    if (out.size() < least) return;
    std::fwrite(out.data(), 1, out.size(), stdout);
    out.clear();
}

/// Reads the file that the program was given, and does the work with it.
template<class Work>
int run(int count, char** words, Work work) {
    if (count != 2) return 2;
    const std::string given = text_of(words[1]);
    std::string out;
    out.reserve(2 * piece_bytes);
    const work_time time;
    work(given, out);
    const double spent_ms = time.elapsed_ms();
    write_piece(out, 0);
    std::fprintf(stderr, "work: %.6f ms\n", spent_ms);
    return 0;
}

}
