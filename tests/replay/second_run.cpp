// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "replay/same_names.hpp"

namespace {

[[gnu::noinline]] int run(int value) {
    for (int i = 0; i < 7; ++i) value = value * 7 ^ value >> 7;
    return value;
}

}

made::code made::second_run() { return run; }
