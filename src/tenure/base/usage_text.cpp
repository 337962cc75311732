// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/usage_text.hpp>

#include <iterator>

#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Appends a size in human-readable form: three digits and a unit.
void say_bytes(report_text& line, std::size_t bytes) {
    constexpr std::string_view units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0, tenths = bytes * 10;
    while (tenths >= 10'240 && unit + 1 < std::size(units)) {
        tenths /= 1024;
        ++unit;
    }
    line.number(tenths / 10);
    if (unit != 0 && tenths < 1000) line.text(".").number(tenths % 10);
    line.text(units[unit]);
}

void write_name(const usage_writer& write, std::string_view name) {
    constexpr char digits[] = "0123456789abcdef";
    const bool is_json = write.form == usage_form::json;
    for (const char& letter : name) {
        const auto code = static_cast<unsigned char>(letter);
        if (code < ' ' || code == 0x7F) {
            const char escape[] = {'\\', 'u', '0', '0', digits[code / 16], digits[code % 16]};
            write(is_json ? std::string_view{escape, sizeof escape} : "?");
            continue;
        }
        if (is_json && (letter == '"' || letter == '\\')) write("\\");
        write({&letter, 1});
    }
}

}

void write_figures(const usage_writer& write, std::string_view kind, std::string_view name,
                   std::span<const usage_figure> figures) {
    const bool is_json = write.form == usage_form::json;
    if (is_json) {
        write("{\"name\": \"");
    } else {
        write(kind);
        write(" ");
    }
    write_name(write, name);
    write(is_json ? "\"" : "\n");
    for (const usage_figure& each : figures) {
        report_text line;
        if (is_json) {
            line.text(", \"").text(each.key).text("\": ").number(each.value);
        } else {
            line.text("  ").text(each.words).text(": ");
            each.is_bytes ? say_bytes(line, each.value) : void(line.number(each.value));
            line.text("\n");
        }
        write(line.view());
    }
}

}
