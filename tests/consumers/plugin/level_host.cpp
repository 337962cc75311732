// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A host that uses the library, loads a plug-in and uses that several times, or uses the library after that. Counts the
// lines about copies on standard error.
//
// usage: checked_host LINES PLUGIN USES [plugin_first]

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <tenure/tenure.hpp>

namespace {

/// What is written to standard error from now on goes to a file.
class captured_errors {
public:
    captured_errors() : file_(std::tmpfile()) { ::dup2(::fileno(file_), STDERR_FILENO); }
    ~captured_errors() { std::fclose(file_); }
    captured_errors(const captured_errors&) = delete;
    captured_errors& operator=(const captured_errors&) = delete;

    [[nodiscard]] std::string text() {
        std::string read;
        std::rewind(file_);
        for (int letter = std::fgetc(file_); letter != EOF; letter = std::fgetc(file_))
            read += static_cast<char>(letter);
        return read;
    }

private:
    std::FILE* file_;
};

}

int main(int count, char** arguments) {
    if (count < 4 || tenure::check_level() != tenure::checks::level) return 2;
    const bool is_plugin_first = count == 5;
    captured_errors errors;
    if (!is_plugin_first) tenure::destroy(tenure::make<int>(7));
    void* const plugin = ::dlopen(arguments[2], RTLD_NOW);
    if (plugin == nullptr) return 3;
    const auto use_plugin = reinterpret_cast<int (*)()>(::dlsym(plugin, "use_plugin"));
    for (int use = 0; use < std::atoi(arguments[3]); ++use) {
        if (use_plugin() != 0) return 4;
    }
    tenure::destroy(tenure::make<int>(7));
    const std::string text = errors.text();
    int lines = 0;
    for (std::size_t at = text.find("two copies of the library"); at != std::string::npos;
         at = text.find("two copies of the library", at + 1))
        ++lines;
    std::printf("%d lines: %s\n", lines, text.c_str());
    return lines == std::atoi(arguments[1]) ? 0 : 1;
}
