// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Of the shape of assimp: reads a mesh in the format OBJ, copies the scene, and writes the copy in the format PLY. Each
// face has an array of indices of its own, and all of these end with their scenes.
//
// The advice for make_indices() is an arena.

#include <charconv>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include <tenure/arena/arena.hpp>

#include "shape.hpp"

namespace {

std::optional<tenure::arena> items; // applied advice

[[gnu::noinline]] unsigned* make_indices(std::size_t count) {
    if constexpr (shape::is_advised)
        return static_cast<unsigned*>(items->allocate(count * sizeof(unsigned)));
    else
        return static_cast<unsigned*>(::operator new(count * sizeof(unsigned)));
}
void end_indices(unsigned* indices) {
    if constexpr (!shape::is_advised) ::operator delete(indices);
}

struct point {
    float x, y, z;
};

struct face {
    unsigned count = 0;
    unsigned* indices = nullptr;
};

struct mesh {
    std::vector<point> points;
    std::unique_ptr<face[]> faces;
    std::size_t face_count = 0;

    mesh() = default;
    mesh(const mesh&) = delete;
    mesh& operator=(const mesh&) = delete;
    ~mesh() {
        for (std::size_t each = 0; each < face_count; ++each) end_indices(faces[each].indices);
    }
};

using scene = std::vector<std::unique_ptr<mesh>>;

/// A face as the file has it.
struct read_face {
    std::vector<unsigned> points, normals;
    bool has_normals = false;
};

struct read_object {
    std::vector<std::unique_ptr<read_face>> faces;
    std::size_t first_point = 0;
};

class reader {
public:
    explicit reader(std::string_view text) : rest_(text) {}

    void read() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            read_line(rest_.substr(0, end));
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
        }
    }

    [[nodiscard]] scene meshes() const {
        scene made;
        for (const read_object& object : objects_) {
            auto one = std::make_unique<mesh>();
            one->faces = std::make_unique<face[]>(object.faces.size());
            for (const auto& each : object.faces) {
                face& to = one->faces[one->face_count++];
                to.count = static_cast<unsigned>(each->points.size());
                to.indices = make_indices(to.count);
                for (unsigned corner = 0; corner < to.count; ++corner) {
                    to.indices[corner] = static_cast<unsigned>(one->points.size());
                    one->points.push_back(points_[each->points[corner]]);
                }
            }
            made.push_back(std::move(one));
        }
        return made;
    }

private:
    static std::string_view take_word(std::string_view& line) {
        const std::size_t end = std::min(line.find(' '), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
        return word;
    }
    static float take_number(std::string_view& line) {
        const std::string_view word = take_word(line);
        float value = 0;
        std::from_chars(word.data(), word.data() + word.size(), value);
        return value;
    }
    static unsigned take_index(std::string_view& corner) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(corner.data(), corner.data() + corner.size(), value);
        corner.remove_prefix(static_cast<std::size_t>(end - corner.data()));
        while (!corner.empty() && corner.front() == '/') corner.remove_prefix(1);
        return value - 1;
    }

    void read_line(std::string_view line) {
        const std::string_view kind = take_word(line);
        if (kind == "o") objects_.emplace_back();
        if (kind == "v" || kind == "vn") {
            point made{};
            made.x = take_number(line);
            made.y = take_number(line);
            made.z = take_number(line);
            (kind == "v" ? points_ : normals_).push_back(made);
        }
        if (kind != "f") return;
        auto made = std::make_unique<read_face>();
        while (!line.empty()) {
            std::string_view corner = take_word(line);
            made->points.push_back(take_index(corner));
            made->has_normals = !corner.empty();
            if (made->has_normals) made->normals.push_back(take_index(corner));
        }
        objects_.back().faces.push_back(std::move(made));
    }

    std::string_view rest_;
    std::vector<point> points_, normals_;
    std::vector<read_object> objects_;
};

scene copy_of(const scene& from) {
    scene made;
    for (const auto& each : from) {
        auto one = std::make_unique<mesh>();
        one->points = each->points;
        one->faces = std::make_unique<face[]>(each->face_count);
        for (; one->face_count < each->face_count; ++one->face_count) {
            const face& old = each->faces[one->face_count];
            face& to = one->faces[one->face_count];
            to.count = old.count;
            to.indices = make_indices(old.count);
            std::memcpy(to.indices, old.indices, old.count * sizeof(unsigned));
        }
        made.push_back(std::move(one));
    }
    return made;
}

void add_number(std::string& out, auto value) {
    char digits[64];
    const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
    out.append(digits, end);
    out += ' ';
}

void write(const scene& all, std::string& out) {
    for (const auto& each : all)
        for (const point& at : each->points) {
            add_number(out, at.x);
            add_number(out, at.y);
            add_number(out, at.z);
            out += '\n';
            shape::write_piece(out);
        }
    unsigned first = 0;
    for (const auto& each : all) {
        for (std::size_t number = 0; number < each->face_count; ++number) {
            const face& one = each->faces[number];
            add_number(out, one.count);
            for (unsigned corner = 0; corner < one.count; ++corner) add_number(out, first + one.indices[corner]);
            out += '\n';
            shape::write_piece(out);
        }
        first += static_cast<unsigned>(each->points.size());
    }
}

void convert(std::string_view text, std::string& out) {
    if constexpr (shape::is_advised) items.emplace();
    {
        scene all;
        {
            reader from(text);
            from.read();
            all = from.meshes();
        }
        const scene copy = copy_of(all);
        write(copy, out);
    }
    if constexpr (shape::is_advised) items->clear(); // once, instead of every free
}

}

int main(int count, char** words) { return shape::run(count, words, &convert); }
