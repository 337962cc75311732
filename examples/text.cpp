// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Formats one record into a buffer, and a million records from several threads into preallocated memory.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

#include <sys/uio.h>

#include <tenure/text/format_printf.hpp>
#include <tenure/text/paged_writer.hpp>

namespace {

struct monster {
    bool is_alive;
    float health;
};

/// Threads that each take the next page. An executor runs `body` once for each number below `count`: use a job system,
/// OpenMP or std::for_each with a policy.
struct crew {
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        std::atomic<std::size_t> next{0};
        std::vector<std::thread> threads(std::max(2u, std::thread::hardware_concurrency()));
        for (std::thread& each : threads)
            each = std::thread([&] {
                for (std::size_t page = 0; (page = next.fetch_add(1)) < count;) body(page);
            });
        for (std::thread& each : threads) each.join();
    }
};

constexpr std::size_t pages = 1024, page_size = 1024;
constexpr std::size_t record_bytes = 1 + tenure::fixed_bytes<float>(2); // a letter and the longest float

bool save(tenure::paged_writer& writer, const std::vector<std::vector<monster>>& world) {
    const auto objects_of = [&](std::size_t page) { return world[page].size(); };
    const auto write = [&](tenure::text_writer& to, std::size_t page, std::size_t object) {
        const monster& each = world[page][object];
        to.append(each.is_alive ? 'y' : 'n').append_fixed<2>(each.health); // like printf with "%s%.2f"
    };
    return writer.write_pages(world.size(), objects_of, crew{}, write);
}

/// Writes the pages to a file without copying them. Returns   the bytes written.
std::size_t write_to(int file, std::span<const tenure::text_piece> pieces) {
    constexpr std::size_t at_once = 1024; // IOV_MAX
    std::size_t bytes = 0;
    for (; !pieces.empty(); pieces = pieces.subspan(std::min(at_once, pieces.size()))) {
        // text_piece has the memory layout of iovec.
        const auto* const vectors = reinterpret_cast<const iovec*>(pieces.data());
        bytes += static_cast<std::size_t>(::writev(file, vectors, static_cast<int>(std::min(at_once, pieces.size()))));
    }
    return bytes;
}

}

int main() {
    char line[40];
    tenure::text_writer to(line);
    to.append("lap ").append(12).append(": ").append_fixed<3>(93.0625).append(" s"); // a half rounds to the even digit
    std::printf("%.*s\n", static_cast<int>(to.size_bytes()), line);

    char words[60];
    const int bytes = tenure::format_printf(words, sizeof words, "%-6s|%8.3f ms|%#x", "frame", 16.625, 48879u);
    std::printf("%d bytes: %s\n", bytes, words); // the arguments, text and result of snprintf

    tenure::paged_writer writer;
    if (!writer.reserve({.pages = pages, .objects_per_page = page_size, .bytes_per_object = record_bytes})) return 1;
    std::vector<std::vector<monster>> world(pages, std::vector<monster>(page_size, {true, 99.995f}));
    world[3][5].health = -0.004f;
    for (int round = 0; round < 3; ++round) { // reuses the same memory
        if (!save(writer, world)) {
            char reason[100];
            std::printf("%.*s\n", static_cast<int>(writer.error().describe(reason)), reason);
            return 1;
        }
    }
    const std::size_t size = writer.size_bytes();
    std::FILE* const file = std::tmpfile();
    const std::size_t saved = file != nullptr ? write_to(::fileno(file), writer.pieces()) : 0;
    if (file != nullptr) std::fclose(file);
    const std::string_view text = writer.join(); // moves the pages together into one text
    std::printf("%zu bytes, all saved: %s, joined: %s\n", size, saved == size ? "yes" : "no",
                text.size() == size ? "yes" : "no");
    return saved == size && text.size() == size ? 0 : 1;
}
