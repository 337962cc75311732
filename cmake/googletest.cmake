# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# GTest::gtest and GTest::gtest_main from GoogleTest's sources (Debian: googletest), for targets that no package has a
# library for.

set(TENURE_GOOGLETEST_SOURCE /usr/src/googletest/googletest CACHE PATH "GoogleTest's sources")
if(NOT EXISTS ${TENURE_GOOGLETEST_SOURCE}/src/gtest-all.cc)
    message(FATAL_ERROR "GoogleTest's sources: not found in ${TENURE_GOOGLETEST_SOURCE} (Debian: googletest). "
        "To build without tests: -DTENURE_TESTS=OFF")
endif()
find_package(Threads REQUIRED)
add_library(tenure_gtest STATIC ${TENURE_GOOGLETEST_SOURCE}/src/gtest-all.cc)
add_library(tenure_gtest_main STATIC ${TENURE_GOOGLETEST_SOURCE}/src/gtest_main.cc)
target_include_directories(tenure_gtest SYSTEM PUBLIC ${TENURE_GOOGLETEST_SOURCE}/include
    PRIVATE ${TENURE_GOOGLETEST_SOURCE})
target_compile_features(tenure_gtest PUBLIC cxx_std_20)
target_link_libraries(tenure_gtest PUBLIC Threads::Threads)
target_link_libraries(tenure_gtest_main PUBLIC tenure_gtest)
add_library(GTest::gtest ALIAS tenure_gtest)
add_library(GTest::gtest_main ALIAS tenure_gtest_main)
