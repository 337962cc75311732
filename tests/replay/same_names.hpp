// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two functions of one name, in two files.

namespace made {

using code = int (*)(int);

[[nodiscard]] code first_run();
[[nodiscard]] code second_run();

}
