// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes the packed file of a trace from the raw one: compressed, with checksums and an index.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Takes a part of the packed file, and where it belongs: behind all others, or in place of one. Returns   false if it
/// could not be written: nothing more comes.
using packed_sink = std::function<bool(std::uint64_t offset, std::string_view bytes)>;

struct packing_outcome {
    std::string damage;      ///< what of the file was left out, in a sentence; empty: nothing
    std::string error;       ///< empty when there is a packed file; otherwise a sentence, without the file's name
    bool is_written = false; ///< whether the sink has taken all of it
    std::string program;     ///< the first word of the command line; empty: not known

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// Passes each chunk on as it is packed. What cannot be read of a damaged file is left out, and the packed file says
/// so. A packed file is packed again. `accesses`: payloads of chunks of accesses that are added. Cost      memory: for
/// one chunk, and some 100 bytes for each.
[[nodiscard]] packing_outcome pack_trace(std::string_view file, const packed_sink& sink,
                                         std::span<const std::string> accesses = {});

struct packed_trace {
    std::string bytes;
    std::string damage; ///< what of the file is not in `bytes`, in a sentence; empty: all is
    std::string error;  ///< empty when `bytes` is valid; otherwise a sentence, without the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// The same in memory.
[[nodiscard]] packed_trace pack_trace(std::string_view file, std::span<const std::string> accesses = {});

}
