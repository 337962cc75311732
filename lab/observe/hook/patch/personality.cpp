// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Exceptions pass through the hook's frames: operator new throws, and so do the tasks of an algorithm. The hook only
/// destroys its own objects on the way and catches nothing. C's personality routine is enough for that, and it is in a
/// library that every program has; C++'s is not.

#include <unwind.h>

extern "C" {

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind, // NOLINT
                                         _Unwind_Exception* exception, _Unwind_Context* context);

[[gnu::visibility("hidden")]] _Unwind_Reason_Code
__gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind, // NOLINT: the compiler's name
                     _Unwind_Exception* exception, _Unwind_Context* context) {
    return __gcc_personality_v0(version, actions, kind, exception, context);
}
}
