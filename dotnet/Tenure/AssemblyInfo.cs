// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

// Every signature is blittable: nothing is converted between C# and C.
[assembly: DisableRuntimeMarshalling]
// The folders of the package first, then this assembly's own, then what the system searches.
[assembly: DefaultDllImportSearchPaths(DllImportSearchPath.AssemblyDirectory | DllImportSearchPath.SafeDirectories)]
// Scratch on the stack is written before it is read.
[module: SkipLocalsInit]
