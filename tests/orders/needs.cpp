// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "orders/needs.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace orders {

namespace {

[[nodiscard]] std::string lines_of(const std::set<std::string>& all) {
    std::string text;
    for (const std::string& each : all) text += "    \"" + each + "\",\n";
    return text;
}

}

void expect_pass(const programs& all, const options& how) {
    for (void (*const program)(run&) : all) {
        const result found = explore(program, how);
        std::string trace;
        for (const std::string& each : found.trace) trace += each + '\n';
        EXPECT_TRUE(found.passed()) << found.failure << "\nafter " << found.executions << " executions:\n" << trace;
        std::printf("%zu executions, %zu of them to the end, %zu states, %.2f s\n", found.executions, found.complete,
                    found.states, found.seconds);
    }
}

void expect_needs(const programs& all, const std::set<std::string>& needed, const std::set<std::string>& unneeded,
                  const options& how) {
    expect_pass(all, how);
    const needs found = find_needs(all, how);
    std::printf("with weaker orders: %zu executions, %.2f s\n", found.executions, found.seconds);
    EXPECT_EQ(found.needed, needed) << "needed:\n" << lines_of(found.needed);
    EXPECT_EQ(found.unneeded, unneeded) << "not needed:\n" << lines_of(found.unneeded);
}

}
