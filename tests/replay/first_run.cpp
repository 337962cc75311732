// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "replay/same_names.hpp"

namespace {

[[gnu::noinline]] int run(int value) {
    for (int i = 0; i < 3; ++i) value = value * 3 ^ value >> 3;
    return value;
}

}

made::code made::first_run() { return run; }
