// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "every_header.hpp" // written by CMake

#include "../everything.hpp"

int main() { return consumer::use_everything(EXPECTED_LEVEL); }
