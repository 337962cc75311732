// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

// Every signature is blittable, so no runtime marshalling is needed.
[assembly: DisableRuntimeMarshalling]
// Search the package's folders first, then this assembly's folder, then the system's search path.
[assembly: DefaultDllImportSearchPaths(DllImportSearchPath.AssemblyDirectory | DllImportSearchPath.SafeDirectories)]
// Stack scratch memory is always written before it is read.
[module: SkipLocalsInit]
