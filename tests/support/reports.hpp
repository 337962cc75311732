// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Collects the library's reports while it exists, so that a test can continue after a misuse.

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/base/report.hpp>

namespace support {

class heard_reports {
public:
    heard_reports() : former_(tenure::set_report_handler(&hear)) {
        const std::lock_guard lock(mutex());
        heard().clear();
    }
    ~heard_reports() { tenure::set_report_handler(former_); }
    heard_reports(const heard_reports&) = delete;
    heard_reports& operator=(const heard_reports&) = delete;

    [[nodiscard]] std::size_t count(tenure::report_kind kind) const {
        const std::lock_guard lock(mutex());
        std::size_t found = 0;
        for (const auto& each : heard()) found += each.kind == kind;
        return found;
    }
    [[nodiscard]] std::size_t count() const {
        const std::lock_guard lock(mutex());
        return heard().size();
    }
    /// The latest text; empty when there was no report.
    [[nodiscard]] std::string last() const {
        const std::lock_guard lock(mutex());
        return heard().empty() ? std::string{} : heard().back().text;
    }

private:
    struct one {
        tenure::report_kind kind;
        std::string text;
    };
    static std::vector<one>& heard() {
        static std::vector<one> all;
        return all;
    }
    static std::mutex& mutex() {
        static std::mutex one_for_all;
        return one_for_all;
    }
    static void hear(tenure::report_kind kind, std::string_view text) noexcept {
        const std::lock_guard lock(mutex());
        heard().push_back({kind, std::string(text)});
    }

    tenure::report_handler former_;
};

}
