// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The functions of <c>tenure.h</c> and <c>tenure_quick.h</c>, under their C names.</summary>
/// <remarks>
/// Blittable signatures only. Callers run <see cref="NativeLibraryCheck.Ensure"/> before the calling method is
/// compiled: a call without a GC transition is bound when its caller is compiled, not when it is made.
/// </remarks>
internal static unsafe partial class NativeMethods
{
    /// <summary>The name without extension; the runtime adds that of the platform. It has the prefix on Windows too,
    /// where names do not differ by case and this assembly is Tenure.dll.</summary>
    internal const string Library = "libtenure";

    /// <summary>The C ABI version that this assembly requires.</summary>
    internal const uint AbiVersion = 1;

    /// <summary>The version of tenure_quick.h that this assembly is written for.</summary>
    internal const uint QuickVersion = 3;

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial uint tn_abi_version();

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial uint tn_quick_version();
}
