// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/temporary_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tenure::lab {

namespace fs = std::filesystem;

namespace {

/// Returns   an empty path, and why, if there is no such folder.
fs::path usual_place(std::string& refusal) {
    std::error_code error;
    const fs::path place = fs::temp_directory_path(error);
    if (error) refusal = "TMPDIR: " + error.message();
    return error ? fs::path{} : place;
}

}

temporary_folder::temporary_folder(std::string_view prefix) {
    const fs::path place = usual_place(refusal_);
    if (refusal_.empty()) *this = temporary_folder(prefix, place);
}

temporary_folder::temporary_folder(std::string_view prefix, const fs::path& place) {
    std::string name = (place / prefix).string() + std::string(random_letters, 'X');
    if (::mkdtemp(name.data()) != nullptr)
        path_ = std::move(name);
    else
        refusal_ = place.string() + ": " + std::generic_category().message(errno);
}

temporary_folder::~temporary_folder() {
    std::error_code error;
    if (is_there()) fs::remove_all(path_, error);
}

temporary_folder::temporary_folder(temporary_folder&& other) noexcept
    : path_(std::exchange(other.path_, {})), refusal_(std::exchange(other.refusal_, {})) {}

temporary_folder& temporary_folder::operator=(temporary_folder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(refusal_, other.refusal_);
    return *this;
}

std::string temporary_folder::leave() { return std::exchange(path_, {}); }

}
