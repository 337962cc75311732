// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gives the calling thread a locale whose characters are UTF-8.

#include <clocale>

namespace support {

/// While it exists, the C library's functions of wide characters write UTF-8 in the thread that made it.
class utf8_locale {
public:
    utf8_locale() : locale_(::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)), former_(::uselocale(locale_)) {}
    utf8_locale(const utf8_locale&) = delete;
    utf8_locale& operator=(const utf8_locale&) = delete;
    ~utf8_locale() {
        ::uselocale(former_);
        if (locale_ != nullptr) ::freelocale(locale_);
    }

private:
    ::locale_t locale_, former_;
};

}
