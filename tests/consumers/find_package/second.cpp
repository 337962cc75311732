// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "../everything.hpp"

int in_the_second_unit();
int in_the_second_unit() { return consumer::use_everything(EXPECTED_LEVEL); }
