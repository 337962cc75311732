// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "../everything.hpp"

extern "C" __attribute__((visibility("default"))) int use_plugin() {
    int failures = 0;
    for (int frame = 0; frame < 10; ++frame) failures += consumer::use_everything(tenure::checks::level);
    return failures;
}
