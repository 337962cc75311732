// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Exceptions fly through our frames: operator new throws, and so do the tasks of an algorithm. What is cleaned up on
/// the way are objects of ours; nothing is caught. The C language's routine does that, and is in a library that
/// everybody has; C++'s is not.

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
