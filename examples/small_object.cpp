// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A class hierarchy whose new and delete use pools. Only the base class changes.

#include <cstdio>
#include <memory>
#include <vector>

#include <tenure/pool/small_object.hpp>

namespace {

class shape : public tenure::small_object {
public:
    virtual ~shape() = default; // as usual, to delete through a base pointer
    [[nodiscard]] virtual double area() const = 0;
};

class square final : public shape {
public:
    explicit square(double side) : side_(side) {}
    [[nodiscard]] double area() const override { return side_ * side_; }

private:
    double side_;
};

class rectangle final : public shape {
public:
    rectangle(double width, double height) : width_(width), height_(height) {}
    [[nodiscard]] double area() const override { return width_ * height_; }

private:
    double width_, height_;
};

}

int main() {
    std::vector<std::unique_ptr<shape>> shapes;
    for (int index = 0; index < 1000; ++index) {
        shapes.push_back(std::make_unique<square>(1.0));
        shapes.push_back(std::make_unique<rectangle>(2.0, 0.5));
    }
    double sum = 0;
    for (const std::unique_ptr<shape>& each : shapes) sum += each->area();
    std::printf("%zu shapes, area %.0f\n", shapes.size(), sum);

    shapes.clear(); // returns each object to the pool of its size
    std::printf("alive: %zu\n", tenure::small_object::stats().live_count);
    return tenure::small_object::stats().live_count == 0 ? 0 : 1;
}
