// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/utf8_locale.hpp for Windows, whose threads have no locale of their own: tests that compare with the C
/// library's wide characters are left out.

namespace support {

class utf8_locale {
public:
    utf8_locale() {}
};

}
