// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "../everything.hpp"

int in_the_second_unit();

int main() { return consumer::use_everything(EXPECTED_LEVEL) + in_the_second_unit(); }
