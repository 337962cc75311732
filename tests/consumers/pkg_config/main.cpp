// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "../everything.hpp"

int main() { return consumer::use_everything(EXPECTED_LEVEL); }
