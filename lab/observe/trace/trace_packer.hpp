// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes the packed file of a trace from the raw one: compressed, with checksums and an index.

#include <string>
#include <string_view>

namespace tenure::lab {

struct packed_trace {
    std::string bytes;
    std::string damage; ///< what of the file is not in `bytes`, in a sentence; empty: all is
    std::string error;  ///< empty when `bytes` is valid; otherwise a sentence, without the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// What cannot be read of a damaged file is left out, and the packed file says so. A packed file is packed again.
[[nodiscard]] packed_trace pack_trace(std::string_view file);

}
