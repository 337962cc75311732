# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Tests that a target leaves out, and why.

# Sets the named variable to the tests that this target leaves out, as a filter of GoogleTest.
function(tenure_tests_left_out filter)
    set(left_out)
    list(JOIN left_out ":" joined)
    set(${filter} "${joined}" PARENT_SCOPE)
endfunction()
