# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Writes the build information for reports. Runs at every build and changes the file only when its content changes.
#
# usage: cmake -DSOURCE=… -DOUTPUT=… -DTYPE=… -DFLAGS=… -P build_info.cmake

execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)

string(REPLACE "\"" "\\\"" FLAGS "${FLAGS}")
string(STRIP "${FLAGS}" FLAGS)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#define TENURE_BUILD_TYPE "@TYPE@"
#define TENURE_BUILD_FLAGS "@FLAGS@"
#define TENURE_BUILD_COMMIT "@commit@"
]] @ONLY)
